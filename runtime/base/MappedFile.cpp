#include "runtime/base/MappedFile.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace dlrt;

Expected<MappedFile> MappedFile::open(const std::string &path) {
  auto failure = [&](const char *what, int error) {
    return Status(Code::Io, fmt::format("cannot {} '{}': {}", what, path,
                                        std::strerror(error)));
  };
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); // (a pipe)
  if (fd < 0)
    return failure("open", errno);
  struct stat info;
  if (fstat(fd, &info) != 0) {
    int error = errno;
    close(fd);
    return failure("read", error);
  }
  if (!S_ISREG(info.st_mode)) {
    close(fd);
    return Status(
        Code::Io,
        fmt::format("cannot read '{}': it is {}", path,
                    S_ISDIR(info.st_mode) ? "a folder" : "not a regular file"));
  }
  MappedFile file;
  file.length = static_cast<size_t>(info.st_size);
  if (file.length != 0) {
    void *at = mmap(nullptr, file.length, PROT_READ, MAP_PRIVATE, fd, 0);
    if (at == MAP_FAILED) {
      int error = errno;
      close(fd);
      file.length = 0;
      return failure("map", error);
    }
    file.base = static_cast<const uint8_t *>(at);
  }
  close(fd);
  return file;
}

MappedFile::~MappedFile() {
  if (base)
    munmap(const_cast<uint8_t *>(base), length);
}
