#include "compiler/frontend/Npy.h"
#include "compiler/dsl/dl/abi.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Errc.h"
#include "llvm/Support/FileSystem.h"
#include <cerrno>
#include <cstring>

using namespace dl::frontend;
using llvm::StringRef;

template <class... Parts>
static llvm::Error wrong(std::errc code, const Parts &...parts) {
  return llvm::createStringError(
      std::make_error_code(code),
      (llvm::Twine("") + ... + llvm::Twine(parts)).str());
}

/// What stands after 'key': in the dictionary of a header.
static StringRef valueOf(StringRef dictionary, StringRef key) {
  size_t at = dictionary.find(("'" + key + "'").str());
  if (at == StringRef::npos)
    return "";
  StringRef value = dictionary.drop_front(at + key.size() + 2).ltrim(" :");
  return value;
}

/// Of what a step gets: floats and integers of which there are none are read
/// into wider ones.
static int dtypeOf(StringRef descr) {
  return llvm::StringSwitch<int>(descr)
      .Cases({"<f4", "<f2"}, DL_FLOAT32)
      .Case("<f8", DL_FLOAT64)
      .Cases({"<i8", "<u8", "<u4"}, DL_INT64)
      .Cases({"<i4", "<i2", "<u2", "|i1"}, DL_INT32)
      .Case("|u1", DL_UINT8)
      .Case("|b1", DL_BOOL)
      .Default(-1);
}

static llvm::Expected<NpyHeader> parse(StringRef dictionary,
                                       const std::string &path) {
  StringRef descr =
      valueOf(dictionary, "descr").ltrim("'\"").take_until([](char c) {
        return c == '\'' || c == '"';
      });
  NpyHeader header;
  header.dtype = dtypeOf(descr);
  if (header.dtype < 0)
    return wrong(std::errc::invalid_argument, path, ": the dtype `", descr,
                 "` is not supported; little-endian float16, float32, float64, "
                 "integers of all widths, and bool are");
  StringRef shape = valueOf(dictionary, "shape");
  if (!shape.consume_front("(") || !shape.contains(')'))
    return wrong(std::errc::invalid_argument, path,
                 ": the header has no shape");
  llvm::SmallVector<StringRef> sizes;
  shape.split(')').first.split(sizes, ',', -1, /*KeepEmpty=*/false);
  for (StringRef size : sizes) {
    int64_t value;
    if (size.trim().empty())
      continue;
    if (size.trim().rtrim('L').getAsInteger(10, value) || value < 0)
      return wrong(std::errc::invalid_argument, path,
                   ": the header's shape is damaged");
    header.shape.push_back(value);
  }
  if (valueOf(dictionary, "fortran_order").starts_with("True") &&
      header.shape.size() > 1)
    return wrong(std::errc::invalid_argument, path,
                 ": the array is stored column by column; save "
                 "numpy.ascontiguousarray(x)");
  return header;
}

llvm::Expected<std::ifstream>
dl::frontend::openDataFile(const std::string &path) {
  if (llvm::sys::fs::exists(path) && !llvm::sys::fs::is_regular_file(path))
    return wrong(std::errc::io_error, "cannot read ", path,
                 ": not a regular file");
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return wrong(std::errc::io_error, "cannot read ", path, ": ",
                 std::strerror(errno));
  return file;
}

/// What users of PyTorch and pandas have their data in.
static bool isOfOthers(llvm::StringRef path) {
  return llvm::any_of(llvm::ArrayRef<const char *>{".npz", ".csv", ".tsv",
                                                   ".pt", ".pth", ".pkl",
                                                   ".parquet", ".h5", ".json"},
                      [&](const char *end) { return path.ends_with(end); });
}

llvm::Expected<NpyHeader> dl::frontend::readNpyHeader(const std::string &path) {
  llvm::Expected<std::ifstream> opened = openDataFile(path);
  if (!opened)
    return opened.takeError();
  std::ifstream &file = *opened;
  unsigned char start[12] = {};
  file.read(reinterpret_cast<char *>(start), 10);
  if (!file || std::memcmp(start, "\x93NUMPY", 6) != 0)
    return wrong(std::errc::invalid_argument, path,
                 std::string(": this is not a .npy file") +
                     (isOfOthers(path) ? "; numpy.save(\"x.npy\", array) "
                                         "writes one for each tensor of a batch"
                                       : ""));
  size_t length = start[8] | start[9] << 8;
  if (start[6] >= 2) { // four bytes of length
    file.read(reinterpret_cast<char *>(start) + 10, 2);
    length |= static_cast<size_t>(start[10]) << 16 |
              static_cast<size_t>(start[11]) << 24;
  }
  if (!file || length > (1 << 20))
    return wrong(std::errc::invalid_argument, path, ": the header is damaged");
  std::string dictionary(length, '\0');
  file.read(dictionary.data(), static_cast<std::streamsize>(length));
  if (!file)
    return wrong(std::errc::invalid_argument, path,
                 ": the file ends within its header");
  return parse(dictionary, path);
}
