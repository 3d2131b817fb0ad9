// What a run leaves in its folder (--out): checkpoints and logs.
#ifndef DLRUN_RUNOUTPUT_H
#define DLRUN_RUNOUTPUT_H

#include "runtime/base/Status.h"
#include "runtime/state/Checkpoint.h"
#include "runtime/train/Evaluation.h"
#include "runtime/train/RunFolder.h"
#include "runtime/train/ScalarLog.h"
#include "runtime/train/Session.h"
#include "runtime/train/StepRunner.h"
#include "tools/dlrun/Options.h"

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>

namespace dlrun {

/// To be opened before the runner is made and begun when all is ready to train,
/// so that a run that is refused leaves nothing behind.
class RunOutput {
public:
  RunOutput(const Options &options, dlrt::Session &session)
      : options(options), session(session) {}
  ~RunOutput();

  /// Looks for a run in the folder and, if it is to go on, for its newest
  /// checkpoint.
  dlrt::Status open();
  /// Steps that have been done.
  uint64_t startStep() const { return start ? start->facts.step : 0; }
  /// The states come from a checkpoint.
  bool goesOn() const { return start.has_value(); }
  /// The evaluation after the last of them is still to come.
  bool evaluationDue() const { return start && start->facts.evaluationDue; }
  /// Sets the states from the checkpoint, if there is one, and creates or opens
  /// all files.
  dlrt::Status begin(const dlrt::StepRunner &runner);

  /// Logs a step if its turn has come.
  void afterStep(dlrt::StepRunner &runner, bool last);
  void afterEvaluation(const dlrt::Evaluation &result,
                       dlrt::TrainingPosition position);
  /// Writes a checkpoint, if its turn has come, while training goes on. One
  /// that fails gives a warning: the ones before are still there.
  void saveIfDue(dlrt::StepRunner &runner);
  /// The last checkpoint of this process, on the disk when this returns.
  dlrt::Status finish(dlrt::StepRunner &runner, bool evaluationDue);

private:
  dlrt::Status checkFits(const dlrt::CheckpointFacts &facts,
                         const std::string &path) const;
  dlrt::Status checkPosition(const dlrt::StepRunner &runner) const;
  dlrt::Status checkRecordable() const;
  dlrt::Status checkFree() const;
  dlrt::Status openNew();
  dlrt::Status keepRecord();
  bool checkpointDue(const dlrt::StepRunner &runner) const;
  void startSaving(const dlrt::StepRunner &runner, bool evaluationDue);
  /// In the saver's thread: touches nothing that training changes.
  dlrt::Status write(const dlrt::CheckpointFacts &facts, bool syncLogs) const;
  /// Waits for a save that is under way and reports it.
  dlrt::Status endSaving();
  void noteLog(const dlrt::Status &status);

  const Options &options;
  dlrt::Session &session;
  std::optional<dlrt::RunFolder> folder;
  std::optional<dlrt::CheckpointFile> start;
  std::optional<dlrt::ScalarLog> log;
  dlrt::Status logStatus;
  double lastLog = 0, lastFlush = 0, lastSave = 0;

  // A save under way.
  std::unique_ptr<dlrt::StateSnapshot> snapshot;
  std::thread saver;
  std::atomic<bool> saved = false; ///< the thread has done its work
  dlrt::CheckpointFacts savedFacts;
  dlrt::Status saveStatus;
};

} // namespace dlrun

#endif
