// A core of its own for the thread that runs programs, where the processes of a
// host have one each.
#ifndef DLRT_EXEC_OWNCORE_H
#define DLRT_EXEC_OWNCORE_H

#include <chrono>
#include <cstdint>
#include <vector>

namespace dlrt {

/// Ranks that wait for each other's messages give up their core again and
/// again, so that two of them on one core look to the kernel as if they fitted:
/// it leaves them there for seconds, while another core idles. A thread that
/// got much less of a core than it could use is therefore bound, first to the
/// core that is its own by number, then to the next, as long as it gets that
/// one; if it gets none of them, for other programs of the machine or other
/// runs want them, it is free again, and the kernel shares cores as it sees
/// fit. Threads that are started meanwhile must call `runOnAnyCore`.
class OwnCore {
public:
  /// Of the calling thread. `number` counts the cores that the process may run
  /// on, and wraps around.
  explicit OwnCore(unsigned number);
  ~OwnCore();
  OwnCore(const OwnCore &) = delete;
  OwnCore &operator=(const OwnCore &) = delete;

  // To be called by that thread around what it does without ever sleeping.
  void begin() { begun = Clock::now(); }
  void end();
  /// It has slept in between, all the same: what it got says nothing.
  void slept() { window = {}; }

  /// How often it was bound, or freed again.
  unsigned moves() const { return moved; }

private:
  using Clock = std::chrono::steady_clock;

  void move();

  std::vector<int> cores; ///< that the process may run on, own one first
  bool bound = false;
  size_t next = 0;
  unsigned moved = 0;
  Clock::time_point begun = {};
  Clock::time_point window = {}; ///< where it begins; zero: now
  Clock::duration wanted = {};   ///< time between `begin` and `end` since then
  double computed = 0;           ///< seconds of the thread, at that time
  Clock::duration pause;         ///< the length of a window
};

} // namespace dlrt

#endif
