// dl-precompile FILE.o: parses and compiles <dl/dl.h> while dlcc is built. The
// object file defines dl_precompiled_dsl and nothing else; FILE.o.d tells the
// build what went in.
#include "compiler/frontend/ClangInvocation.h"
#include "compiler/frontend/PrecompiledDsl.h"
#include "compiler/frontend/Reflection.h"
#include "clang/CodeGen/CodeGenAction.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendActions.h"
#include "clang/Frontend/MultiplexConsumer.h"
#include "clang/Frontend/TextDiagnosticPrinter.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

using namespace clang;
using namespace dl::frontend;
using llvm::Constant;
using llvm::StringRef;

static constexpr llvm::StringLiteral kEmptyFile = "empty.cpp";

static bool fail(const llvm::Twine &text) {
  llvm::errs() << "dl-precompile: " << text << "\n";
  return false;
}

namespace {

/// Where everything but the code is gathered.
struct Facts {
  std::string astFile;
  ReflectedTypes types;
  std::vector<std::string> folders;
  std::vector<std::pair<std::string, uint64_t>> sources;
};

class WriteAst : public GeneratePCHAction {
public:
  explicit WriteAst(Facts &facts) : facts(facts) {}

  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &compiler,
                                                 StringRef file) override {
    std::vector<std::unique_ptr<ASTConsumer>> consumers;
    consumers.push_back(GeneratePCHAction::CreateASTConsumer(compiler, file));
    if (!consumers.front())
      return nullptr;
    consumers.push_back(makeReflection(facts.types));
    return std::make_unique<MultiplexConsumer>(std::move(consumers));
  }

  void EndSourceFileAction() override {
    CompilerInstance &compiler = getCompilerInstance();
    facts.folders = headerFolders(compiler.getHeaderSearchOpts());
    const SourceManager &sources = compiler.getSourceManager();
    for (auto it = sources.fileinfo_begin(); it != sources.fileinfo_end(); ++it)
      if (StringRef name = it->first.getName();
          !name.starts_with(kHeaderFolder)) {
        auto text = compiler.getVirtualFileSystem().getBufferForFile(name);
        facts.sources.emplace_back(
            name, text ? hashOfSource((*text)->getBuffer()) : 0);
      }
    llvm::sort(facts.sources);
    GeneratePCHAction::EndSourceFileAction();
  }

private:
  Facts &facts;
};

/// The tables of a PrecompiledDsl, in the module of its code.
class Tables {
public:
  explicit Tables(llvm::Module &module)
      : module(module), context(module.getContext()) {}

  Constant *number(uint64_t value) {
    return llvm::ConstantInt::get(llvm::Type::getInt64Ty(context), value);
  }
  Constant *text(StringRef value) {
    return data(llvm::ConstantDataArray::getString(context, value));
  }
  Constant *record(llvm::ArrayRef<Constant *> fields) {
    return llvm::ConstantStruct::getAnon(context, fields);
  }
  /// A PrecompiledDsl::Array.
  Constant *array(llvm::ArrayRef<Constant *> items) {
    auto *pointer = llvm::PointerType::getUnqual(context);
    if (items.empty())
      return record({llvm::ConstantPointerNull::get(pointer), number(0)});
    auto *type = llvm::ArrayType::get(items.front()->getType(), items.size());
    return record(
        {data(llvm::ConstantArray::get(type, items)), number(items.size())});
  }
  Constant *bytes(StringRef value) {
    return record({text(value), number(value.size())});
  }

private:
  Constant *data(Constant *value) {
    auto *variable =
        new llvm::GlobalVariable(module, value->getType(), /*isConstant=*/true,
                                 llvm::GlobalValue::PrivateLinkage, value);
    variable->setAlignment(llvm::Align(8));
    return variable;
  }

  llvm::Module &module;
  llvm::LLVMContext &context;
};

} // namespace

static bool runClang(StringRef path, FrontendAction &action,
                     llvm::function_ref<void(CompilerInvocation &)> adjust) {
  auto files = filesWithHeaders(EmbeddedHeader{kEmptyFile, ""});
  DiagnosticOptions options;
  TextDiagnosticPrinter printer(llvm::errs(), options);
  auto engine = CompilerInstance::createDiagnostics(*files, options, &printer,
                                                    /*ShouldOwnClient=*/false);
  std::shared_ptr<CompilerInvocation> invocation =
      makeInvocation(path.str(), {}, files, *engine);
  if (!invocation)
    return false;
  invocation->getLangOpts().BuildingPCHWithObjectFile = true;
  adjust(*invocation);
  CompilerInstance compiler(std::move(invocation));
  compiler.setVirtualFileSystem(files);
  compiler.createDiagnostics(&printer, /*ShouldOwnClient=*/false);
  return compiler.ExecuteAction(action);
}

