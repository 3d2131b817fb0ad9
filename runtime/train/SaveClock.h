// When time says that a checkpoint is due.
#ifndef DLRT_TRAIN_SAVECLOCK_H
#define DLRT_TRAIN_SAVECLOCK_H

#include "runtime/comm/Together.h"

#include <chrono>
#include <cstdint>

namespace dlrt {

/// Of a run as several processes rank 0's clock counts, after the same step on
/// all. To ask it takes a message; it is therefore looked at seldom: half-way
/// to the time that is left, by the steps so far, then half-way again, each
/// step in the end.
class SaveClock {
public:
  explicit SaveClock(const Together &together) : together(together) {}

  /// A checkpoint is begun after so many steps, or the run.
  void restart(uint64_t step);
  double secondsSince() const; ///< the last restart
  /// Whether so many seconds have gone by since then; to be asked after each
  /// step.
  Expected<bool> isDue(uint64_t step, double seconds);

private:
  using Clock = std::chrono::steady_clock;

  const Together &together;
  Clock::time_point begin = Clock::now();
  uint64_t first = 0; ///< step of the last restart
  uint64_t nextLook = 0;
};

} // namespace dlrt

#endif
