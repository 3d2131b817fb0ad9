// Runs a kernel of a host image: one block at a time, its threads as fibers
// that give way to each other at barriers and collectives.
#ifndef DL_TEST_SIMT_SCHEDULER_H
#define DL_TEST_SIMT_SCHEDULER_H

#include "test/simt/Interface.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace dlsimt {

/// Which thread of those that can run goes on, and which block comes next.
enum class Order { Ascending, Descending, Random };

/// What a kernel may touch besides its own: a span of memory, from `first` to
/// before `end`.
struct Span {
  uintptr_t first = 0, end = 0;
  bool holds(uintptr_t at, size_t bytes) const {
    return at >= first && bytes <= end - first &&
           at - first <= end - first - bytes;
  }
};

struct Launch {
  const Image *image = nullptr;
  const Kernel *kernel = nullptr;
  Index3 grid, block;
  unsigned sharedBytes = 0; ///< dynamic
  void *const *arguments = nullptr;
  Order order = Order::Ascending;
  uint64_t seed = 1;
  /// Whether [at, at + bytes) is memory of the device. Asked of images that
  /// report their accesses.
  std::function<bool(uintptr_t at, size_t bytes)> isDeviceMemory;
  /// What a message says of an address that a kernel must not touch.
  std::function<std::string(uintptr_t at)> describe;
  double seconds = 120; ///< of the processor: as long may it take
};

constexpr unsigned maxThreads = 1024, maxSharedBytes = 227 << 10;

struct Failure {
  std::string text; ///< with kernel, block and thread
  bool tookTooLong = false;
};

/// Runs all blocks. Nothing, or what went wrong. Not for two host threads at
/// once.
std::optional<Failure> run(const Launch &launch);

} // namespace dlsimt

#endif
