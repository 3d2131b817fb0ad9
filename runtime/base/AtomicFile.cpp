#include "runtime/base/AtomicFile.h"

#include "runtime/base/GrowingFile.h"
#include "runtime/base/WriteAll.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

using namespace dlrt;

static Status failure(const char *what, const std::string &path, int error) {
  return {Code::Io,
          fmt::format("cannot {} '{}': {}", what, path, std::strerror(error))};
}

static std::string folderOf(const std::string &path) {
  size_t slash = path.rfind('/');
  if (slash == std::string::npos)
    return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// A new name is safe only when its folder is on the disk, too.
static int syncFolder(const std::string &folder) {
  int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return errno == EACCES ? 0 : errno; // writable, but not to be listed
  int error = fsync(fd) == 0 || errno == EINVAL ? 0 : errno;
  close(fd);
  return error;
}

/// Where `path` leads: the file behind symbolic links, which need not exist,
/// for a rename would replace the link instead.
static std::string target(const std::string &path) {
  namespace fs = std::filesystem;
  fs::path at = path;
  std::error_code error;
  for (int links = 0; links < 40; ++links) {
    fs::path next = fs::read_symlink(at, error);
    if (error)
      return at;
    at = at.parent_path() / next; // an absolute one replaces all
  }
  return {}; // the links go in a circle
}

/// A device, a pipe or a socket: it is written to and never replaced.
static bool isSpecial(const std::string &path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) &&
         !S_ISDIR(info.st_mode);
}

/// Closes `fd`.
static int writeParts(int fd,
                      const std::vector<std::span<const uint8_t>> &parts) {
  int error = 0;
  for (std::span<const uint8_t> part : parts)
    if ((error = writeAll(fd, {reinterpret_cast<const char *>(part.data()),
                               part.size()})) != 0)
      break;
  // Without the flush a crash could leave the new name on an empty file.
  if (error == 0 && fsync(fd) != 0 && errno != EINVAL)
    error = errno;
  if (close(fd) != 0 && error == 0)
    error = errno;
  return error;
}

Status
dlrt::writeFileAtomically(const std::string &path,
                          const std::vector<std::span<const uint8_t>> &parts) {
  if (isSpecial(path)) {
    int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    int error = fd < 0 ? errno : writeParts(fd, parts);
    return error == 0 ? Status() : failure("write", path, error);
  }
  std::string file = target(path);
  if (file.empty())
    return failure("write", path, ELOOP);
  std::string temporary = fmt::format("{}.tmp.{}", file, getpid());
  int fd =
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0)
    return failure("write", path, errno);
  int error = writeParts(fd, parts);
  if (error == 0 && rename(temporary.c_str(), file.c_str()) != 0)
    error = errno;
  if (error != 0) {
    unlink(temporary.c_str());
    return failure("write", path, error);
  }
  if (int unsure = syncFolder(folderOf(file)); unsure != 0)
    return failure("flush the folder of", path, unsure);
  return {};
}

Status dlrt::checkWritable(const std::string &path) {
  struct stat info;
  if (isSpecial(path))
    return access(path.c_str(), W_OK) == 0 ? Status()
                                           : failure("write", path, errno);
  if (stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode))
    return {Code::Io, fmt::format("cannot write '{}': it is a folder", path)};
  std::string file = target(path);
  if (file.empty())
    return failure("write", path, ELOOP);
  std::string folder = folderOf(file);
  if (stat(folder.c_str(), &info) != 0)
    return failure("write into the folder", folder, errno);
  if (!S_ISDIR(info.st_mode))
    return failure("write into the folder", folder, ENOTDIR);
  if (access(folder.c_str(), W_OK | X_OK) != 0)
    return failure("write into the folder", folder, errno);
  return {};
}

bool GrowingFile::canGrow(const std::string &path) { return !isSpecial(path); }

Expected<GrowingFile> GrowingFile::create(const std::string &path) {
  if (!canGrow(path))
    return Status(Code::Io,
                  fmt::format("cannot write '{}' piece by piece: it is no "
                              "regular file",
                              path));
  GrowingFile growing;
  growing.path = path;
  growing.file = target(path);
  if (growing.file.empty())
    return failure("write", path, ELOOP);
  growing.temporary = fmt::format("{}.tmp.{}", growing.file, getpid());
  growing.fd = ::open(growing.temporary.c_str(),
                      O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (growing.fd < 0)
    return failure("write", path, errno);
  return growing;
}

GrowingFile::~GrowingFile() {
  if (fd < 0)
    return;
  close(fd);
  unlink(temporary.c_str());
}

Status GrowingFile::writeAt(uint64_t offset, std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    ssize_t written =
        ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return failure("write", path, errno);
    bytes = bytes.subspan(static_cast<size_t>(written));
    offset += static_cast<uint64_t>(written);
  }
  return {};
}

Status GrowingFile::finish() {
  if (fsync(fd) != 0 && errno != EINVAL)
    return failure("write", path, errno);
  int error = close(std::exchange(fd, -1)) == 0 ? 0 : errno;
  if (error == 0 && rename(temporary.c_str(), file.c_str()) != 0)
    error = errno;
  if (error != 0) {
    unlink(temporary.c_str());
    return failure("write", path, error);
  }
  if (int unsure = syncFolder(folderOf(file)); unsure != 0)
    return failure("flush the folder of", path, unsure);
  return {};
}
