#include "runtime/base/WriteAll.h"

#include <cerrno>
#include <unistd.h>

int dlrt::writeAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return errno;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}
