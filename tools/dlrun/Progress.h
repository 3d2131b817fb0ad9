// How a run reports its steps.
#ifndef DLRUN_PROGRESS_H
#define DLRUN_PROGRESS_H

#include "runtime/train/EpochMeans.h"
#include "runtime/train/TrainingOptions.h"
#include "tools/dlrun/Options.h"

#include <cstdint>
#include <string>
#include <vector>

namespace dlrun {

/// With --json an event for a step, on a terminal one line that is rewritten,
/// in a file a line now and then. Without --every log=N, time decides. After
/// each epoch the means over it; in text not more often than time allows.
class Progress {
public:
  Progress(const Options &options, uint64_t totalSteps, uint64_t doneBefore);

  /// After each step; `last` says that no other follows.
  void afterStep(dlrt::StepRunner &runner, bool last);
  /// So much of the time since the last report was no training.
  void leaveOut(double seconds);
  /// Takes the rewritten line away, so that other output can follow.
  void clearLine();

private:
  void afterEpoch(uint64_t step, uint64_t epoch, double now, bool last);
  void report(dlrt::StepRunner &runner, double now);
  bool due(dlrt::StepRunner &runner, double now, bool last);
  std::string line(dlrt::StepRunner &runner, double now) const;

  enum class Mode { Json, Terminal, File, None };
  Mode mode;
  const Options &options;
  uint64_t total, doneBefore;
  double interval;
  double begin;
  std::vector<double> lastReports; ///< of each training step
  double lastReport, leftOut = 0;
  uint64_t stepsAtReport = 0, items = 0, itemsAtReport = 0;
  bool lineShown = false;
  dlrt::EpochMeans means;
  double lastMeans = 0;
};

/// "0.0629", "1.25e-07"
std::string metricForPeople(double value);
/// "loss 0.0629, accuracy 0.9812"
std::string metricsForPeople(const std::vector<dlrt::ScalarMetric> &metrics,
                             const char *separator);
/// "3.69M"
std::string countForPeople(double count);

} // namespace dlrun

#endif
