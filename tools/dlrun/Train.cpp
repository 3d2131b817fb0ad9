#include "runtime/base/AtomicFile.h"
#include "runtime/base/Numbers.h"
#include "runtime/train/StepRunner.h"
#include "tools/dlrun/Commands.h"
#include "tools/dlrun/Events.h"
#include "tools/dlrun/Process.h"
#include "tools/dlrun/Progress.h"
#include "tools/dlrun/Signals.h"
#include "tools/dlrun/StartTable.h"
#include "tools/dlrun/TraceFile.h"

#include <fmt/format.h>

#include <cmath>

using namespace dlrun;
using namespace dlrt;

namespace {

class Training {
public:
  Training(const Options &options, Session &session)
      : options(options), session(session) {}

  Expected<int> run() {
    DLRT_TRY(prepare());
    Progress progress(options, runner->totalSteps());
    while (runner->stepsDone() < runner->totalSteps() && !stop) {
      DLRT_TRY(step(progress));
      DLRT_TRY(stdoutStatus());
    }
    progress.clearLine();
    DLRT_TRY(save());
    report();
    return stop == 0 ? 0 : 128 + stop;
  }

private:
  Status prepare() {
    auto index = session.trainingStep();
    if (!index)
      return {Code::Usage, fmt::format("'{}' has nothing to train; dlrun eval "
                                       "runs its evaluations",
                                       options.plan)};
    auto created = StepRunner::create(
        session, *index, {options.steps, options.epochs.value_or(1)});
    if (!created)
      return created.takeError();
    runner = std::move(*created);
    // Missing files are better found now than after the first epoch.
    if (runner->totalSteps() >= evaluationInterval())
      for (uint32_t evaluation : session.evaluationSteps())
        DLRT_TRY(session.openData(evaluation));
    std::vector<std::string> warnings;
    DLRT_TRY(session.initialiseStates(warnings));
    for (const std::string &warning : warnings)
      warn(warning);
    reportStart(session, options,
                fmt::format("{} steps, {} an epoch",
                            withCommas(runner->totalSteps()),
                            withCommas(runner->stepsPerEpoch())));
    return {};
  }

  uint64_t evaluationInterval() const {
    uint64_t every = options.evalEvery.value_or(runner->stepsPerEpoch());
    return every == 0 ? ~uint64_t(0) : every;
  }

  bool evaluationDue() const {
    if (!options.evalEvery)
      return runner->epochEnded();
    return runner->stepsDone() % evaluationInterval() == 0;
  }

  Status step(Progress &progress) {
    if (Status status = runner->run(); !status.ok()) {
      progress.clearLine();
      return status;
    }
    if (runner->stepsDone() == 1)
      firstStepSeconds = secondsSinceStart();
    stop = stopSignal();
    bool last = stop != 0 || runner->stepsDone() == runner->totalSteps();
    progress.afterStep(*runner, last);
    if (Status status = checkFinite(); !status.ok()) {
      progress.clearLine();
      return status;
    }
    bool evaluates = stop == 0 && evaluationDue();
    // An evaluation runs over the memory in which the metrics stand.
    if (!options.saveMetrics.empty() && (last || evaluates))
      metrics = runner->allMetrics();
    if (!evaluates)
      return {};
    progress.clearLine();
    return evaluateAll();
  }

  Status checkFinite() {
    if (!options.haltOnNan && !options.haltOnInf)
      return {};
    for (const ScalarMetric &metric : runner->scalars())
      if ((options.haltOnNan && std::isnan(metric.value)) ||
          (options.haltOnInf && std::isinf(metric.value)))
        return {Code::Training, fmt::format("step {}: {} is {} (--halt-on)",
                                            runner->stepsDone(), metric.name,
                                            metricText(metric))};
    return {};
  }

  Status evaluateAll() {
    TrainingPosition position = {runner->stepsDone(), runner->epoch()};
    for (uint32_t index : session.evaluationSteps()) {
      auto result =
          evaluate(session, index, position, [] { return stopSignal() == 0; });
      if (!result)
        return result.takeError();
      if (result->complete)
        reportEvaluation(options, *result, position);
      stop = stopSignal();
    }
    return {};
  }

  Status save() {
    if (!options.saveFinal.empty()) {
      DLRT_TRY(
          saveWeights(session.plan(), options.saveFinal, session.addresses()));
      talk(fmt::format("weights written to {}", options.saveFinal));
    }
    if (!options.saveMetrics.empty()) {
      DLRT_TRY(saveMetrics(metrics, options.saveMetrics));
      talk(fmt::format("metrics written to {}", options.saveMetrics));
    }
    return saveTrace(options, session);
  }

  void talk(const std::string &text) const {
    if (!options.json && !options.quiet)
      writeStderr(text + "\n");
  }

  void report() const {
    double seconds = secondsSinceStart();
    if (options.json) {
      Event end("end");
      end.field("steps", runner->stepsDone()).field("seconds", seconds);
      end.field("first_step_ms", firstStepSeconds * 1e3);
      end.field("peak_rss_bytes", peakResidentBytes()).send();
      return;
    }
    talk(fmt::format("{}{} steps in {}, the first one done after {:.0f} ms, "
                     "peak memory {}",
                     stop == 0 ? "" : "stopped: ",
                     withCommas(runner->stepsDone()), humanSeconds(seconds),
                     firstStepSeconds * 1e3, humanBytes(peakResidentBytes())));
  }

  const Options &options;
  Session &session;
  std::unique_ptr<StepRunner> runner;
  std::vector<MetricValues> metrics;
  double firstStepSeconds = 0;
  int stop = 0;
};

} // namespace

Expected<int> dlrun::runTrain(const Options &options) {
  // Found out now, not after hours of training.
  for (const std::string &path : {options.saveFinal, options.saveMetrics})
    if (!path.empty())
      DLRT_TRY(checkWritable(path));
  auto session = openSession(options);
  if (!session)
    return session.takeError();
  return Training(options, **session).run();
}
