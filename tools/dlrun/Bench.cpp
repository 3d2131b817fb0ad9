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

/// What one training step has taken.
struct StepTimes {
  std::vector<float> samples; ///< seconds of an update
  uint64_t steps = 0, items = 0;
  double seconds = 0;

  double percentileMs(double share) {
    if (samples.empty())
      return 0;
    size_t at = static_cast<size_t>(
        share * static_cast<double>(samples.size() - 1) + 0.5);
    std::nth_element(samples.begin(), samples.begin() + at, samples.end());
    return double(samples[at]) * 1e3;
  }
};

struct Measurement {
  std::vector<StepTimes> steps; ///< in the order of their turns
  uint64_t allocations = 0;
  std::vector<uint64_t> tiles;
};

uint64_t warmupOf(const StepRunner &runner) {
  uint64_t round = runner.turns().length();
  return (warmupSteps + round - 1) / round * round;
}

Status measure(Session &session, StepRunner &runner, const Options &options,
               Measurement &out) {
  // Whole rounds, so that what follows is as many of each.
  uint64_t warmup = warmupOf(runner);
  for (uint64_t s = 0; s < warmup; ++s)
    DLRT_TRY(runner.run());
  uint64_t steps = options.steps.value_or(~uint64_t(0)), done = 0;
  double limit = options.steps ? HUGE_VAL : options.seconds;
  out.steps.resize(runner.cursors().size());
  for (StepTimes &each : out.steps)
    each.samples.reserve(std::min<uint64_t>(steps, maxSamples));
  std::vector<uint64_t> before = session.device().tilesPerThread();
  uint64_t allocations = allocationCount();
  double begin = secondsSinceStart(), last = begin;
  // All ranks end after the same step: the first clock that says so counts.
  for (int end = 0; done < steps && end == 0; ++done) {
    DLRT_TRY(runner.run(steps - done - 1));
    StepTimes &own = out.steps[runner.lastTurn()];
    double now = secondsSinceStart();
    if (own.samples.size() < maxSamples)
      own.samples.push_back(static_cast<float>(now - last));
    own.seconds += now - last;
    last = now;
    ++own.steps;
    own.items += runner.lastItems();
    end = agreedWord(last - begin >= limit ? timeIsUp : stopSignal());
  }
  out.allocations = allocationCount() - allocations;
  runner.abandon();
  out.tiles = session.device().tilesPerThread();
  for (size_t t = 0; t < out.tiles.size(); ++t)
    out.tiles[t] -= before[t];
  return {};
}

/// The metric called loss, or else the first one.
const ScalarMetric *lossOf(StepCursor &step) {
  const auto &metrics = step.scalars();
  auto found = std::find_if(metrics.begin(), metrics.end(),
                            [](auto &m) { return m.name == "loss"; });
  if (found != metrics.end())
    return &*found;
  return metrics.empty() ? nullptr : &metrics[0];
}

void report(Session &session, StepRunner &runner, const Options &options,
            const Measurement &all, size_t turn) {
  StepTimes m = all.steps[turn];
  bool several = all.steps.size() > 1;
  const std::string &name = runner.cursors()[turn]->name();
  double itemsPerSecond =
      static_cast<double>(m.items) / std::max(m.seconds, 1e-9);
  const ScalarMetric *loss = lossOf(*runner.cursors()[turn]);
  uint64_t communicated =
      communicatedBytes(session.plans(), runner.turns().steps()[turn]);
  if (options.json) {
    Event event("bench");
    if (several)
      event.field("name", name);
    event.field("threads", session.options().threads)
        .field("steps", m.steps)
        .field("warmup_steps", warmupOf(runner))
        .field("median_ms", m.percentileMs(0.5))
        .field("p10_ms", m.percentileMs(0.1))
        .field("p90_ms", m.percentileMs(0.9))
        .field("items_per_s", itemsPerSecond);
    if (loss)
      event.metrics({{"loss", loss->dtype, loss->value}});
    event.array("tiles_per_thread", all.tiles)
        .field("arena_bytes", arenaBytes(session.plans()))
        .field("comm_bytes", communicated)
        .field("peak_rss_bytes", peakResidentBytes())
        .field("allocations", all.allocations)
        .send();
    return;
  }
  std::string tiles;
  for (uint64_t count : all.tiles)
    tiles += (tiles.empty() ? "" : ", ") + withCommas(count);
  if (several)
    writeStdout(fmt::format("{}'{}'\n", turn == 0 ? "" : "\n", name));
  writeStdout(fmt::format(
      "step        {:.4g} ms (median of {}; p10 {:.4g}, p90 {:.4g})\n"
      "items       {:.{}f} a second\n"
      "loss        {}\n"
      "tiles       {} by thread\n"
      "allocations {}\n"
      "peak memory {}\n",
      m.percentileMs(0.5), withCommas(m.steps), m.percentileMs(0.1),
      m.percentileMs(0.9), itemsPerSecond, itemsPerSecond < 10 ? 2 : 0,
      loss ? metricText(*loss) : "none", tiles, all.allocations,
      humanBytes(peakResidentBytes())));
}

} // namespace

Expected<int> dlrun::runBench(const Options &options) {
  DLRT_TRY(checkOutputs(options));
  auto opened = openSession(options, /*synthetic=*/true);
  if (!opened)
    return opened.takeError();
  Session &session = **opened;
  if (session.trainingSteps().empty())
    return Status(Code::Usage, fmt::format("'{}' has no training step to "
                                           "measure",
                                           options.plan));
  auto turns = Turns::create(session.plan(), options.turns);
  if (!turns)
    return turns.takeError();
  uint64_t length = options.steps
                        ? *options.steps + warmupSteps + turns->length()
                        : std::numeric_limits<uint64_t>::max();
  auto runner = StepRunner::create(session, {length, 1}, options.turns);
  DLRT_TRY(agreeOnData(&session, runner.status()));
  if (!runner)
    return runner.takeError();
  DLRT_TRY(beginStates(session));
  reportStart(session, options,
              fmt::format("{} steps to warm up, then {}", warmupOf(**runner),
                          options.steps ? withCommas(*options.steps) + " steps"
                                        : humanSeconds(options.seconds)));
  Measurement measurement;
  DLRT_TRY(measure(session, **runner, options, measurement));
  for (size_t turn = 0; turn < measurement.steps.size(); ++turn)
    report(session, **runner, options, measurement, turn);
  DLRT_TRY(saveTrace(options, session));
  return stopSignal() == 0 ? 0 : 128 + stopSignal();
}
