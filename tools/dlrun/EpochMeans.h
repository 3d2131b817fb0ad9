// The metrics of training, averaged over an epoch.
#ifndef DLRUN_EPOCHMEANS_H
#define DLRUN_EPOCHMEANS_H

#include "runtime/train/StepRunner.h"

#include <cstdint>
#include <string>
#include <vector>

namespace dlrun {

/// Of one training step. The last batch's loss is as noisy as a batch is small;
/// people look at the mean. Batches count by their items.
struct EpochMean {
  std::string name;
  uint64_t steps = 0, items = 0;
  std::vector<dlrt::ScalarMetric> metrics; ///< sums until the epoch ends
};

class EpochMeans {
public:
  /// After each step. Allocates at the first one only.
  void add(dlrt::StepRunner &runner);
  /// Forgets what was added.
  void clear();
  /// Those since the last call, of training steps that have metrics and were
  /// done more than once.
  std::vector<EpochMean> take();

private:
  std::vector<EpochMean> sums; ///< of each training step
};

} // namespace dlrun

#endif
