// What a command waits for besides other commands, without a thread that waits.
#ifndef DLRT_EXEC_ERRAND_H
#define DLRT_EXEC_ERRAND_H

#include "runtime/base/Status.h"
#include "runtime/plan/JointProgram.h"

#include <cstdint>
#include <functional>
#include <memory>

namespace dlrt {

/// Something that happens elsewhere before a command's tiles may run: bytes go
/// through a network, or time passes.
class Errand {
public:
  virtual ~Errand() = default;

  /// Begins it, in a run with that input slot. To be called by whoever runs the
  /// program once all that the command waits for has finished. Allocates
  /// nothing and does not block. `ended` is called when it has happened, on
  /// whatever thread finds that out, also inside of `begin`.
  virtual void begin(uint32_t slot) = 0;

  /// Set once, by who runs the program.
  std::function<void()> ended;
};

/// Where the bytes of a meeting lie.
struct MeetingPlaces {
  /// Input slots in which the ranges differ: 1 if they are the same in all.
  uint32_t slots = 1;
  /// Where a range of a rank at hand begins in a run with an input slot.
  std::function<uint8_t *(uint32_t rank, const fb::Range &, uint32_t slot)>
      address;
};

/// Makes what a meeting has to wait for; null if it is nothing. Several
/// may be under way, begun in any order; a meeting's number tells them apart.
using ErrandMaker = std::function<Expected<std::unique_ptr<Errand>>(
    const Meeting &, const MeetingPlaces &)>;

} // namespace dlrt

#endif
