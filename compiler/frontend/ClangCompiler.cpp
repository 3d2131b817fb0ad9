#include "compiler/frontend/ClangCompiler.h"
#include "compiler/frontend/ClangInvocation.h"
#include "compiler/frontend/CountedCalls.h"
#include "compiler/frontend/CxxDiagnostics.h"
#include "compiler/frontend/IntegerDivision.h"
#include "clang/CodeGen/CodeGenAction.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/MultiplexConsumer.h"
#include "clang/Frontend/Utils.h"
#include "clang/Lex/HeaderSearch.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

using namespace clang;
using namespace dl::frontend;

static constexpr llvm::StringLiteral kPrecompiledFile = "dl.pch";

namespace {

class Action : public EmitLLVMOnlyAction {
public:
  Action(llvm::LLVMContext *context, CompiledModel &model)
      : EmitLLVMOnlyAction(context), model(model) {}

  std::unique_ptr<ASTConsumer>
  CreateASTConsumer(CompilerInstance &compiler, llvm::StringRef file) override {
    std::vector<std::unique_ptr<ASTConsumer>> consumers;
    consumers.push_back(makeReflection(model.types));
    consumers.push_back(makeIntegerDivisionCheck());
    consumers.push_back(makeCountedCallsCheck());
    consumers.push_back(EmitLLVMOnlyAction::CreateASTConsumer(compiler, file));
    return std::make_unique<MultiplexConsumer>(std::move(consumers));
  }

  void ExecuteAction() override {
    hasBegun = true;
    EmitLLVMOnlyAction::ExecuteAction();
  }

  void EndSourceFileAction() override {
    model.foreignFolders = {kHeaderFolder.str()};
    const HeaderSearch &search =
        getCompilerInstance().getPreprocessor().getHeaderSearchInfo();
    for (auto folder = search.system_dir_begin();
         folder != search.system_dir_end(); ++folder)
      model.foreignFolders.push_back(folder->getName().str());
    EmitLLVMOnlyAction::EndSourceFileAction();
  }

  bool hasBegun = false; // or a precompiled header could not be loaded

private:
  CompiledModel &model;
};

using Files = llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem>;

} // namespace

static Files filesWith(const PrecompiledDsl &dsl) {
  llvm::StringRef ast(dsl.ast.first, static_cast<size_t>(dsl.ast.count));
  return filesWithHeaders(EmbeddedHeader{kPrecompiledFile, ast});
}

/// Whether the precompiled header that the invocation names, if any, was good
/// for it.
static bool run(CompilerInvocation &invocation, Files files,
                CxxDiagnostics &diagnostics, CompiledModel &model) {
  CompilerInstance compiler(std::make_shared<CompilerInvocation>(invocation));
  compiler.setVirtualFileSystem(std::move(files));
  compiler.createDiagnostics(&diagnostics, /*ShouldOwnClient=*/false);
  auto context = std::make_unique<llvm::LLVMContext>();
  auto read = std::make_shared<DependencyCollector>(); // no system headers
  compiler.addDependencyCollector(read);
  Action action(context.get(), model);
  bool done = compiler.ExecuteAction(action);
  for (const std::string &file : read->getDependencies())
    if (!llvm::StringRef(file).starts_with(kHeaderFolder))
      model.files.push_back(file);
  if (std::unique_ptr<llvm::Module> module = action.takeModule();
      done && module)
    model.code =
        llvm::orc::ThreadSafeModule(std::move(module), std::move(context));
  return action.hasBegun;
}

/// Why the model must be compiled without it; empty if all is done.
static std::string runPrecompiled(CompilerInvocation &invocation,
                                  const Files &files, const PrecompiledDsl &dsl,
                                  CxxDiagnostics &diagnostics,
                                  CompiledModel &model) {
  auto text = files->getBufferForFile(model.path);
  if (!text)
    return text.getError().message();
  std::string why = whyParsed(dsl, invocation.getHeaderSearchOpts(),
                              (*text)->getBuffer(), *files);
  if (!why.empty())
    return why;
  for (const PrecompiledDsl::Member &member : dsl.members)
    model.types.members[member.type].push_back(
        {member.name, static_cast<int>(member.kind), member.offset});
  CompilerInvocation with = invocation;
  with.getPreprocessorOpts().ImplicitPCHInclude =
      (kHeaderFolder + kPrecompiledFile).str();
  // Or Clang would look for an index of modules in the current folder.
  with.getFrontendOpts().UseGlobalModuleIndex = false;
  if (!run(with, filesWith(dsl), diagnostics, model))
    return "dlcc was built with another Clang";
  if (model.code && replacesImports(dsl, *model.code.getModuleUnlocked()))
    return "the model replaces functions that it calls";
  return "";
}

CompiledModel
dl::frontend::compileModel(const std::string &path,
                           const std::vector<std::string> &includeFolders,
                           const PrecompiledDsl &dsl) {
  CompiledModel model;
  model.path = path;
  CxxDiagnostics ofDriver;
  DiagnosticOptions options;
  options.ShowCarets = false; // and no count of errors on stderr
  Files files = filesWithHeaders();
  auto engine = CompilerInstance::createDiagnostics(*files, options, &ofDriver,
                                                    /*ShouldOwnClient=*/false);
  std::unique_ptr<CompilerInvocation> invocation =
      makeInvocation(path, includeFolders, files, *engine);
  if (!invocation) {
    model.messages = ofDriver.take();
    model.exitCode = 70;
    return model;
  }
  auto diagnostics = std::make_unique<CxxDiagnostics>();
  std::string whyParsed =
      runPrecompiled(*invocation, files, dsl, *diagnostics, model);
  if (!whyParsed.empty()) {
    model = CompiledModel();
    model.path = path;
    model.whyParsed = whyParsed;
    diagnostics = std::make_unique<CxxDiagnostics>();
    run(*invocation, files, *diagnostics, model);
  }
  model.messages = ofDriver.take() + diagnostics->take();
  for (const Message &message : model.types.overlooked)
    model.messages += render(message);
  if (!model.types.overlooked.empty())
    model.exitCode = 3;
  else if (!model.code)
    model.exitCode = diagnostics->exitCode();
  return model;
}
