// Who touched each byte of shared memory last: finds accesses of two threads
// with no barrier between them, whatever order they happened to come in.
#ifndef DL_TEST_SIMT_SHADOW_H
#define DL_TEST_SIMT_SHADOW_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace dlsimt {

/// One by a thread, between two barriers of the block (`epoch`, never the same
/// in two blocks) and two __syncwarp of its warp.
struct Access {
  uint32_t epoch = 0, warpEpoch = 0;
  uint16_t thread = 0;

  unsigned warp() const { return thread / 32; }
  /// Only barriers order threads, and __syncwarp those of a warp; a shuffle
  /// does not.
  bool isBefore(const Access &now) const {
    return epoch != now.epoch || thread == now.thread ||
           (warp() == now.warp() && warpEpoch != now.warpEpoch);
  }
};

struct Conflict {
  enum Kind {
    None,
    WriteAfterWrite,
    ReadAfterWrite,
    WriteAfterRead
  } kind = None;
  unsigned other = 0; ///< thread
};

class Shadow {
public:
  void resize(size_t bytes) { cells.resize(bytes); }
  /// Of bytes [at, at + bytes).
  Conflict note(size_t at, size_t bytes, const Access &now, bool writes);

private:
  struct Cell {
    Access write;
    /// Enough to meet every writer with a reader that is not ordered before
    /// it, if there is one: of different threads, of two warps if two read.
    std::array<Access, 3> reads;
  };
  static void addRead(Cell &cell, const Access &now);
  std::vector<Cell> cells;
};

} // namespace dlsimt

#endif