static bool writeAst(Facts &facts) {
  WriteAst action(facts);
  return runClang(kPrecompiledHeader, action,
                  [&](CompilerInvocation &invocation) {
                    invocation.getLangOpts().ModulesCodegen = true;
                    invocation.getLangOpts().PCHInstantiateTemplates = true;
                    invocation.getFrontendOpts().IncludeTimestamps = false;
                    invocation.getFrontendOpts().OutputFile = facts.astFile;
                  });
}

/// The code of the functions whose bodies the AST says are elsewhere.
static std::unique_ptr<llvm::Module> compileAst(llvm::LLVMContext &context,
                                                const Facts &facts) {
  EmitLLVMOnlyAction action(&context);
  std::string path = (kHeaderFolder + kEmptyFile).str();
  bool done = runClang(path, action, [&](CompilerInvocation &invocation) {
    invocation.getPreprocessorOpts().ImplicitPCHInclude = facts.astFile;
    invocation.getCodeGenOpts().setDebugInfo(llvm::codegenoptions::NoDebugInfo);
  });
  return done ? action.takeModule() : nullptr;
}

/// Adds dl_precompiled_dsl; what it names can no longer be seen otherwise, as
/// the compiler has a namespace dl too.
static void addTables(llvm::Module &module, const Facts &facts, StringRef ast) {
  Tables tables(module);
  std::vector<Constant *> symbols, imports, folders, sources, members;
  for (llvm::GlobalValue &value : module.global_values()) {
    if (value.getName().starts_with("llvm.") || value.hasLocalLinkage())
      continue;
    if (value.isDeclaration()) {
      imports.push_back(tables.text(value.getName()));
      continue;
    }
    bool isFunction = value.getValueType()->isFunctionTy();
    symbols.push_back(tables.record(
        {tables.text(value.getName()), &value, tables.number(isFunction)}));
    value.setLinkage(llvm::GlobalValue::InternalLinkage);
    if (auto *object = dyn_cast<llvm::GlobalObject>(&value))
      object->setComdat(nullptr);
  }
  for (const std::string &folder : facts.folders)
    folders.push_back(tables.text(folder));
  for (const auto &[path, hash] : facts.sources)
    sources.push_back(tables.record({tables.text(path), tables.number(hash)}));
  std::vector<StringRef> types(facts.types.members.keys().begin(),
                               facts.types.members.keys().end());
  llvm::sort(types);
  for (StringRef type : types)
    for (const Member &member : facts.types.members.find(type)->second)
      members.push_back(
          tables.record({tables.text(type), tables.text(member.name),
                         tables.number(static_cast<uint64_t>(member.kind)),
                         tables.number(static_cast<uint64_t>(member.offset))}));
  Constant *all = tables.record({tables.bytes(ast), tables.array(symbols),
                                 tables.array(imports), tables.array(folders),
                                 tables.array(sources), tables.array(members)});
  new llvm::GlobalVariable(module, all->getType(), /*isConstant=*/true,
                           llvm::GlobalValue::ExternalLinkage, all,
                           "dl_precompiled_dsl");
}

static bool writeObject(llvm::Module &module, const std::string &path) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  std::string error;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(module.getTargetTriple(), error);
  if (!target)
    return fail(error);
  // As the JIT makes it, but for being position-independent.
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      module.getTargetTriple(), "x86-64", "", {}, llvm::Reloc::PIC_,
      std::nullopt, llvm::CodeGenOptLevel::None));
  std::error_code failure;
  llvm::raw_fd_ostream out(path, failure);
  if (failure)
    return fail(path + ": " + failure.message());
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, out, nullptr,
                                   llvm::CodeGenFileType::ObjectFile))
    return fail("no object files for this machine");
  passes.run(module);
  out.close();
  return !out.has_error() || fail("cannot write " + path);
}

static bool writeDependencies(const Facts &facts, const std::string &object) {
  std::error_code failure;
  llvm::raw_fd_ostream out(object + ".d", failure);
  if (failure)
    return fail(object + ".d: " + failure.message());
  out << object << ":";
  for (const auto &[path, hash] : facts.sources) {
    // CMake shortens a/../b where `a` is a link.
    llvm::SmallString<128> real;
    llvm::sys::fs::real_path(path, real);
    out << " " << real;
  }
  out << "\n";
  return true;
}

int main(int argc, char **argv) {
  if (argc != 2)
    return fail("one object file is to be named"), 2;
  std::string object = argv[1];
  Facts facts;
  facts.astFile = object + ".pch";
  if (!writeAst(facts))
    return fail("<dl/dl.h> cannot be precompiled"), 1;
  auto ast = llvm::MemoryBuffer::getFile(facts.astFile);
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = compileAst(context, facts);
  if (!ast || !module)
    return fail("<dl/dl.h> cannot be compiled"), 1;
  module->setSourceFileName("dl.h");
  addTables(*module, facts, (*ast)->getBuffer());
  bool done = writeObject(*module, object) && writeDependencies(facts, object);
  return done ? 0 : 1;
}
