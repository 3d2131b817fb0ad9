// Reads gzip data piece by piece.
#ifndef DLRT_DATA_GUNZIP_H
#define DLRT_DATA_GUNZIP_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <memory>
#include <span>

namespace dlrt {

bool isGzip(std::span<const uint8_t> bytes);

class Gunzip {
public:
  explicit Gunzip(std::span<const uint8_t> compressed);
  ~Gunzip();

  /// Fills `out` whole or gives an error.
  Status read(std::span<uint8_t> out);
  /// Checks that nothing follows, and the checksum.
  Status expectEnd();

private:
  struct Stream;
  std::unique_ptr<Stream> stream;
};

} // namespace dlrt

#endif
