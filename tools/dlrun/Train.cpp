#include "runtime/base/AtomicFile.h"
#include "runtime/base/Numbers.h"
#include "runtime/train/StepRunner.h"
#include "tools/dlrun/Commands.h"
#include "tools/dlrun/Events.h"
#include "tools/dlrun/Process.h"
#include "tools/dlrun/Progress.h"
#include "tools/dlrun/RunOutput.h"
#include "tools/dlrun/Signals.h"
#include "tools/dlrun/StartTable.h"
#include "tools/dlrun/TraceFile.h"

#include <fmt/format.h>

#include <csignal>

using namespace dlrun;
using namespace dlrt;

namespace {

class Training {
public:
  Training(const Options &options, Session &session)
      : options(options), session(session) {}

  Expected<int> run() {
    DLRT_TRY(prepare());
    Progress progress(options, runner->totalSteps(), runner->stepsDone());
    if (output && output->evaluationDue())
      DLRT_TRY(evaluateAll());
    else if (runner->stepsDone() >= runner->totalSteps())
      talk(fmt::format("the run in '{}' is finished: {} of {} steps are done; "
                       "with a larger --epochs or --steps it goes on",
                       options.out, withCommas(runner->stepsDone()),
                       withCommas(runner->totalSteps())));
    while (runner->stepsDone() < runner->totalSteps() && !stop) {
      if (Status status = step(progress); !status.ok())
        return failed(std::move(status), progress);
      DLRT_TRY(stdoutStatus());
    }
    progress.clearLine();
    DLRT_TRY(end());
    report();
    return exitCode();
  }

private:
  Status prepare() {
    auto index = session.trainingStep();
    if (!index)
      return {Code::Usage, fmt::format("'{}' has nothing to train; dlrun eval "
                                       "runs its evaluations",
                                       options.plan)};
    RunLength length = {options.steps, options.epochs.value_or(1)};
    if (!options.out.empty()) {
      output = std::make_unique<RunOutput>(options, session);
      DLRT_TRY(output->open());
      length.done = output->startStep();
    }
    auto created = StepRunner::create(session, *index, length);
    if (!created)
      return created.takeError();
    runner = std::move(*created);
    firstStep = runner->stepsDone() + 1;
    DLRT_TRY(checkNames(options.haltOn, runner->scalars()));
    // Missing files are better found now than after the first epoch.
    if (runner->totalSteps() >= evaluationInterval())
      for (uint32_t evaluation : session.evaluationSteps())
        DLRT_TRY(session.openData(evaluation));
    std::vector<std::string> warnings;
    DLRT_TRY(session.initialiseStates());
    // A run that goes on has its weights in the checkpoint; the file it began
    // with may be gone.
    if (!output || !output->goesOn())
      DLRT_TRY(session.loadInitialWeights(warnings));
    for (const std::string &warning : warnings)
      warn(warning);
    if (output) {
      DLRT_TRY(output->begin(*runner));
      installCheckpointSignal();
    }
    reportStart(session, options, lengthText(), runner->stepsDone());
    return {};
  }

  std::string lengthText() const {
    std::string text =
        fmt::format("{} steps, {} an epoch", withCommas(runner->totalSteps()),
                    withCommas(runner->stepsPerEpoch()));
    if (runner->stepsDone() != 0)
      text += fmt::format(", {} of them done", withCommas(runner->stepsDone()));
    return text;
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
    DLRT_TRY(runner->run());
    if (runner->stepsDone() == firstStep)
      firstStepSeconds = secondsSinceStart();
    stop = stopSignal();
    Status halt =
        checkHalt(options.haltOn, runner->scalars(), runner->stepsDone());
    bool last =
        stop != 0 || !halt.ok() || runner->stepsDone() == runner->totalSteps();
    if (halt.ok())
      warnOfNotFinite(progress);
    progress.afterStep(*runner, last);
    if (output)
      output->afterStep(*runner, last);
    DLRT_TRY(std::move(halt));
    bool wanted = evaluationDue(), evaluates = stop == 0 && wanted;
    evaluationLeft = wanted && !evaluates;
    // An evaluation runs over the memory in which the metrics stand.
    if (!options.saveMetrics.empty() && (last || evaluates)) {
      auto all = runner->allMetrics();
      if (!all)
        return all.takeError();
      metrics = std::move(*all);
    }
    if (evaluates) {
      progress.clearLine();
      DLRT_TRY(evaluateAll());
    }
    if (output && stop == 0 && !last)
      output->saveIfDue(*runner);
    return {};
  }

  /// Once, and not if the user has said which of them shall stop the run: such
  /// a run seldom recovers.
  void warnOfNotFinite(Progress &progress) {
    if (warned || namesNotFinite(options.haltOn))
      return;
    const ScalarMetric *metric = firstNotFinite(runner->scalars());
    if (!metric)
      return;
    warned = true;
    progress.clearLine();
    warn(fmt::format("step {}: {} is {}; training goes on (--halt-on nan,inf "
                     "stops there)",
                     withCommas(runner->stepsDone()), metric->name,
                     metricText(*metric)));
  }

  /// The trace shows what led up to it; weights of a failed run are not saved.
  Status failed(Status status, Progress &progress) {
    progress.clearLine();
    if (Status traced = saveTrace(options, session); !traced.ok())
      warn(traced.message());
    return status;
  }

  Status evaluateAll() {
    TrainingPosition position = {runner->stepsDone(), runner->epoch()};
    std::vector<Evaluation> results;
    for (uint32_t index : session.evaluationSteps()) {
      auto result =
          evaluate(session, index, position, [] { return stopSignal() == 0; });
      if (!result)
        return result.takeError();
      stop = stopSignal();
      evaluationLeft = !result->complete;
      if (evaluationLeft)
        return {};
      reportEvaluation(options, *result, position);
      results.push_back(std::move(*result));
    }
    // A resumed run does all of them again if one is missing.
    for (const Evaluation &result : results)
      if (output)
        output->afterEvaluation(result, position);
    return {};
  }

  /// The checkpoint comes last: a run that is killed before goes on with an
  /// older one and writes the other files again.
  Status end() {
    Status saved = save();
    if (!output)
      return saved;
    Status finished = output->finish(*runner, evaluationLeft);
    return saved.ok() ? std::move(finished) : std::move(saved);
  }

  Status save() {
    if (!options.saveFinal.empty()) {
      DLRT_TRY(
          saveWeights(session.plan(), options.saveFinal, session.device()));
      talk(fmt::format("weights written to {}", options.saveFinal));
    }
    bool trained = runner->stepsDone() >= firstStep;
    if (!options.saveMetrics.empty() && !trained)
      warn(fmt::format("--save-metrics {}: nothing was written, for no step "
                       "was left to train",
                       options.saveMetrics));
    if (!options.saveMetrics.empty() && trained) {
      DLRT_TRY(saveMetrics(metrics, options.saveMetrics));
      talk(fmt::format("metrics written to {}", options.saveMetrics));
    }
    return saveTrace(options, session);
  }

  /// 75 tells a batch system: saved, start me again.
  int exitCode() const {
    if (stop == 0)
      return 0;
    return output && stop != SIGINT ? 75 : 128 + stop;
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
    if (runner->stepsDone() < firstStep)
      return; // nothing was left to do
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
  std::unique_ptr<RunOutput> output; ///< with --out
  uint64_t firstStep = 1;            ///< of this process
  double firstStepSeconds = 0;
  bool evaluationLeft = false; ///< the last step's was not finished
  bool warned = false;         ///< of a metric that is not finite
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
