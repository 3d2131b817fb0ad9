#include "compiler/frontend/ClangCompiler.h"
#include "compiler/frontend/CxxDiagnostics.h"
#include "compiler/frontend/EmbeddedHeaders.h"
#include "clang/CodeGen/CodeGenAction.h"
#include "clang/Driver/Compilation.h"
#include "clang/Driver/Driver.h"
#include "clang/Driver/Job.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/MultiplexConsumer.h"
#include "clang/Lex/HeaderSearch.h"
#include "clang/Lex/Preprocessor.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/VirtualFileSystem.h"
#include "llvm/TargetParser/Host.h"

using namespace clang;
using namespace dl::frontend;

// <dl/dl.h> is inside of this binary, so that no installation can disagree with
// it.
static constexpr llvm::StringLiteral kHeaderFolder = "/dlcc-headers/";

namespace {

class Action : public EmitLLVMOnlyAction {
public:
  Action(llvm::LLVMContext *context, CompiledModel &model)
      : EmitLLVMOnlyAction(context), model(model) {}

  std::unique_ptr<ASTConsumer>
  CreateASTConsumer(CompilerInstance &compiler, llvm::StringRef file) override {
    std::vector<std::unique_ptr<ASTConsumer>> consumers;
    consumers.push_back(makeReflection(model.types));
    consumers.push_back(EmitLLVMOnlyAction::CreateASTConsumer(compiler, file));
    return std::make_unique<MultiplexConsumer>(std::move(consumers));
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

private:
  CompiledModel &model;
};

} // namespace

static llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> filesWithHeaders() {
  auto headers = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  for (const EmbeddedHeader &header : embeddedHeaders())
    headers->addFile(kHeaderFolder + header.path, 0,
                     llvm::MemoryBuffer::getMemBuffer(header.text));
  auto files = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(
      llvm::vfs::getRealFileSystem());
  files->pushOverlay(headers);
  return files;
}

static std::vector<std::string>
commandLine(const std::string &path, const std::vector<std::string> &folders) {
  std::vector<std::string> line = {
      "clang++", "-c", "-x", "c++", "-std=c++23", "-O0", "-g1", "-fPIC",
      std::string("-resource-dir=") + DL_CLANG_RESOURCE_DIR,
      // Nothing of the machine or the folder may reach what is compiled.
      "-fdebug-compilation-dir=.", "-fno-ident", "-Wno-c++26-extensions",
      "-Wno-reorder-init-list", "-Wno-braced-scalar-init",
      "-Wno-missing-designated-field-initializers", "-Werror=return-type",
      "-ferror-limit=20"};
  for (const std::string &folder : folders)
    line.push_back("-I" + folder);
  line.push_back("-isystem");
  line.push_back(kHeaderFolder.str());
  line.push_back(path);
  return line;
}

CompiledModel
dl::frontend::compileModel(const std::string &path,
                           const std::vector<std::string> &includeFolders) {
  CompiledModel model;
  model.path = path;
  CxxDiagnostics diagnostics;
  DiagnosticOptions options;
  options.ShowCarets = false; // and no count of errors on stderr
  auto files = filesWithHeaders();
  auto engine = CompilerInstance::createDiagnostics(
      *files, options, &diagnostics, /*ShouldOwnClient=*/false);

  std::vector<std::string> line = commandLine(path, includeFolders);
  std::vector<const char *> arguments;
  for (const std::string &argument : line)
    arguments.push_back(argument.c_str());
  driver::Driver driver(arguments[0], llvm::sys::getProcessTriple(), *engine,
                        "dlcc", files);
  driver.setCheckInputsExist(false);
  std::unique_ptr<driver::Compilation> compilation(
      driver.BuildCompilation(arguments));
  auto invocation = std::make_shared<CompilerInvocation>();
  if (!compilation || compilation->getJobs().empty() ||
      !CompilerInvocation::CreateFromArgs(
          *invocation, compilation->getJobs().begin()->getArguments(),
          *engine)) {
    model.messages = diagnostics.take();
    model.exitCode = 70;
    return model;
  }
  invocation->getDiagnosticOpts().ShowCarets = false;
  invocation->getCodeGenOpts().VerifyModule = false;

  CompilerInstance compiler(invocation);
  compiler.setVirtualFileSystem(files);
  compiler.createDiagnostics(&diagnostics, /*ShouldOwnClient=*/false);
  auto context = std::make_unique<llvm::LLVMContext>();
  Action action(context.get(), model);
  bool done = compiler.ExecuteAction(action);
  model.messages = diagnostics.take();
  for (const Message &message : model.types.overlooked)
    model.messages += render(message);
  if (!model.types.overlooked.empty())
    model.exitCode = 3;
  else if (std::unique_ptr<llvm::Module> module = action.takeModule();
           done && module)
    model.code =
        llvm::orc::ThreadSafeModule(std::move(module), std::move(context));
  else
    model.exitCode = diagnostics.exitCode();
  return model;
}
