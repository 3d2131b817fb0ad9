#include "runtime/base/Numbers.h"
#include "runtime/train/StepRunner.h"
#include "tools/dlrun/Allocations.h"
#include "tools/dlrun/Commands.h"
#include "tools/dlrun/Events.h"
#include "tools/dlrun/Paths.h"
#include "tools/dlrun/Process.h"
#include "tools/dlrun/Processes.h"
#include "tools/dlrun/Signals.h"
#include "tools/dlrun/StartTable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace dlrun;
using namespace dlrt;

namespace {

constexpr uint64_t warmupSteps = 10;
constexpr int timeIsUp = 1000; ///< no signal
/// Of longer runs, the first steps give the percentiles.
constexpr size_t maxSamples = size_t(1) << 20;

struct Measurement {
  std::vector<float> samples; ///< seconds of a step
  uint64_t steps = 0, items = 0, allocations = 0;
  double seconds = 0;
  std::vector<uint64_t> tiles;

  double percentileMs(double share) {
    if (samples.empty())
      return 0;
    size_t at = static_cast<size_t>(
        share * static_cast<double>(samples.size() - 1) + 0.5);
    std::nth_element(samples.begin(), samples.begin() + at, samples.end());
    return double(samples[at]) * 1e3;
  }
};

Status measure(Session &session, StepRunner &runner, const Options &options,
               Measurement &out) {
  for (uint64_t s = 0; s < warmupSteps; ++s)
    DLRT_TRY(runner.run());
  uint64_t steps = options.steps.value_or(~uint64_t(0));
  double limit = options.steps ? HUGE_VAL : options.seconds;
  out.samples.reserve(std::min<uint64_t>(steps, maxSamples));
  std::vector<uint64_t> before = session.device().tilesPerThread();
  uint64_t allocations = allocationCount();
  double begin = secondsSinceStart(), last = begin;
  // All ranks end after the same step: rank 0's clock counts.
  for (int end = 0; out.steps < steps && end == 0;) {
    DLRT_TRY(runner.run());
    double now = secondsSinceStart();
    if (out.samples.size() < maxSamples)
      out.samples.push_back(static_cast<float>(now - last));
    last = now;
    ++out.steps;
    out.items += runner.lastItems();
    end = agreedWord(last - begin >= limit ? timeIsUp : stopSignal());
  }
  out.allocations = allocationCount() - allocations;
  out.seconds = last - begin;
  out.tiles = session.device().tilesPerThread();
  for (size_t t = 0; t < out.tiles.size(); ++t)
    out.tiles[t] -= before[t];
  return {};
}

/// The metric called loss, or else the first one.
const ScalarMetric *lossOf(StepRunner &runner) {
  const auto &metrics = runner.scalars();
  auto found = std::find_if(metrics.begin(), metrics.end(),
                            [](auto &m) { return m.name == "loss"; });
  if (found != metrics.end())
    return &*found;
  return metrics.empty() ? nullptr : &metrics[0];
}

void report(Session &session, StepRunner &runner, const Options &options,
            Measurement &m) {
  double itemsPerSecond =
      static_cast<double>(m.items) / std::max(m.seconds, 1e-9);
  const ScalarMetric *loss = lossOf(runner);
  uint64_t communicated =
      communicatedBytes(session.plans(), *session.trainingStep());
  if (options.json) {
    Event event("bench");
    event.field("threads", session.options().threads)
        .field("steps", m.steps)
        .field("warmup_steps", warmupSteps)
        .field("median_ms", m.percentileMs(0.5))
        .field("p10_ms", m.percentileMs(0.1))
        .field("p90_ms", m.percentileMs(0.9))
        .field("items_per_s", itemsPerSecond);
    if (loss && loss->dtype == fb::DType::F32)
      event.field("loss", static_cast<float>(loss->value));
    else if (loss)
      event.field("loss", loss->value);
    event.array("tiles_per_thread", m.tiles)
        .field("arena_bytes", arenaBytes(session.plans()))
        .field("comm_bytes", communicated)
        .field("peak_rss_bytes", peakResidentBytes())
        .field("allocations", m.allocations)
        .send();
    return;
  }
  std::string tiles;
  for (uint64_t count : m.tiles)
    tiles += (tiles.empty() ? "" : ", ") + withCommas(count);
  writeStdout(fmt::format(
      "step        {:.4g} ms (median of {}; p10 {:.4g}, p90 {:.4g})\n"
      "items       {:.0f} a second\n"
      "loss        {}\n"
      "tiles       {} by thread\n"
      "allocations {}\n"
      "peak memory {}\n",
      m.percentileMs(0.5), withCommas(m.steps), m.percentileMs(0.1),
      m.percentileMs(0.9), itemsPerSecond, loss ? metricText(*loss) : "none",
      tiles, m.allocations, humanBytes(peakResidentBytes())));
}

} // namespace

Expected<int> dlrun::runBench(const Options &options) {
  DLRT_TRY(checkOutputs(options));
  auto opened = openSession(options, /*synthetic=*/true);
  if (!opened)
    return opened.takeError();
  Session &session = **opened;
  auto step = session.trainingStep();
  if (!step)
    return Status(Code::Usage, fmt::format("'{}' has no training step to "
                                           "measure",
                                           options.plan));
  uint64_t length = options.steps ? *options.steps + warmupSteps
                                  : std::numeric_limits<uint64_t>::max();
  auto runner = StepRunner::create(session, *step, {length, 1});
  DLRT_TRY(agreeOnData(&session, runner.status()));
  if (!runner)
    return runner.takeError();
  std::vector<std::string> warnings;
  DLRT_TRY(session.initialiseStates());
  DLRT_TRY(session.loadInitialWeights(warnings));
  for (const std::string &note : session.takeNotes())
    warn(note);
  for (const std::string &warning : warnings)
    warn(warning);
  reportStart(session, options,
              fmt::format("{} steps to warm up, then {}", warmupSteps,
                          options.steps ? withCommas(*options.steps) + " steps"
                                        : humanSeconds(options.seconds)));
  Measurement measurement;
  DLRT_TRY(measure(session, **runner, options, measurement));
  report(session, **runner, options, measurement);
  DLRT_TRY(saveTrace(options, session));
  return stopSignal() == 0 ? 0 : 128 + stopSignal();
}
