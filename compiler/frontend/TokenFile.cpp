#include "compiler/frontend/TokenFile.h"
#include "compiler/dsl/dl/abi.h"
#include "compiler/frontend/Npy.h"
#include "llvm/ADT/Twine.h"
#include <cstring>

using namespace dl::frontend;

static llvm::Error wrong(const std::string &path, const llvm::Twine &what) {
  return llvm::createStringError(
      std::make_error_code(std::errc::invalid_argument), path + ": " + what);
}

static llvm::Expected<TokenFile> ofArray(const std::string &path) {
  llvm::Expected<NpyHeader> header = readNpyHeader(path);
  if (!header)
    return header.takeError();
  if (header->shape.size() != 1)
    return wrong(path, "the array has " + llvm::Twine(header->shape.size()) +
                           " dimensions; tokens are one row");
  if (header->dtype == DL_FLOAT32 || header->dtype == DL_FLOAT64 ||
      header->dtype == DL_BOOL)
    return wrong(path, "tokens are integers");
  return TokenFile{header->dtype, header->shape.front()};
}

llvm::Expected<TokenFile> dl::frontend::readTokenFile(const std::string &path) {
  llvm::Expected<std::ifstream> file = openDataFile(path);
  if (!file)
    return file.takeError();
  file->seekg(0, std::ios::end);
  auto size = static_cast<uint64_t>(file->tellg());
  file->seekg(0);
  char start[12] = {};
  file->read(start, sizeof start);
  if (std::memcmp(start, "\x93NUMPY", 6) == 0)
    return ofArray(path);
  int32_t header[3]; // magic, version, tokens: see runtime/data/TokenFiles.cpp
  std::memcpy(header, start, sizeof header);
  bool of16 = header[0] == 20240520 && header[1] == 1;
  bool of32 = header[0] == 20240801 && header[1] == 7;
  if (size >= 1024 && (of16 || of32)) {
    int64_t tokens = static_cast<uint32_t>(header[2]);
    uint64_t expected = static_cast<uint64_t>(tokens) * (of16 ? 2 : 4);
    if (size - 1024 != expected)
      return wrong(path, llvm::Twine(size - 1024) +
                             " bytes behind its header, " +
                             llvm::Twine(tokens) + " tokens need " +
                             llvm::Twine(expected));
    return TokenFile{of16 ? DL_INT32 : DL_INT64, tokens};
  }
  if (!llvm::StringRef(path).ends_with(".bin"))
    return TokenFile{DL_UINT8, static_cast<int64_t>(size)};
  if (size % 2 != 0)
    return wrong(path, llvm::Twine(size) + " bytes are no tokens of 16 bits; a "
                                           "file of bytes has another ending");
  return TokenFile{DL_INT32, static_cast<int64_t>(size / 2)};
}
