// The metrics of training, averaged over an epoch.
#ifndef DLRT_TRAIN_EPOCHMEANS_H
#define DLRT_TRAIN_EPOCHMEANS_H

#include "runtime/train/StepRunner.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace dlrt {

/// Of one training step. The last batch's loss is as noisy as a batch is small;
/// people look at the mean. Batches count by their items.
struct EpochMean {
  std::string name;
  uint64_t steps = 0, items = 0;
  std::vector<ScalarMetric> metrics; ///< sums until the epoch ends
};

class EpochMeans {
public:
  /// After each step. Allocates at the first one only.
  void add(StepRunner &runner);
  /// What was added, by names that checkpoints keep, and where the run goes on
  /// from there. Of steps with other metrics it says nothing.
  std::map<std::string, std::string> state() const;
  void restore(const std::map<std::string, std::string> &state);
  /// Forgets what was added.
  void clear();
  /// Those since the last call, of training steps that have metrics and were
  /// done so often at least.
  std::vector<EpochMean> take(uint64_t leastSteps);

private:
  void begin(const StepRunner &runner);

  std::vector<EpochMean> sums;               ///< of each training step
  std::map<std::string, std::string> before; ///< of the first step, restored
};

} // namespace dlrt

#endif
