// A file that grows: logs.
#ifndef DLRT_BASE_APPENDFILE_H
#define DLRT_BASE_APPENDFILE_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace dlrt {

/// Collects what is appended and writes it in large pieces. A piece that cannot
/// be written is taken back; then nothing more is written, and each later call
/// gives the same error.
class AppendFile {
public:
  /// Opens or creates the file, keeps its first `keep` bytes, if it has as
  /// many, and goes on behind them.
  static Expected<AppendFile> open(const std::string &path, uint64_t keep);

  AppendFile(AppendFile &&other) noexcept { swap(other); }
  AppendFile &operator=(AppendFile &&other) noexcept {
    swap(other);
    return *this;
  }
  ~AppendFile();

  Status append(std::string_view text);
  /// Hands everything to the system.
  Status flush();
  /// Returns when what has been flushed is safe on the disk. Another thread may
  /// call it meanwhile.
  Status sync() const;
  /// Bytes, those not yet written included.
  uint64_t size() const { return length; }
  const std::string &path() const { return name; }

private:
  AppendFile() = default;
  void swap(AppendFile &other);
  Status fail(int error);

  std::string name;
  std::string pending;
  int fd = -1;
  uint64_t length = 0, flushed = 0;
  Status failure;
};

} // namespace dlrt

#endif
