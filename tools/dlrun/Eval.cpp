#include "runtime/base/AtomicFile.h"
#include "runtime/base/Numbers.h"
#include "runtime/comm/Launcher.h"
#include "runtime/exec/Cpu.h"
#include "runtime/train/TraceFile.h"
#include "tools/dlrun/Commands.h"
#include "tools/dlrun/Device.h"
#include "tools/dlrun/Events.h"
#include "tools/dlrun/Paths.h"
#include "tools/dlrun/Process.h"
#include "tools/dlrun/Processes.h"
#include "tools/dlrun/Progress.h"
#include "tools/dlrun/Signals.h"
#include "tools/dlrun/StartTable.h"

#include <fmt/format.h>

#include <algorithm>

using namespace dlrun;
using namespace dlrt;

/// More threads than this only wait for each other and take memory.
static unsigned threadsToUse(const Options &options) {
  unsigned cores = availableCores();
  auto launched = launchedAs();
  if (options.threads == 0) // the processes of a host share its cores
    return std::max(1u, cores / (launched ? launched->here : 1));
  unsigned most = std::max(64u, 4 * cores);
  if (options.threads <= most)
    return options.threads;
  warn(fmt::format("--threads {}: there {} {} core{}, so {} threads run",
                   options.threads, cores == 1 ? "is" : "are", cores,
                   cores == 1 ? "" : "s", most));
  return most;
}

static bool hasWeights(const fb::PlanT &plan) {
  return std::ranges::any_of(
      plan.states, [](const auto &state) { return isWeight(*state); });
}

Status dlrun::checkWeightsNamed(const Options &options, const fb::PlanT &plan) {
  if (!hasWeights(plan) || !options.init.empty())
    return {};
  return {Code::Usage,
          fmt::format("{}: with which weights? --init FILE.safetensors, or the "
                      "folder of a run",
                      commandName(options.command))};
}

Status dlrun::beginStates(Session &session) {
  std::vector<std::string> warnings;
  DLRT_TRY(session.beginStates(warnings));
  for (const std::string &note : session.takeNotes())
    warn(note);
  for (const std::string &warning : warnings)
    warn(warning);
  return {};
}

Expected<std::unique_ptr<Session>> dlrun::openSession(const Options &options,
                                                      bool synthetic) {
  if (!options.trace.empty()) // found out now, not after the run
    DLRT_TRY(checkWritable(options.trace));
  SessionOptions session;
  session.threads = threadsToUse(options);
  session.isa = options.isa;
  session.ownKernels = options.ownKernels;
  if (options.flushDenormals)
    session.denormals = Denormals::Flush;
  session.seed = options.seed;
  session.shuffle = !options.noShuffle;
  session.dropLast = options.dropLast;
  session.modelFolder = options.modelFolder;
  session.synthetic = synthetic;
  session.trace = !options.trace.empty();
  session.checks.poison = options.poison;
  session.checks.anomalies = options.detectAnomaly;
  session.checks.orderSeed = options.orderSeed;
  session.init = options.init;
  session.initPartial = options.initPartial;
  session.settings = options.settings;
  session.data = options.data;
  session.device = deviceFactory();
  session.wantedRanks = options.ranks;
  session.link = options.link;
  Expected<LoadedPlan> plan = readPlan(options.plan);
  if (Processes *processes = Processes::current()) {
    DLRT_TRY(processes->agreeOnPlan(options, plan));
    session.device = processes->device(session.device);
    const Transport &transport = processes->transport();
    session.transport = &processes->transport();
    session.ranks = Ranks{transport.rank(), 1, transport.size()};
  }
  if (!plan)
    return plan.takeError();
  return Session::open(std::move(*plan), options.plan, session);
}

void dlrun::reportEvaluation(const Options &options, const Evaluation &result,
                             TrainingPosition position) {
  if (options.json) {
    Event("eval")
        .field("name", result.name)
        .field("step", position.step)
        .field("epoch", position.epoch)
        .field("seconds", secondsSinceStart())
        .field("eval_seconds", result.seconds)
        .metrics(result.metrics)
        .send();
    return;
  }
  std::string place = position.step == 0
                          ? ""
                          : fmt::format("epoch {}, step {}; ", position.epoch,
                                        withCommas(position.step));
  writeStdout(fmt::format("{}: {} ({}{} items, {})\n", result.name,
                          metricsForPeople(result.metrics, ", "), place,
                          withCommas(result.items),
                          humanSeconds(result.seconds)));
}

Status dlrun::saveTrace(const Options &options, Session &session) {
  if (options.trace.empty())
    return {};
  DLRT_TRY(writeTrace(session, options.trace));
  sayWritten(options, "trace", options.trace);
  return {};
}

void dlrun::sayWritten(const Options &options, const std::string &what,
                       const std::string &path) {
  if (!options.json && !options.quiet)
    writeStderr(
        fmt::format("{} written to {}{}\n", what, path,
                    what == "trace" ? "; ui.perfetto.dev shows it" : ""));
}

Expected<int> dlrun::runEval(const Options &given) {
  auto found = withRunFolder(given);
  if (!found)
    return found.takeError();
  const Options &options = *found;
  DLRT_TRY(checkOutputs(options));
  auto opened = openSession(options);
  if (!opened)
    return opened.takeError();
  Session &session = **opened;
  std::vector<uint32_t> steps = session.evaluationSteps();
  if (steps.empty())
    return Status(Code::Usage, fmt::format("'{}' has no evaluation: the model "
                                           "has no p.eval()",
                                           options.plan));
  Status ready;
  for (uint32_t step : steps)
    if (ready.ok())
      ready = session.openData(step);
  DLRT_TRY(agreeOnData(&session, std::move(ready)));
  DLRT_TRY(checkOutputsAgainstData(options, session));
  DLRT_TRY(beginStates(session));
  if (options.init.empty() && hasWeights(session.plan()))
    warn("without --init FILE the weights are those that training begins with");
  reportStart(session, options, "");
  int signal = 0;
  for (uint32_t step : steps) {
    auto result = evaluate(session, step, {}, [&] {
      signal = signal != 0 ? signal : agreedStopSignal();
      return signal == 0;
    });
    if (!result)
      return result.takeError();
    if (!result->complete) {
      DLRT_TRY(saveTrace(options, session));
      return 128 + signal;
    }
    reportEvaluation(options, *result, {});
  }
  DLRT_TRY(saveTrace(options, session));
  if (options.json)
    Event("end")
        .field("steps", 0)
        .field("seconds", secondsSinceStart())
        .field("peak_rss_bytes", peakResidentBytes())
        .send();
  return 0;
}
