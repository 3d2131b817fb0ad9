#include "compiler/codegen/cpu/ObjectCode.h"

#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/DCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

using namespace llvm;

namespace dl::cpu {
namespace {

/// Goes up whenever the same IR gives other code.
constexpr unsigned objectCodeVersion = 1;

/// While it lives, errors of LLVM's back end are collected; by default they end
/// the process.
class DiagnosticCapture {
public:
  explicit DiagnosticCapture(LLVMContext &context)
      : context(context), previous(context.getDiagnosticHandler()) {
    context.setDiagnosticHandler(std::make_unique<Handler>(errors));
  }
  ~DiagnosticCapture() { context.setDiagnosticHandler(std::move(previous)); }

  std::string errors;

private:
  struct Handler : DiagnosticHandler {
    explicit Handler(std::string &errors) : errors(errors) {}
    bool handleDiagnostics(const DiagnosticInfo &info) override {
      if (info.getSeverity() != DS_Error)
        return true;
      raw_string_ostream stream(errors);
      if (!errors.empty())
        stream << "; ";
      DiagnosticPrinterRawOStream printer(stream);
      info.print(printer);
      return true;
    }
    std::string &errors;
  };

  LLVMContext &context;
  std::unique_ptr<DiagnosticHandler> previous;
};

/// No loop is to become a call of memset, no sequence a call of fmaf.
TargetLibraryInfoImpl noLibrary(const Module &module) {
  TargetLibraryInfoImpl info(module.getTargetTriple());
  info.disableAllFunctions();
  return info;
}

void setAttributes(Module &module, TargetMachine &machine, StringRef tuning) {
  bool avx512 = machine.getMCSubtargetInfo()->checkFeatures("+avx512f");
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    if (!tuning.empty())
      function.addFnAttr("tune-cpu", tuning);
    // CPUs whose clock suffered from 512 bits ask for 256 in LLVM's tables.
    function.addFnAttr("prefer-vector-width", avx512 ? "512" : "256");
    function.addFnAttr("min-legal-vector-width", avx512 ? "512" : "256");
    function.addFnAttr("no-builtins");
    function.addFnAttr("no-jump-tables", "true"); // they need relocations
    function.addFnAttr(Attribute::NoUnwind);
    function.removeFnAttr(Attribute::UWTable);
  }
}

void optimize(Module &module, TargetMachine &machine) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  PassBuilder builder(&machine);
  TargetLibraryInfoImpl library = noLibrary(module);
  functions.registerPass([&] { return TargetLibraryAnalysis(library); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);

  FunctionPassManager passes;
  passes.addPass(SROAPass(SROAOptions::ModifyCFG));
  passes.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(InstCombinePass());
  passes.addPass(SimplifyCFGPass());
  passes.addPass(createFunctionToLoopPassAdaptor(LICMPass(LICMOptions()),
                                                 /*UseMemorySSA=*/true));
  passes.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(DCEPass());

  ModulePassManager pipeline;
  pipeline.addPass(AlwaysInlinerPass(/*InsertLifetime=*/false));
  pipeline.addPass(GlobalDCEPass());
  pipeline.addPass(createModuleToFunctionPassAdaptor(std::move(passes)));
  pipeline.run(module, modules);
}

} // namespace

SmallVector<char, 0> madeFrom(const Module &module,
                              const TargetVariant &variant) {
  SmallVector<char, 0> bytes;
  raw_svector_ostream stream(bytes);
  WriteBitcodeToFile(module, stream);
  // A zero byte between the parts keeps them apart.
  for (StringRef part : {StringRef(variant.features), StringRef(variant.tuning),
                         StringRef(LLVM_VERSION_STRING)})
    stream << part << '\0';
  stream << objectCodeVersion;
  return bytes;
}

void prepareModule(Module &module, TargetMachine &machine) {
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  module.setPICLevel(PICLevel::BigPIC);
}

Expected<SmallVector<char, 0>>
compileToObject(Module &module, TargetMachine &machine, StringRef tuning) {
  prepareModule(module, machine);
  std::string broken;
  raw_string_ostream brokenStream(broken);
  if (verifyModule(module, &brokenStream))
    return createStringError("the IR of kernel '" + module.getName() +
                             "' is not valid: " + broken);

  DiagnosticCapture capture(module.getContext());
  setAttributes(module, machine, tuning);
  optimize(module, machine);

  SmallVector<char, 0> object;
  raw_svector_ostream stream(object);
  legacy::PassManager codegen;
  codegen.add(new TargetLibraryInfoWrapperPass(noLibrary(module)));
  if (machine.addPassesToEmitFile(codegen, stream, nullptr,
                                  CodeGenFileType::ObjectFile))
    return createStringError("this LLVM cannot write x86-64 objects");
  codegen.run(module);
  if (!capture.errors.empty())
    return createStringError("kernel '" + module.getName() +
                             "' cannot be compiled: " + capture.errors);
  return object;
}

} // namespace dl::cpu
