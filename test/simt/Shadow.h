// Who touched each byte of memory last: finds accesses of two threads with no
// barrier between them, whatever order they happened to come in.
#ifndef DL_TEST_SIMT_SHADOW_H
#define DL_TEST_SIMT_SHADOW_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
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
  bool otherBlock = false;
};

/// Of one byte or word of 4, within a block.
struct ShadowCell {
  Access write;
  /// Enough to meet every writer with a reader that is not ordered before it,
  /// if there is one: of different threads, of two warps if two read.
  std::array<Access, 3> reads;

  Conflict note(const Access &now, bool writes);
};

class Shadow {
public:
  void resize(size_t bytes) { words.resize((bytes + 3) / 4); }
  /// Of bytes [at, at + bytes).
  Conflict note(size_t at, size_t bytes, const Access &now, bool writes);

private:
  /// Nearly all accesses are of whole words; of one that was touched in part
  /// each byte has a cell, from then on.
  struct Word : ShadowCell {
    std::unique_ptr<std::array<ShadowCell, 4>> bytes;
  };
  std::vector<Word> words;
};

/// The same of the device's memory, where blocks meet, too: nothing orders two
/// blocks of a launch but what one learns by an atomic function, and then it
/// only reads.
class DeviceShadow {
public:
  void beginLaunch();
  void beginBlock() { ++run; }
  Conflict note(uintptr_t at, size_t size, const Access &now, bool writes,
                bool mayReadOthers);

private:
  struct Cell : ShadowCell {
    uint32_t writer = 0, reader = 0, otherReader = 0; ///< runs of blocks
  };
  static constexpr size_t cells = 1024;
  class Pages {
  public:
    Cell &at(uintptr_t number);

  private:
    std::unordered_map<uintptr_t, std::unique_ptr<std::array<Cell, cells>>>
        known;
    std::pair<uintptr_t, std::array<Cell, cells> *> last = {0, nullptr};
  };
  bool isOther(uint32_t block) const { return block >= launch && block != run; }

  Pages words, bytes;           ///< by what an access is made of
  uint32_t run = 1, launch = 1; ///< the first block of it
};

} // namespace dlsimt

#endif
