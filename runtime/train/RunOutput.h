// What a run leaves in its folder (--out): checkpoints and logs.
#ifndef DLRT_TRAIN_RUNOUTPUT_H
#define DLRT_TRAIN_RUNOUTPUT_H

#include "runtime/base/Status.h"
#include "runtime/state/Checkpoint.h"
#include "runtime/train/Evaluation.h"
#include "runtime/train/Plateaus.h"
#include "runtime/train/RunFolder.h"
#include "runtime/train/SaveClock.h"
#include "runtime/train/ScalarLog.h"
#include "runtime/train/Session.h"
#include "runtime/train/StepRunner.h"
#include "runtime/train/TrainingOptions.h"

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>

namespace dlrt {

/// To be opened before the runner is made and begun when all is ready to train,
/// so that a run that is refused leaves nothing behind. Of several processes
/// rank 0 has the folder; the others read the checkpoint that it names, and
/// take part when states are put together.
class RunOutput {
public:
  RunOutput(const TrainingOptions &options, Session &session,
            TrainingObserver &observer, Watch &watch, Plateaus &plateaus)
      : options(options), run(options.run), session(session),
        observer(observer), watch(watch), plateaus(plateaus),
        together(session.together()) {}
  ~RunOutput();

  /// Looks for a run in the folder and, if it is to go on, for its newest
  /// checkpoint.
  Status open();
  /// Steps that have been done.
  uint64_t startStep() const { return start ? start->facts.step : 0; }
  /// The states come from a checkpoint.
  bool goesOn() const { return start.has_value(); }
  /// Of a run that goes on: what its training steps have done, and their turns
  /// where nobody has said others now.
  Status goOn(RunLength &length, std::vector<TurnWish> &turns) const;
  /// The evaluation after the last of them is still to come.
  bool evaluationDue() const { return start && start->facts.evaluationDue; }
  /// Sets the states from the checkpoint, if there is one.
  Status restore(const StepRunner &runner);
  /// Creates or opens all files. What `isOver` by the length it is given keeps
  /// the one it has, to which it goes on another time.
  Status begin(bool isOver);

  /// Logs a step if its turn has come.
  void afterStep(StepRunner &runner, bool last);
  void afterEvaluation(const Evaluation &result, TrainingPosition position);
  /// Writes a checkpoint, if its turn has come, while training goes on. One
  /// that fails gives a warning: the ones before are still there. An error is
  /// one of the run.
  Status saveIfDue(StepRunner &runner);
  /// The step of a checkpoint that is kept when a metric is NaN or infinite.
  std::optional<uint64_t> newestFinite() const {
    return folder ? folder->newestFinite() : std::nullopt;
  }
  /// Writes best.safetensors, while training goes on.
  Status saveBest(StepRunner &runner);
  /// The last checkpoint of this process, on the disk when this returns. Where
  /// `keepOlder`, all others stay.
  Status finish(StepRunner &runner, bool evaluationDue, bool keepOlder = false);

private:
  Status find();
  Status findWithFirst();
  Status setNewerAside() const;
  Status checkPlan(const RunRecord &record) const;
  Status checkFits(const CheckpointFacts &facts, const RunRecord &record,
                   const std::string &path) const;
  Status checkPosition(const StepRunner &runner) const;
  Status checkPosition(const StepCursor &cursor) const;
  void warnOfNotFinite() const;
  void warnOfOtherData() const;
  Status restoreSettings();
  Status checkRecordable() const;
  Status checkFree() const;
  Status openNew();
  Status keepRecord(bool isOver);
  Expected<bool> checkpointDue(const StepRunner &runner);
  CheckpointFacts factsNow(const StepRunner &runner, bool evaluationDue) const;
  Status startSaving(const StepRunner &runner, bool evaluationDue,
                     const std::string &path);
  Status collect();
  /// In the saver's thread: touches nothing that training changes.
  Status write(bool syncLogs);
  /// Waits for a save that is under way and reports it.
  Status endSaving();
  void noteLog(const Status &status);

  const TrainingOptions &options;
  const RunOptions &run;
  Session &session;
  TrainingObserver &observer;
  Watch &watch;       ///< goes into checkpoints, and comes from them
  Plateaus &plateaus; ///< as well
  const Together together;
  std::optional<RunFolder> folder;
  std::optional<CheckpointFile> start;
  std::optional<ScalarLog> log;
  Status logStatus;
  std::string sampled;          ///< of the training data, as they were opened
  std::vector<double> lastLogs; ///< of each training step
  EpochMeans means;
  double lastFlush = 0;
  SaveClock saveClock{together};
  bool prunes = true; ///< older checkpoints, once one is written

  // A save under way. One process copies its states and puts them together
  // beside training. Several put them together at once, each whole tensor on
  // its way into the file, and what is left is to wait for the disk.
  std::unique_ptr<StateSnapshot> snapshot;
  std::optional<CheckpointWriter> writer;
  std::thread saver;
  std::atomic<bool> saved = false; ///< the thread has done its work
  CheckpointFacts savedFacts;
  std::string savedPath;
  std::string savedBest; ///< of the weights of --keep-best: how good they are
  Status saveStatus;
};

} // namespace dlrt

#endif
