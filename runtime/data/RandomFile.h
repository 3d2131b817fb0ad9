// Reads of a file at any place, without a mapping.
#ifndef DLRT_DATA_RANDOMFILE_H
#define DLRT_DATA_RANDOMFILE_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace dlrt {

/// A fault on a mapping brings much of what stands around the row, for it looks
/// like the begin of a longer read, and its pages count as this process's
/// memory. A read brings the row.
class RandomFile {
public:
  static Expected<RandomFile> open(const std::string &path);

  RandomFile(RandomFile &&other) noexcept
      : fd(std::exchange(other.fd, -1)), name(std::move(other.name)) {}
  RandomFile &operator=(RandomFile &&other) noexcept {
    std::swap(fd, other.fd);
    std::swap(name, other.name);
    return *this;
  }
  ~RandomFile();

  const std::string &path() const { return name; }
  /// Tells the system what will come: rows here and there, or one by one.
  void expect(bool anyOrder) const;
  /// Fills `out` whole or gives an error; for any thread.
  Status read(uint64_t offset, std::span<uint8_t> out) const;

private:
  RandomFile() = default;

  int fd = -1;
  std::string name;
};

} // namespace dlrt

#endif
