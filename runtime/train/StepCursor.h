// One training step and its place in its data.
#ifndef DLRT_TRAIN_STEPCURSOR_H
#define DLRT_TRAIN_STEPCURSOR_H

#include "runtime/base/Status.h"
#include "runtime/data/Loader.h"
#include "runtime/state/Weights.h"
#include "runtime/train/ScalarMetrics.h"
#include "runtime/train/Session.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace dlrt {

/// Runs updates of one training step: micro-batches, then the update. Each
/// training step of a plan has an order of its data and a place in it.
class StepCursor {
public:
  /// Opens the step's data.
  static Expected<std::unique_ptr<StepCursor>> create(Session &session,
                                                      uint32_t step);

  /// Starts the loader behind so many updates; it reads ahead no further than
  /// `more` of them.
  Status start(uint64_t done, uint64_t more);

  /// One update: up to `accumulate` batches of one epoch. `number` counts the
  /// updates of the whole run, `runEpoch` its epochs. Allocates nothing. An
  /// update that failed has not changed the weights unless it is part of the
  /// batch's program.
  Status run(uint64_t number, uint64_t runEpoch);

  const std::string &name() const { return step.name; }
  /// Updates of an epoch, and those that are done.
  uint64_t perEpoch() const { return updatesPerEpoch; }
  uint64_t updates() const { return done; }
  uint64_t dataItems() const { return session.dataset(stepIndex).items; }
  /// Where the next batch stands.
  uint64_t nextEpoch() const { return nextBatch / loader->batchesPerEpoch(); }
  uint64_t nextInEpoch() const { return nextBatch % loader->batchesPerEpoch(); }

  /// Items the last update trained on.
  uint64_t lastItems() const { return metrics.items(); }
  /// Scalar metrics of the last update: means over its batches' items.
  const std::vector<ScalarMetric> &scalars() { return metrics.values(); }
  /// All metrics of the last update, any shape; of several micro-batches, a
  /// tensor is the last one's. To be called before anything else runs.
  Expected<std::vector<MetricValues>> allMetrics();

private:
  StepCursor(Session &session, uint32_t step);
  Expected<Report> launch(const Launch &launch);
  Status runBatch(uint64_t number, uint64_t runEpoch, uint64_t micro,
                  uint64_t groupItems);

  Session &session;
  const fb::StepT &step;
  const uint32_t stepIndex;
  std::unique_ptr<Loader> loader;
  ScalarMetrics metrics;
  uint64_t updatesPerEpoch = 0, done = 0;
  uint64_t nextBatch = 0; ///< counted over all epochs
  fb::ProgramKind lastKind = fb::ProgramKind::Full;
};

/// Updates that an epoch of `batches` takes.
uint64_t stepsOf(uint64_t batches, uint32_t accumulate);

} // namespace dlrt

#endif
