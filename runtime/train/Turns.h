// --alternate: the turns that training steps take.
#ifndef DLRT_TRAIN_TURNS_H
#define DLRT_TRAIN_TURNS_H

#include "runtime/base/Status.h"
#include "runtime/plan/plan_generated.h"

#include <cstdint>
#include <string>
#include <vector>

namespace dlrt {

/// What the user wants: so many updates of a step, then the next one.
struct TurnWish {
  std::string step;
  uint64_t updates = 1;
};

/// "disc:5,gen:1"
Expected<std::vector<TurnWish>> parseAlternate(const std::string &text);
std::string alternateText(const std::vector<TurnWish> &wishes);

/// A round is a turn of each training step. Places within it count updates.
class Turns {
public:
  /// Of all training steps of a plan, each once; without wishes one update
  /// each, in the order of the plan. An unknown or missing step is an error.
  static Expected<Turns> create(const fb::PlanT &plan,
                                const std::vector<TurnWish> &wishes);

  /// Training steps, as positions in the plan, in the order of their turns.
  const std::vector<uint32_t> &steps() const { return order; }
  /// Updates of a round.
  uint64_t length() const { return ends.back(); }
  /// Whose turn a place belongs to: a position in `steps`.
  size_t turnAt(uint64_t place) const;
  /// How many of `count` updates from a place on are those of a turn.
  uint64_t updatesOf(size_t turn, uint64_t place, uint64_t count) const;
  /// How many updates from a place on come before the one that follows `count`
  /// of the first step: with it its next epoch would begin.
  uint64_t untilFirstHasDone(uint64_t count, uint64_t place) const;
  /// "disc:5,gen:1"
  const std::string &text() const { return written; }

private:
  std::vector<uint32_t> order;
  std::vector<uint64_t> ends; ///< of the turns, as places
  std::string written;
};

} // namespace dlrt

#endif
