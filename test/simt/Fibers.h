// Stacks and the switch between them.
#ifndef DL_TEST_SIMT_FIBERS_H
#define DL_TEST_SIMT_FIBERS_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dlsimt {

/// Stacks with a page below each that faults.
class Stacks {
public:
  static constexpr size_t bytes = 64 << 10, guard = 4 << 10;

  ~Stacks();
  /// The highest address of a stack that nobody has.
  uint8_t *take();
  void giveBack(uint8_t *top) { idle.push_back(top); }
  /// All of them are idle again.
  void reset() { idle = all; }
  bool hold(uintptr_t at) const;
  bool guardHolds(uintptr_t at) const;

private:
  std::vector<uint8_t *> all, idle;
  std::vector<uint8_t *> chunks;
};

/// Where the stack pointer must be for `switchTo` to start `main` on a stack.
void *startOf(uint8_t *top, void (*main)());

/// Saves what the calling convention keeps, leaves its place in `*from` and
/// goes on where `to` was left.
void switchTo(void **from, void *to);

} // namespace dlsimt

#endif
