// A file mapped read-only.
#ifndef DLRT_BASE_MAPPEDFILE_H
#define DLRT_BASE_MAPPEDFILE_H

#include "runtime/base/Status.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace dlrt {

class MappedFile {
public:
  /// Maps a regular file; an empty file gives an empty span.
  static Expected<MappedFile> open(const std::string &path);

  MappedFile() = default;
  MappedFile(MappedFile &&other) noexcept { swap(other); }
  MappedFile &operator=(MappedFile &&other) noexcept {
    swap(other);
    return *this;
  }
  ~MappedFile();

  std::span<const uint8_t> bytes() const { return {base, length}; }

private:
  void swap(MappedFile &other) {
    std::swap(base, other.base);
    std::swap(length, other.length);
  }

  const uint8_t *base = nullptr;
  size_t length = 0;
};

} // namespace dlrt

#endif
