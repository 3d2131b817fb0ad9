// One training step and its place in its data.
#ifndef DLRT_TRAIN_STEPCURSOR_H
#define DLRT_TRAIN_STEPCURSOR_H

#include "runtime/base/Status.h"
#include "runtime/data/Loader.h"
#include "runtime/state/Weights.h"
#include "runtime/train/ScalarMetrics.h"
#include "runtime/train/Session.h"
#include "runtime/train/UnderWay.h"

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
  ///
  /// Launches of up to `ahead` updates behind it are begun, too, if the device
  /// runs ahead. This must be the run's only training step then, and until
  /// they have been run, nothing of the device may be looked at.
  Status run(uint64_t number, uint64_t runEpoch, uint64_t ahead = 0);
  /// Of run() that failed: for want of a batch, before it had changed anything.
  /// Then it does not count.
  bool failedToBegin() const { return hadNoBatch; }
  /// Updates that have been begun and are yet to be run.
  uint64_t begun() const { return begunUpdates - done + (micro != 0); }
  /// Waits for all that has been begun, and forgets it: after a failure.
  void abandon();

  const std::string &name() const { return step.name; }
  /// Updates of an epoch, and those that are done.
  uint64_t perEpoch() const { return updatesPerEpoch; }
  uint64_t updates() const { return done; }
  /// How long it has waited for batches, in seconds.
  double waitedForData() const { return loader->waited(); }
  uint64_t dataItems() const { return session.dataset(stepIndex).items; }
  uint64_t batchSize() const {
    return session.plan().datasets[step.dataset]->batch_size;
  }
  uint64_t accumulate() const { return step.accumulate; }
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
  /// Of a launch under way.
  struct Part {
    fb::ProgramKind kind;
    uint64_t items; ///< of its batch
    bool isLast;    ///< of its update
  };
  Status beginNext();
  Expected<bool> finishOldest();

  Session &session;
  const fb::StepT &step;
  const uint32_t stepIndex;
  std::unique_ptr<Loader> loader;
  ScalarMetrics metrics;
  uint64_t updatesPerEpoch = 0, done = 0;
  uint64_t nextBatch = 0; ///< counted over all epochs

  // What has been begun, which may be ahead of the above.
  uint64_t begunUpdates = 0, begunBatches = 0;
  uint64_t group = 0, groupItems = 0, micro = 0; ///< of the one being begun
  uint64_t runNumber = 0, runEpoch = 0;          ///< of the one being run
  UnderWay<Part> underWay;
  Status notBegun; ///< why the next launch could not be begun
  bool hadNoBatch = false;
  fb::ProgramKind lastKind = fb::ProgramKind::Full;
};

/// Updates that an epoch of `batches` takes.
uint64_t stepsOf(uint64_t batches, uint32_t accumulate);

} // namespace dlrt

#endif
