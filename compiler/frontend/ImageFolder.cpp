#include "compiler/frontend/ImageFolder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include <algorithm>
#include <filesystem>

using namespace dl::frontend;
namespace fs = std::filesystem;

static llvm::Error wrong(std::errc code, const llvm::Twine &what) {
  return llvm::createStringError(std::make_error_code(code), what);
}

namespace {
enum class Kind { Picture, Unreadable, Other };
} // namespace

static constexpr llvm::StringLiteral kPictures[] = {".jpg", ".jpeg", ".png",
                                                    ".ppm", ".pgm"};
static constexpr llvm::StringLiteral kUnreadable[] = {".bmp", ".tif", ".tiff",
                                                      ".webp"};

/// By its name. PyTorch's data sets take the unreadable ones, too.
static Kind kindOf(const fs::path &file) {
  std::string name = llvm::StringRef(file.filename().native()).lower();
  auto endsWith = [&](llvm::StringRef ending) {
    return llvm::StringRef(name).ends_with(ending);
  };
  if (llvm::any_of(kPictures, endsWith))
    return Kind::Picture;
  return llvm::any_of(kUnreadable, endsWith) ? Kind::Unreadable : Kind::Other;
}

/// Of folders within folders: links may lead back. The run has the same.
static constexpr int kMostDepth = 32;

/// The pictures of a class, in folders within its folder, too.
static llvm::Expected<int64_t> countPictures(const fs::path &folder,
                                             const std::string &name) {
  std::error_code failed;
  fs::recursive_directory_iterator at(
      folder, fs::directory_options::follow_directory_symlink, failed);
  int64_t count = 0;
  for (; !failed && at != fs::recursive_directory_iterator();
       at.increment(failed)) {
    if (at.depth() == kMostDepth)
      return wrong(std::errc::invalid_argument,
                   name + "/" + at->path().lexically_relative(folder).native() +
                       ": folders within folders, " + llvm::Twine(kMostDepth) +
                       " deep; does a link lead back?");
    std::error_code ignored; // of a link to nothing
    if (at->is_directory(ignored))
      continue;
    Kind kind = kindOf(at->path());
    if (kind == Kind::Unreadable)
      return wrong(std::errc::invalid_argument,
                   name + "/" + at->path().lexically_relative(folder).native() +
                       ": pictures of this format are not read; JPEG, PNG, "
                       "PPM and PGM are");
    count += kind == Kind::Picture;
  }
  if (failed)
    return wrong(std::errc::io_error,
                 "cannot read " + name + ": " + failed.message());
  return count;
}

llvm::Expected<ImageFolder>
dl::frontend::readImageFolder(const std::string &path, const std::string &name,
                              bool allowEmpty) {
  ImageFolder found;
  std::error_code failed;
  fs::directory_iterator at(path, failed);
  bool hasPictures = false;
  std::error_code ignored; // of a link to nothing
  for (; !failed && at != fs::directory_iterator(); at.increment(failed))
    if (at->is_directory(ignored))
      found.classes.push_back(at->path().filename());
    else
      hasPictures |= kindOf(at->path()) != Kind::Other;
  if (failed)
    return wrong(std::errc::io_error,
                 "cannot read " + name + ": " + failed.message());
  if (found.classes.empty())
    return wrong(std::errc::invalid_argument,
                 name + " holds " + (hasPictures ? "pictures, but " : "") +
                     "no folders; the pictures of each class are wanted in "
                     "one of their own: " +
                     name + "/cat/1.jpg");
  for (const std::string &one : found.classes)
    if (llvm::any_of(one, [](unsigned char c) { return c < 32 || c == 127; }))
      return wrong(std::errc::invalid_argument,
                   name + ": the folder '" + one +
                       "' has a control character in its name, which no class "
                       "may have");
  std::sort(found.classes.begin(), found.classes.end());
  for (const std::string &one : found.classes) {
    auto count = countPictures(path + "/" + one, name + "/" + one);
    if (!count)
      return count.takeError();
    if (*count == 0 && !allowEmpty)
      return wrong(
          std::errc::invalid_argument,
          name + "/" + one +
              " holds no picture; JPEG, PNG, PPM and PGM are read, and "
              ".allow_empty = true takes classes without any");
    found.pictures += *count;
  }
  if (found.pictures == 0)
    return wrong(std::errc::invalid_argument, name + " holds no picture");
  return found;
}
