#include "compiler/pipeline/Files.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <filesystem>

namespace dl {

/// What a stream has to say about its errors, which it must not keep.
static std::string finish(llvm::raw_fd_ostream &stream) {
  stream.flush();
  std::error_code error = stream.error();
  stream.clear_error();
  return error ? error.message() : "";
}

/// What a link names, which need not exist; a rename would replace the link.
static std::string target(llvm::StringRef path) {
  std::filesystem::path at = path.str();
  std::error_code error;
  for (int links = 0; links < 40; ++links) {
    auto next = std::filesystem::read_symlink(at, error);
    if (error)
      break;
    at = at.parent_path() / next; // an absolute one replaces all
  }
  return at;
}

std::string writeFile(llvm::StringRef path, llvm::ArrayRef<uint8_t> bytes) {
  auto text = reinterpret_cast<const char *>(bytes.data());
  if (path == "-") {
    llvm::outs().write(text, bytes.size());
    return finish(llvm::outs());
  }
  // A device or a pipe cannot be replaced.
  if (llvm::sys::fs::exists(path) && !llvm::sys::fs::is_regular_file(path)) {
    std::error_code error;
    llvm::raw_fd_ostream stream(path, error);
    if (error)
      return error.message();
    stream.write(text, bytes.size());
    return finish(stream);
  }
  int file;
  llvm::SmallString<128> temporary;
  std::string real = target(path);
  if (std::error_code error = llvm::sys::fs::createUniqueFile(
          real + ".%%%%%%.tmp", file, temporary))
    return error.message();
  std::string why;
  {
    llvm::raw_fd_ostream stream(file, /*shouldClose=*/true);
    stream.write(text, bytes.size());
    why = finish(stream);
  }
  if (why.empty())
    if (std::error_code error = llvm::sys::fs::rename(temporary, real))
      why = error.message();
  if (!why.empty())
    llvm::sys::fs::remove(temporary);
  return why;
}

std::string withInfix(llvm::StringRef path, llvm::StringRef infix) {
  llvm::SmallString<128> result(path);
  std::string extension = llvm::sys::path::extension(path).str();
  llvm::sys::path::replace_extension(result, "." + infix + extension);
  return std::string(result);
}

} // namespace dl
