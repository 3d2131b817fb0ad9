// Runs a plan's training steps, in turns where there are several.
#ifndef DLRT_TRAIN_STEPRUNNER_H
#define DLRT_TRAIN_STEPRUNNER_H

#include "runtime/base/Status.h"
#include "runtime/train/Session.h"
#include "runtime/train/StepCursor.h"
#include "runtime/train/Turns.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dlrt {

/// How long to train: a number of steps, or else of epochs.
struct RunLength {
  std::optional<uint64_t> steps;
  uint64_t epochs = 1;
  uint64_t done = 0; ///< steps of it that an earlier process has run
  /// Of these, how many each training step ran, by its name; for a plan with
  /// several.
  std::map<std::string, uint64_t> updates = {};
  uint64_t place = 0; ///< of the next one in its round of turns
};

/// A step of the run is an update of the training step whose turn it is. Epochs
/// of the run are those of the first of them; one lasts until its next begins.
class StepRunner {
public:
  /// Opens the steps' data and starts their loaders, which read ahead no
  /// further than the run is long.
  static Expected<std::unique_ptr<StepRunner>>
  create(Session &session, const RunLength &length,
         const std::vector<TurnWish> &wishes = {});

  /// Runs one step: up to `accumulate` batches of one epoch and their update.
  /// Up to `ahead` later ones may be begun with it, and until they have been
  /// run nothing of the device may be looked at.
  Status run(uint64_t ahead = 0);
  /// Of run() that failed: nothing has changed, and the step does not count.
  bool failedToBegin() const { return steps[turn]->failedToBegin(); }
  /// Steps that have been begun and are yet to be run.
  uint64_t begun() const { return steps[turn]->begun(); }
  /// How long steps have waited for batches, in seconds. Those that ran
  /// meanwhile count as waiting, too.
  double waitedForData() const;
  /// Waits for what has been begun: after a failure.
  void abandon() { steps[turn]->abandon(); }

  uint64_t totalSteps() const { return total; }
  uint64_t stepsDone() const { return done; }
  /// Epoch of the last step, and whether it was the epoch's last.
  uint64_t epoch() const { return currentEpoch; }
  bool epochEnded() const;

  const Turns &turns() const { return schedule; }
  /// Of the next step, in its round.
  uint64_t place() const { return nextPlace; }
  /// All training steps, in the order of their turns.
  const std::vector<std::unique_ptr<StepCursor>> &cursors() const {
    return steps;
  }
  const StepCursor &first() const { return *steps.front(); }

  /// Which of `cursors` the last step was one of.
  size_t lastTurn() const { return turn; }
  StepCursor &last() { return *steps[turn]; }
  /// Its name where there are several training steps, otherwise empty.
  const std::string &lastName() const {
    static const std::string none;
    return steps.size() < 2 ? none : steps[turn]->name();
  }
  uint64_t lastItems() const { return steps[turn]->lastItems(); }
  const std::vector<ScalarMetric> &scalars() const {
    return steps[turn]->scalars();
  }

private:
  explicit StepRunner(Turns turns) : schedule(std::move(turns)) {}
  Status setDone(const RunLength &length);

  Turns schedule;
  std::vector<std::unique_ptr<StepCursor>> steps;
  uint64_t total = 0, done = 0, nextPlace = 0, currentEpoch = 0;
  size_t turn = 0;
};

} // namespace dlrt

#endif
