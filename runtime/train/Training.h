// Trains a plan's training step: evaluations, checkpoints, logs, when to halt.
#ifndef DLRT_TRAIN_TRAINING_H
#define DLRT_TRAIN_TRAINING_H

#include "runtime/base/Status.h"
#include "runtime/train/RunOutput.h"
#include "runtime/train/Session.h"
#include "runtime/train/StepRunner.h"
#include "runtime/train/TrainingOptions.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace dlrt {

/// To be prepared, then run, once.
class Training {
public:
  /// All of them must outlive the training.
  Training(Session &session, const TrainingOptions &options,
           TrainingObserver &observer)
      : session(session), options(options), observer(observer) {}

  /// Opens data and files and sets the states. What can be refused is refused
  /// here, before anything is written.
  Status prepare();

  /// Trains until the end or the observer's wish to stop, then writes what was
  /// asked for.
  Status run();

  /// Of a training that is prepared.
  const StepRunner &steps() const { return *runner; }
  /// Whether a run's folder keeps it, so that it can go on.
  bool isKept() const { return output != nullptr; }
  /// Nothing is left to do: an earlier process did it.
  bool isFinished() const {
    return runner->stepsDone() >= runner->totalSteps() &&
           !(output && output->evaluationDue());
  }
  /// A number beyond its limit has ended it, which all ranks have seen at the
  /// same step, with nothing run ahead.
  bool wasHalted() const { return halted; }
  /// --stop-when has ended it.
  /// It was stopped by the observer.
  bool wasStopped() const { return stopped; }
  /// The first step of this process.
  uint64_t firstStep() const { return first; }

private:
  Status prepareStates();
  Status step();
  uint64_t mayRunAhead() const;
  Status stepsAndEvaluations();
  Status evaluateAll();
  Status end();
  Status saveFiles();
  Status saveKeptMetrics();
  void saveMetricsOfHalt(bool kept);
  Status keepMetrics(bool ofLast);
  std::vector<std::string> metricNames();
  Status keep(Status why);
  Status endHalted(Status why);
  Status withWayOn(Status why) const;
  Halt checkHalts();
  bool evaluates() const;
  void warnOfNoEvaluation();
  Status judge(const std::vector<Evaluation> &results,
               TrainingPosition position);
  Status reduceRates(const std::vector<Evaluation> &results);
  void stopIfWanted();
  bool evaluationInTurn() const;
  bool evaluationDue() const;
  void warnOfNotFinite();

  Session &session;
  const TrainingOptions &options;
  TrainingObserver &observer;
  std::unique_ptr<StepRunner> runner;
  std::unique_ptr<RunOutput> output; ///< with a folder
  Watch watch;
  Plateaus plateaus;
  /// What --save-metrics will write, of each training step.
  std::map<std::string, std::vector<MetricValues>> metrics;
  uint64_t first = 1;
  bool evaluationLeft = false; ///< the last step's was not finished
  bool intact = false;   ///< of a failed run: the last step's weights are good
  bool halted = false;   ///< by a number beyond its limit
  bool warned = false;   ///< of a metric that is not finite
  bool stopping = false; ///< it is to be stopped, and some steps are begun
  bool stopped = false;
  bool stoppedEarly = false;
};

} // namespace dlrt

#endif
