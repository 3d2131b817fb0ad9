// How a training is to run, and whom it tells.
#ifndef DLRT_TRAIN_TRAININGOPTIONS_H
#define DLRT_TRAIN_TRAININGOPTIONS_H

#include "runtime/state/Checkpoint.h"
#include "runtime/train/Evaluation.h"
#include "runtime/train/HaltOn.h"
#include "runtime/train/StepRunner.h"
#include "runtime/train/Watch.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dlrt {

/// The folder that makes a training a run, which can go on.
struct RunOptions {
  std::string folder;  ///< empty: none
  uint64_t keep = 3;   ///< checkpoints; 0: all
  bool goesOn = false; ///< if the folder holds a run
  /// Under a plan that need not be the run's, if it has the same states.
  bool otherPlan = false;
  /// What the record shall say for `dlrun resume`: its arguments, and the
  /// length of this process as one of them ("--epochs=3").
  std::vector<std::string> arguments;
  std::string length;
  /// The same, as told to it by processes that resumed it, this one included.
  std::vector<std::string> told = {};
  /// Values that go before those of the checkpoint.
  std::vector<SettingValue> settings;
  /// Turns that go before those of the checkpoint, or none.
  std::vector<TurnWish> turns;
  /// The step whose checkpoint it goes on from, if not from the newest one.
  std::optional<uint64_t> from;
};

struct TrainingOptions {
  std::optional<uint64_t> steps; ///< instead of epochs
  uint64_t epochs = 1;
  /// Steps between two; 0: never. Without a number, logs and checkpoints come
  /// now and then, evaluations after each epoch.
  std::optional<uint64_t> logEvery, evalEvery, checkpointEvery;
  std::optional<double> checkpointSeconds; ///< between two, without a number
  std::vector<TurnWish> turns; ///< of several training steps; none: one each
  std::vector<HaltCondition> haltOn;
  std::optional<Goal> keepBest; ///< best.safetensors in the run's folder
  std::optional<StopCondition> stopWhen;
  RunOptions run;
  /// Files to write in the end, or empty.
  std::string saveFinal, saveMetrics, trace;
};

/// Is told what happens; does nothing by itself.
class TrainingObserver {
public:
  virtual ~TrainingObserver() = default;

  /// Asked after each step and before each batch of an evaluation: whether to
  /// end now, with everything saved.
  virtual bool wantsToStop() { return false; }

  /// Asked before anything is written, with what this process would be refused
  /// for. Where several run the plan, all must come to the same verdict.
  virtual Status agree(Status own) { return own; }

  /// After each step; `last` says that no other follows. An error ends the
  /// training as it stands.
  virtual Status stepDone(StepRunner &, bool /*last*/) { return {}; }
  virtual void evaluated(const Evaluation &, TrainingPosition) {}
  /// By a scheduler that looks at evaluations.
  virtual void settingChanged(const SettingValue & /*now*/) {}
  /// Training ends before its time, as --stop-when wants.
  virtual void stoppedEarly(const std::string & /*why*/) {}
  virtual void saved(const CheckpointFacts &, const std::string & /*path*/) {}
  /// A file that was asked for: "weights", "metrics", "trace".
  virtual void wrote(const std::string & /*what*/,
                     const std::string & /*path*/) {}
  /// Something that does not end the training.
  virtual void warning(const std::string & /*text*/) {}
};

/// Whether a step's turn has come: each `every` steps, or without a number the
/// first, the last, and one after each pause.
bool reportDue(const std::optional<uint64_t> &every, uint64_t step, bool first,
               bool last, bool afterPause);

} // namespace dlrt

#endif
