#include "runtime/base/AppendFile.h"

#include "runtime/base/WriteAll.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace dlrt;

/// So much is collected before it is written.
static constexpr size_t pieceBytes = 1 << 16;

void AppendFile::swap(AppendFile &other) {
  std::swap(name, other.name);
  std::swap(pending, other.pending);
  std::swap(fd, other.fd);
  std::swap(length, other.length);
  std::swap(flushed, other.flushed);
  std::swap(failure, other.failure);
}

AppendFile::~AppendFile() {
  if (fd < 0)
    return;
  (void)flush(); // who wants to know has called it before
  close(fd);
}

Status AppendFile::fail(int error) {
  failure = {Code::Io,
             fmt::format("cannot write '{}': {}", name, std::strerror(error))};
  return failure;
}

Expected<AppendFile> AppendFile::open(const std::string &path, uint64_t keep) {
  AppendFile file;
  file.name = path;
  file.fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (file.fd < 0)
    return file.fail(errno);
  struct stat info;
  if (fstat(file.fd, &info) != 0)
    return file.fail(errno);
  keep = std::min(keep, static_cast<uint64_t>(info.st_size));
  if (ftruncate(file.fd, static_cast<off_t>(keep)) != 0 ||
      lseek(file.fd, 0, SEEK_END) < 0)
    return file.fail(errno);
  file.length = file.flushed = keep;
  return file;
}

Status AppendFile::append(std::string_view text) {
  if (!failure.ok())
    return failure;
  pending += text;
  length += text.size();
  return pending.size() < pieceBytes ? Status() : flush();
}

Status AppendFile::flush() {
  if (!failure.ok())
    return failure;
  if (int error = writeAll(fd, pending)) {
    pending.clear();
    if (ftruncate(fd, static_cast<off_t>(flushed)) == 0)
      length = flushed;
    return fail(error);
  }
  pending.clear();
  flushed = length;
  return {};
}

Status AppendFile::sync() const {
  if (fdatasync(fd) == 0 || errno == EINVAL)
    return {};
  return {Code::Io, fmt::format("cannot flush '{}' to the disk: {}", name,
                                std::strerror(errno))};
}
