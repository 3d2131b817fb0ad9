#include "runtime/data/RandomFile.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

using namespace dlrt;

static Status failure(const char *what, const std::string &path, int error) {
  return {Code::Io,
          fmt::format("cannot {} '{}': {}", what, path, std::strerror(error))};
}

Expected<RandomFile> RandomFile::open(const std::string &path) {
  RandomFile file;
  file.name = path;
  file.fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file.fd < 0)
    return failure("open", path, errno);
  return file;
}

RandomFile::~RandomFile() {
  if (fd >= 0)
    close(fd);
}

void RandomFile::expect(bool anyOrder) const {
  // Advice: where it is not taken, reads are slower.
  posix_fadvise(fd, 0, 0, anyOrder ? POSIX_FADV_RANDOM : POSIX_FADV_SEQUENTIAL);
}

Status RandomFile::read(uint64_t offset, std::span<uint8_t> out) const {
  while (!out.empty()) {
    ssize_t count =
        pread(fd, out.data(), out.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return failure("read", name, errno);
    if (count == 0)
      return {Code::Io,
              fmt::format("'{}' got shorter while it was read", name)};
    out = out.subspan(static_cast<size_t>(count));
    offset += static_cast<uint64_t>(count);
  }
  return {};
}
