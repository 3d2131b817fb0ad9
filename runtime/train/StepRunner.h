// Runs training steps: micro-batches, then the update.
#ifndef DLRT_TRAIN_STEPRUNNER_H
#define DLRT_TRAIN_STEPRUNNER_H

#include "runtime/base/Status.h"
#include "runtime/data/Loader.h"
#include "runtime/train/ScalarMetrics.h"
#include "runtime/train/Session.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace dlrt {

/// How long to train: a number of steps, or else of epochs.
struct RunLength {
  std::optional<uint64_t> steps;
  uint64_t epochs = 1;
  uint64_t done = 0; ///< steps of it that an earlier process has run
};

class StepRunner {
public:
  /// Opens the step's data and starts its loader, which reads ahead no further
  /// than the run is long.
  static Expected<std::unique_ptr<StepRunner>>
  create(Session &session, uint32_t step, const RunLength &length);

  /// Runs one step: up to `accumulate` batches of one epoch and their update.
  /// Allocates nothing. A step that failed has not updated the weights unless
  /// its update is part of the batch's program.
  Status run();

  uint64_t totalSteps() const { return total; }
  uint64_t stepsPerEpoch() const { return perEpoch; }
  uint64_t stepsDone() const { return done; }
  /// Where the next batch stands.
  uint64_t nextEpoch() const { return nextBatch / loader->batchesPerEpoch(); }
  uint64_t nextInEpoch() const { return nextBatch % loader->batchesPerEpoch(); }
  /// Epoch of the last step, and whether it was the epoch's last.
  uint64_t epoch() const { return currentEpoch; }
  bool epochEnded() const { return atEpochEnd; }
  /// Items the last step trained on.
  uint64_t lastItems() const { return metrics.items(); }
  /// Scalar metrics of the last step: means over its batches' items.
  const std::vector<ScalarMetric> &scalars() { return metrics.values(); }
  /// All metrics of the last step, any shape; of several micro-batches, a
  /// tensor is the last one's. To be called before anything else runs.
  Expected<std::vector<MetricValues>> allMetrics();

private:
  StepRunner(Session &session, uint32_t step);
  Expected<Report> launch(const Launch &launch);
  Status runBatch(uint64_t micro, uint64_t groupItems);

  Session &session;
  const fb::StepT &step;
  const uint32_t stepIndex;
  std::unique_ptr<Loader> loader;
  ScalarMetrics metrics;
  uint64_t perEpoch = 0, total = 0;
  uint64_t done = 0;
  uint64_t nextBatch = 0; ///< counted over all epochs
  uint64_t currentEpoch = 0;
  bool atEpochEnd = false;
  fb::ProgramKind lastKind = fb::ProgramKind::Full;
};

/// Steps that an epoch of `batches` takes.
uint64_t stepsOf(uint64_t batches, uint32_t accumulate);

} // namespace dlrt

#endif
