#include "compiler/frontend/FilesLike.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/GlobPattern.h"
#include "llvm/Support/Path.h"

using namespace dl::frontend;

std::vector<std::string> dl::frontend::filesLike(llvm::StringRef path) {
  llvm::StringRef name = path.substr(path.rfind('/') + 1);
  if (name.find_first_of("*?") == llvm::StringRef::npos ||
      llvm::sys::fs::exists(path))
    return {path.str()};
  std::string text; // '*' and '?' alone are special
  for (char c : name)
    text += llvm::StringRef("[]{}\\").contains(c) ? std::string{'\\', c}
                                                  : std::string{c};
  llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(text);
  if (!pattern) {
    llvm::consumeError(pattern.takeError());
    return {};
  }
  std::vector<std::string> found;
  std::string folder = path.drop_back(name.size()).str();
  std::error_code error;
  for (llvm::sys::fs::directory_iterator
           at(folder.empty() ? "." : folder, error),
       end;
       !error && at != end; at.increment(error)) {
    llvm::StringRef one = llvm::sys::path::filename(at->path());
    bool isHidden = one.starts_with(".") && !name.starts_with(".");
    if (!isHidden && pattern->match(one) &&
        !llvm::sys::fs::is_directory(at->path()))
      found.push_back(folder + one.str());
  }
  llvm::sort(found);
  return found;
}

bool dl::frontend::areThere(llvm::StringRef path) {
  std::vector<std::string> files = filesLike(path);
  return !files.empty() && llvm::sys::fs::exists(files.front());
}
