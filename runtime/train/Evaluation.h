// Runs an evaluation over its whole data set.
#ifndef DLRT_TRAIN_EVALUATION_H
#define DLRT_TRAIN_EVALUATION_H

#include "runtime/base/Status.h"
#include "runtime/train/ScalarMetrics.h"
#include "runtime/train/Session.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace dlrt {

struct Evaluation {
  std::string name;
  uint64_t items = 0;
  double seconds = 0;
  bool complete = true;
  std::vector<ScalarMetric> metrics; ///< means over the items
};

/// Where training stands, for what depends on it.
struct TrainingPosition {
  uint64_t step = 0, epoch = 0;
};

/// Opens the step's data if need be. `goOn` is asked before each batch; if it
/// says no, the result is incomplete.
Expected<Evaluation> evaluate(Session &session, uint32_t step,
                              TrainingPosition position,
                              const std::function<bool()> &goOn);

} // namespace dlrt

#endif
