#include "runtime/base/AtomicFile.h"
#include "runtime/base/Numbers.h"
#include "runtime/comm/Launcher.h"
#include "runtime/train/Training.h"
#include "tools/dlrun/Commands.h"
#include "tools/dlrun/Events.h"
#include "tools/dlrun/Paths.h"
#include "tools/dlrun/Process.h"
#include "tools/dlrun/Processes.h"
#include "tools/dlrun/Progress.h"
#include "tools/dlrun/Signals.h"
#include "tools/dlrun/StartTable.h"

#include <fmt/format.h>

#include <csignal>
#include <optional>

using namespace dlrun;
using namespace dlrt;

namespace {

/// Prints what a training tells, and passes signals on.
class Console : public TrainingObserver {
public:
  Console(const Options &options, Session &session)
      : options(options), session(session) {}

  /// Of a training that is prepared.
  void begin(const Training &training) {
    const StepRunner &steps = training.steps();
    reportStart(session, options, lengthText(steps), steps.stepsDone());
    if (training.isKept() && training.isFinished())
      talk(fmt::format("the run in '{}' is finished: {} of {} steps are done; "
                       "with a larger --epochs or --steps it goes on",
                       options.out, withCommas(steps.stepsDone()),
                       withCommas(steps.totalSteps())));
    progress.emplace(options, steps.totalSteps(), steps.stepsDone());
  }

  void end(const Training &training) const {
    double seconds = secondsSinceStart();
    double waited = training.steps().waitedForData();
    uint64_t steps = training.steps().stepsDone();
    if (options.json) {
      Event end("end");
      end.field("steps", steps).field("seconds", seconds);
      end.field("resumed_at", training.firstStep() - 1);
      end.field("first_step_ms", firstStepSeconds * 1e3);
      end.field("waited_for_data_seconds", waited);
      end.field("peak_rss_bytes", peakResidentBytes());
      if (!whyStopped.empty())
        end.field("stopped_early", whyStopped);
      end.send();
      return;
    }
    if (steps < training.firstStep())
      return; // nothing was left to do
    // A fifth of the time is worth a look at how the data are read.
    bool slowData = waited > seconds / 5;
    uint64_t before = training.firstStep() - 1, own = steps - before;
    talk(fmt::format(
        "{}{} step{}{} in {}{}, the first one done after {:.0f} ms, "
        "peak memory {}",
        training.wasStopped() ? "stopped: " : "", withCommas(own),
        own == 1 ? "" : "s",
        before ? fmt::format(", {} in all,", withCommas(steps)) : "",
        humanSeconds(seconds),
        slowData ? fmt::format(" ({} of them waiting for data)",
                               humanSeconds(waited))
                 : "",
        firstStepSeconds * 1e3, humanBytes(peakResidentBytes())));
  }

  Status agree(Status own) override {
    return agreeOnData(&session, std::move(own));
  }

  bool wantsToStop() override {
    if (signal == 0)
      signal = agreedStopSignal();
    return signal != 0;
  }

  int stopSignal() const { return signal; }

  Status stepDone(StepRunner &runner, bool last) override {
    if (firstStepSeconds == 0)
      firstStepSeconds = secondsSinceStart();
    progress->afterStep(runner, last);
    return {}; // what nobody reads any more is told at the end
  }

  void evaluated(const Evaluation &result, TrainingPosition position) override {
    clearLine();
    if (progress)
      progress->leaveOut(result.seconds);
    reportEvaluation(options, result, position);
  }

  void settingChanged(const SettingValue &now) override {
    clearLine();
    talk(fmt::format("{} is {:.4g} from here on: ReduceLROnPlateau", now.name,
                     now.value));
  }

  void stoppedEarly(const std::string &why) override {
    clearLine();
    whyStopped = why;
    talk("stopped early: " + why);
  }

  void saved(const CheckpointFacts &facts, const std::string &path) override {
    if (options.json)
      Event("checkpoint")
          .field("step", facts.step)
          .field("epoch", facts.epoch)
          .field("path", path)
          .send();
  }

  void wrote(const std::string &what, const std::string &path) override {
    clearLine();
    sayWritten(options, what, path);
  }

  void warning(const std::string &text) override {
    clearLine();
    warn(text);
  }

  void clearLine() {
    if (progress)
      progress->clearLine();
  }

private:
  static std::string lengthText(const StepRunner &steps) {
    std::string text = withCommas(steps.totalSteps()) + " steps";
    if (steps.cursors().size() == 1)
      text +=
          fmt::format(", {} an epoch", withCommas(steps.first().perEpoch()));
    else
      text += fmt::format(
          " in turns, {}; an epoch is {} of '{}'", steps.turns().text(),
          withCommas(steps.first().perEpoch()), steps.first().name());
    if (steps.stepsDone() != 0)
      text += fmt::format(", {} of them done", withCommas(steps.stepsDone()));
    return text;
  }

  void talk(const std::string &text) const {
    if (!options.json && !options.quiet)
      writeStderr(text + "\n");
  }

  const Options &options;
  Session &session;
  std::optional<Progress> progress;
  double firstStepSeconds = 0;
  std::string whyStopped;
  int signal = 0; ///< that stops the run
};

TrainingOptions trainingOptions(const Options &options) {
  TrainingOptions out;
  out.steps = options.steps;
  out.epochs = options.epochs.value_or(1);
  out.logEvery = options.logEvery;
  out.evalEvery = options.evalEvery;
  out.checkpointEvery = options.checkpointEvery;
  out.checkpointSeconds = options.checkpointSeconds;
  out.turns = options.turns;
  out.haltOn = options.haltOn;
  out.keepBest = options.keepBest;
  out.stopWhen = options.stopWhen;
  out.run = {options.out,
             options.keep,
             options.command == Command::Resume || options.resumeAuto,
             !options.newPlan.empty(),
             options.arguments,
             lengthOption(options),
             options.told,
             options.newSettings,
             options.newTurns,
             options.from};
  out.saveFinal = options.saveFinal;
  out.saveMetrics = options.saveMetrics;
  out.trace = options.trace;
  return out;
}

/// 75 tells a batch system: saved, start me again.
int exitCode(const Training &training, int signal) {
  if (!training.wasStopped())
    return 0;
  return training.isKept() && signal != SIGINT ? 75 : 128 + signal;
}

} // namespace

Expected<int> dlrun::runTrain(const Options &options) {
  surviveLostOutputs();
  if (!options.out.empty() && !isWatched())
    installCheckpointSignal(); // before data are read, which takes a while
  // Found out now, not after hours of training.
  DLRT_TRY(checkOutputs(options));
  for (const std::string &path : {options.saveFinal, options.saveMetrics})
    if (!path.empty())
      DLRT_TRY(checkWritable(path));
  auto session = openSession(options);
  if (!session)
    return session.takeError();
  Console console(options, **session);
  TrainingOptions wanted = trainingOptions(options);
  Training training(**session, wanted, console);
  DLRT_TRY(checkOutputsAgainstData(options, **session));
  DLRT_TRY(training.prepare());
  console.begin(training);
  Status status = training.run();
  console.clearLine();
  if (training.wasHalted())
    endTogether();
  DLRT_TRY(std::move(status));
  console.end(training);
  return exitCode(training, console.stopSignal());
}
