#include "compiler/frontend/ClangInvocation.h"
#include "clang/Driver/Compilation.h"
#include "clang/Driver/Driver.h"
#include "clang/Driver/Job.h"
#include "llvm/TargetParser/Host.h"

using namespace clang;
using namespace dl::frontend;

llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem>
dl::frontend::filesWithHeaders(llvm::ArrayRef<EmbeddedHeader> more) {
  auto ours = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  auto add = [&](const llvm::Twine &path, llvm::StringRef text) {
    ours->addFile(path, 0,
                  llvm::MemoryBuffer::getMemBuffer(
                      text, "", /*RequiresNullTerminator=*/false));
  };
  for (llvm::ArrayRef<EmbeddedHeader> headers : {embeddedHeaders(), more})
    for (const EmbeddedHeader &header : headers)
      add(kHeaderFolder + header.path, header.text);
  add(kPrecompiledHeader, "#include <dl/dl.h>\n");
  auto files = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(
      llvm::vfs::getRealFileSystem());
  files->pushOverlay(ours);
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
      "-Werror=string-compare", "-ferror-limit=20"};
  for (const std::string &folder : folders)
    line.push_back("-I" + folder);
  line.push_back("-isystem");
  line.push_back(kHeaderFolder.str());
  line.push_back(path);
  return line;
}

std::unique_ptr<CompilerInvocation> dl::frontend::makeInvocation(
    const std::string &path, const std::vector<std::string> &includeFolders,
    llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> files,
    DiagnosticsEngine &diagnostics) {
  std::vector<std::string> line = commandLine(path, includeFolders);
  std::vector<const char *> arguments;
  for (const std::string &argument : line)
    arguments.push_back(argument.c_str());
  driver::Driver driver(arguments[0], llvm::sys::getProcessTriple(),
                        diagnostics, "dlcc", std::move(files));
  driver.setCheckInputsExist(false);
  std::unique_ptr<driver::Compilation> compilation(
      driver.BuildCompilation(arguments));
  auto invocation = std::make_unique<CompilerInvocation>();
  if (!compilation || compilation->getJobs().empty() ||
      !CompilerInvocation::CreateFromArgs(
          *invocation, compilation->getJobs().begin()->getArguments(),
          diagnostics))
    return nullptr;
  invocation->getDiagnosticOpts().ShowCarets = false;
  invocation->getCodeGenOpts().VerifyModule = false;
  return invocation;
}
