// Bytes of a plan's buffers, wherever they lie.
#ifndef DLRT_DEVICE_BUFFERS_H
#define DLRT_DEVICE_BUFFERS_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <span>

namespace dlrt {

/// Where a range of bytes begins.
struct BufferPlace {
  uint32_t buffer = 0; ///< of the plan, in its arena
  uint64_t offset = 0; ///< in the buffer
  uint32_t rank = 0;   ///< whose buffer, of the ranks at hand
};

class BufferReader {
public:
  virtual ~BufferReader() = default;

  /// Copies as many bytes as `into` has.
  virtual Status read(const BufferPlace &from,
                      std::span<uint8_t> into) const = 0;
};

class Buffers : public BufferReader {
public:
  virtual Status write(const BufferPlace &to,
                       std::span<const uint8_t> from) = 0;
};

} // namespace dlrt

#endif
