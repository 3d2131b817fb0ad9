// A file that is written piece by piece and gets its name when it is whole.
#ifndef DLRT_BASE_GROWINGFILE_H
#define DLRT_BASE_GROWINGFILE_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace dlrt {

/// As writeFileAtomically, for what does not fit into memory. Without `finish`
/// nothing is left behind and an older file stays as it was.
class GrowingFile {
public:
  /// Devices and pipes take bytes in their order only.
  static bool canGrow(const std::string &path);
  static Expected<GrowingFile> create(const std::string &path);

  GrowingFile(GrowingFile &&other) noexcept { swap(other); }
  GrowingFile &operator=(GrowingFile &&other) noexcept {
    swap(other);
    return *this;
  }
  ~GrowingFile();

  Status writeAt(uint64_t offset, std::span<const uint8_t> bytes);
  /// Flushes it to the disk and gives it its name.
  Status finish();

private:
  GrowingFile() = default;
  void swap(GrowingFile &other) {
    std::swap(path, other.path);
    std::swap(file, other.file);
    std::swap(temporary, other.temporary);
    std::swap(fd, other.fd);
  }

  std::string path; ///< as it was given
  std::string file; ///< where it leads
  std::string temporary;
  int fd = -1;
};

} // namespace dlrt

#endif
