#include "compiler/frontend/Jit.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/Debugging/DebuggerSupport.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/Support/TargetSelect.h"

using namespace llvm;
using namespace dl::frontend;

Jit::Jit() = default;
Jit::~Jit() = default;

Error Jit::load(orc::ThreadSafeModule code, ArrayRef<Symbol> symbols) {
  InitializeNativeTarget();
  InitializeNativeTargetAsmPrinter();
  InitializeNativeTargetAsmParser(); // asm() in the model
  code.getContext().withContextDo([&](LLVMContext *context) {
    context->setDiagnosticHandlerCallBack(
        [](const DiagnosticInfo *info, void *jit) {
          if (info->getSeverity() != DS_Error)
            return;
          std::string &text = static_cast<Jit *>(jit)->rejected;
          raw_string_ostream os(text);
          DiagnosticPrinterRawOStream printer(os);
          info->print(printer);
          if (!StringRef(text).ends_with("\n"))
            text += '\n';
        },
        this);
  });
  Expected<orc::JITTargetMachineBuilder> machine =
      orc::JITTargetMachineBuilder::detectHost();
  if (!machine)
    return machine.takeError();
  machine->setCodeGenOptLevel(CodeGenOptLevel::None); // it runs once
  orc::LLJITBuilder builder;
  builder.setJITTargetMachineBuilder(std::move(*machine));
  Expected<std::unique_ptr<orc::LLJIT>> made = builder.create();
  if (!made)
    return made.takeError();
  jit = std::move(*made);
  // What it would print itself is kept: lookup() only says that it failed.
  jit->getExecutionSession().setErrorReporter([this](Error error) {
    handleAllErrors(
        std::move(error),
        [&](const orc::SymbolsNotFound &missing) {
          for (const orc::SymbolStringPtr &symbol : missing.getSymbols())
            undefined.insert((*symbol).str());
        },
        [](const ErrorInfoBase &) {});
  });

  orc::SymbolMap own;
  for (const Symbol &symbol : symbols)
    own[jit->mangleAndIntern(symbol.name)] = {
        orc::ExecutorAddr::fromPtr(symbol.address),
        symbol.isFunction ? JITSymbolFlags::Exported | JITSymbolFlags::Callable
                          : JITSymbolFlags::Exported};
  orc::JITDylib &library = jit->getMainJITDylib();
  if (Error error = library.define(orc::absoluteSymbols(std::move(own))))
    return error;
  auto process = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      jit->getDataLayout().getGlobalPrefix());
  if (!process)
    return process.takeError();
  library.addGenerator(std::move(*process));
  if (Error error = orc::enableDebuggerSupport(*jit))
    return error;
  return jit->addIRModule(std::move(code));
}

Error Jit::initialize() { return jit->initialize(jit->getMainJITDylib()); }

Expected<void *> Jit::lookup(StringRef mangled) {
  Expected<orc::ExecutorAddr> address = jit->lookup(mangled);
  if (!address)
    return address.takeError();
  return address->toPtr<void *>();
}
