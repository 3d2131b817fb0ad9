#include "tools/dlrun/OptionTable.h"

#include "runtime/base/Numbers.h"
#include "tools/dlrun/OptionValues.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

using namespace dlrun;
using namespace dlrt;

static Status notYet(std::string_view what) {
  return {Code::Unavailable, fmt::format("{}: not in this version", what)};
}

namespace {

constexpr unsigned train = 1u << unsigned(Command::Train);
constexpr unsigned eval = 1u << unsigned(Command::Eval);
constexpr unsigned info = 1u << unsigned(Command::Info);
constexpr unsigned bench = 1u << unsigned(Command::Bench);
constexpr unsigned resume = 1u << unsigned(Command::Resume);
constexpr unsigned predicts = 1u << unsigned(Command::Predict);
constexpr unsigned generates = 1u << unsigned(Command::Generate);
constexpr unsigned runs = train | eval | bench | predicts;
/// Where weights are run, without data.
constexpr unsigned runsAlone = runs | generates;
constexpr unsigned all = runsAlone | info | resume;
/// Of training, and known to the run.
constexpr unsigned ofRun = train | resume | kRememberedOption;
constexpr unsigned launched = runs | resume | kLauncherOption;

constexpr uint64_t manySteps = uint64_t(1) << 62;

Status setCount(const std::string &value, std::optional<uint64_t> &out) {
  uint64_t number = 0;
  DLRT_TRY(setUnsigned(value, number, 1, manySteps));
  out = number;
  return {};
}

Status setPath(const std::string &value, std::string &out) {
  if (value.empty())
    return usage("a path is missing");
  out = value;
  return {};
}

Status setEvery(Options &options, const std::string &value) {
  for (const std::string &part : splitAtCommas(value)) {
    size_t equals = std::min(part.find('='), part.size());
    std::string what = part.substr(0, equals);
    std::string number = part.substr(std::min(equals + 1, part.size()));
    bool isCheckpoint = what == "ckpt";
    if (what != "log" && what != "eval" && !isCheckpoint)
      return usage(fmt::format("'{}' is none of log=N, eval=N, ckpt=N", part));
    auto &every = what == "log"    ? options.logEvery
                  : what == "eval" ? options.evalEvery
                                   : options.checkpointEvery;
    uint64_t steps = 0;
    auto seconds = isCheckpoint ? parseSeconds(number) : std::nullopt;
    if (Status status = setUnsigned(number, steps, 0, manySteps);
        !status.ok() && !seconds)
      return isCheckpoint ? usage(status.message() + ", nor a time: 10min")
                          : std::move(status);
    every = seconds ? std::nullopt : std::optional(steps);
    if (isCheckpoint)
      options.checkpointSeconds = seconds;
  }
  return {};
}

Status setHaltOn(Options &options, const std::string &value) {
  for (const std::string &part : splitAtCommas(value)) {
    auto condition = parseHaltCondition(part);
    if (!condition)
      return condition.takeError();
    options.haltOn.push_back(std::move(*condition));
  }
  return {};
}

Status setResume(Options &options, const std::string &value) {
  if (value != "auto" && value != "never")
    return usage(fmt::format("'{}' is none of auto, never", value));
  options.resumeAuto = value == "auto";
  return {};
}

Status setIsa(Options &options, const std::string &value) {
  if (value != "v3" && value != "v4" && value != "v4+avx512bf16" &&
      value != "v4+amxbf16")
    return usage(fmt::format(
        "'{}' is none of v3, v4, v4+avx512bf16, v4+amxbf16", value));
  options.isa = value;
  return {};
}

Status setOrder(Options &options, const std::string &value) {
  constexpr std::string_view random = "random:";
  if (!value.starts_with(random))
    return usage(fmt::format("'{}' is not random:SEED", value));
  uint64_t seed = 0;
  DLRT_TRY(setUnsigned(value.substr(random.size()), seed, 0, ~uint64_t(0)));
  options.orderSeed = seed;
  return {};
}

Status setThreads(Options &options, const std::string &value) {
  uint64_t threads = 0;
  DLRT_TRY(setUnsigned(value, threads, 1, UINT32_MAX));
  options.threads = static_cast<unsigned>(threads);
  return {};
}

Status setRanks(Options &options, const std::string &value) {
  uint64_t ranks = 0;
  DLRT_TRY(setUnsigned(value, ranks, 1, 1 << 20));
  options.ranks = static_cast<uint32_t>(ranks);
  return {};
}

Status setLink(Options &options, const std::string &value) {
  auto link = parseLink(value);
  if (!link)
    return link.takeError();
  options.link = *link;
  return {};
}

Status setSteps(Options &options, const std::string &value) {
  uint64_t steps = 0; // 0 writes initial weights
  DLRT_TRY(setUnsigned(value, steps, 0, manySteps));
  options.steps = steps;
  return {};
}

Status setInit(Options &options, const std::string &value) {
  if (value.empty())
    return usage("a path is missing");
  options.init.push_back({value, {}});
  return {};
}

/// Behind an --init it is about that file, before the first about all.
Status setInitMap(Options &options, const std::string &value) {
  auto maps = parseNameMaps(value);
  if (!maps)
    return maps.takeError();
  auto &list =
      options.init.empty() ? options.initMaps : options.init.back().maps;
  list.insert(list.end(), maps->begin(), maps->end());
  return {};
}

Status setSetting(Options &options, const std::string &value) {
  size_t equals = value.find('=');
  if (equals == std::string::npos || equals == 0)
    return usage(fmt::format("'{}' is not NAME=VALUE", value));
  auto number = parseDouble(std::string_view(value).substr(equals + 1));
  if (!number || !std::isfinite(*number))
    return usage(fmt::format("'{}': '{}' is not a number", value,
                             value.substr(equals + 1)));
  options.settings.push_back({value.substr(0, equals), *number});
  return {};
}

Status setAlternate(Options &options, const std::string &value) {
  auto turns = parseAlternate(value);
  if (!turns)
    return turns.takeError();
  options.turns = std::move(*turns);
  return {};
}

Status setKeepBest(Options &options, const std::string &value) {
  auto goal = parseKeepBest(value);
  if (!goal)
    return goal.takeError();
  options.keepBest = std::move(*goal);
  return {};
}

Status setStopWhen(Options &options, const std::string &value) {
  auto condition = parseStopWhen(value);
  if (!condition)
    return condition.takeError();
  options.stopWhen = std::move(*condition);
  return {};
}

Status setSeconds(const std::string &value, double &out) {
  auto seconds = parseDouble(value);
  if (!seconds || !(*seconds > 0) || *seconds > 1e6)
    return usage(fmt::format("'{}' is not a number of seconds", value));
  out = *seconds;
  return {};
}

Status addTokens(const std::string &value, std::vector<uint64_t> &out) {
  for (const std::string &part : splitAtCommas(value))
    DLRT_TRY(setUnsigned(part, out.emplace_back(), 0, INT32_MAX));
  return {};
}

Status setTemperature(Options &options, const std::string &value) {
  auto number = parseDouble(value);
  if (!number || !(*number >= 0 && *number <= 1e6))
    return usage(fmt::format("'{}' is not a number from 0 on", value));
  options.sampling.temperature = *number;
  return {};
}

Status setShare(const std::string &value, double &out) {
  auto number = parseDouble(value);
  if (!number || !(*number > 0 && *number <= 1))
    return usage(
        fmt::format("'{}' is not a share, above 0 and up to 1", value));
  out = *number;
  return {};
}

Status setPenalty(Options &options, const std::string &value) {
  auto number = parseDouble(value);
  if (!number || !(*number >= 1e-3 && *number <= 1e3))
    return usage(fmt::format("'{}' is not a number from 0.001 to 1000", value));
  options.sampling.repetitionPenalty = *number;
  return {};
}

Status addStop(Options &options, const std::string &value) {
  options.stops.push_back(value);
  return value.empty() ? usage("at least one byte is wanted") : Status();
}

using Value = const std::string &;
constexpr OptionInfo options[] = {
    {"epochs", train | resume, true,
     [](Options &o, Value v) { return setCount(v, o.epochs); }},
    {"steps", train | bench | resume, true, setSteps},
    {"data", runs | resume | kRememberedOption, true,
     [](Options &o, Value v) {
       o.data.push_back(v);
       return v.empty() ? usage("a path is missing") : Status();
     }},
    {"init", runsAlone, true, setInit},
    {"init-map", runsAlone, true, setInitMap},
    {"init-partial", runsAlone, false,
     [](Options &o, Value) {
       o.initPartial = true;
       return Status();
     }},
    {"set", runsAlone | resume, true, setSetting},
    {"save-final", ofRun, true,
     [](Options &o, Value v) { return setPath(v, o.saveFinal); }},
    {"save-metrics", ofRun, true,
     [](Options &o, Value v) { return setPath(v, o.saveMetrics); }},
    {"seed", runsAlone, true,
     [](Options &o, Value v) {
       return setUnsigned(v, o.seed, 0, uint64_t(INT64_MAX));
     }},
    {"threads", runsAlone | resume, true, setThreads},
    {"no-shuffle", runs, false,
     [](Options &o, Value) {
       o.noShuffle = true;
       return Status();
     }},
    {"drop-last", ofRun | bench, false,
     [](Options &o, Value) {
       o.dropLast = true;
       return Status();
     }},
    {"alternate", train | resume | bench, true, setAlternate},
    {"every", ofRun, true, setEvery},
    {"halt-on", ofRun, true, setHaltOn},
    {"keep-best", ofRun, true, setKeepBest},
    {"stop-when", ofRun, true, setStopWhen},
    {"isa", runsAlone | resume, true, setIsa},
    {"own-kernels", runsAlone | resume, false,
     [](Options &o, Value) {
       o.ownKernels = true;
       return Status();
     }},
    {"flush-denormals", runsAlone | resume, false,
     [](Options &o, Value) {
       o.flushDenormals = true;
       return Status();
     }},
    {"seconds", bench, true,
     [](Options &o, Value v) { return setSeconds(v, o.seconds); }},
    {"json", all, false,
     [](Options &o, Value) {
       o.json = true;
       return Status();
     }},
    {"quiet", all, false,
     [](Options &o, Value) {
       o.quiet = true;
       return Status();
     }},
    {"help", all, false,
     [](Options &o, Value) {
       o.help = o.longHelp = true;
       return Status();
     }},
    {"version", all, false,
     [](Options &o, Value) {
       o.version = true;
       return Status();
     }},
    {"out", train | predicts, true,
     [](Options &o, Value v) { return setPath(v, o.out); }},
    {"keep", ofRun, true,
     [](Options &o, Value v) { return setUnsigned(v, o.keep, 0, manySteps); }},
    {"resume", train, true, setResume},
    {"from", resume, true,
     [](Options &o, Value v) {
       return setUnsigned(v, o.from.emplace(), 0, manySteps);
     }},
    {"plan", resume, true,
     [](Options &o, Value v) { return setPath(v, o.newPlan); }},
    {"trace", runsAlone | resume, true,
     [](Options &o, Value v) { return setPath(v, o.trace); }},
    {"poison", runs | resume, false,
     [](Options &o, Value) {
       o.poison = true;
       return Status();
     }},
    {"detect-anomaly", runs | resume, false,
     [](Options &o, Value) {
       o.detectAnomaly = true;
       return Status();
     }},
    {"order", runs | resume, true, setOrder},
    {"ranks", runs | resume, true, setRanks},
    {"link", runs | resume, true, setLink},
    {"np", launched, true,
     [](Options &o, Value v) {
       return setUnsigned(v, o.launch.processes, 1, 1 << 20);
     }},
    {"H", launched, true,
     [](Options &o, Value v) { return setPath(v, o.launch.hosts); }},
    {"hostfile", launched, true,
     [](Options &o, Value v) { return setPath(v, o.launch.hostfile); }},
    {"dry-run", launched, false,
     [](Options &o, Value) {
       o.launch.dryRun = true;
       return Status();
     }},
    {"hang-timeout", launched, true,
     [](Options &o, Value v) { return setSeconds(v, o.launch.hangTimeout); }},
    {"log-dir", runs | resume, true,
     [](Options &o, Value v) { return setPath(v, o.logDir); }},
    {"generation", generates, true,
     [](Options &o, Value v) {
       o.generation = v;
       return v.empty() ? usage("a name is missing") : Status();
     }},
    {"text", generates, true,
     [](Options &o, Value v) {
       o.text = v;
       return v.empty() ? usage("at least one byte is wanted") : Status();
     }},
    {"text-file", generates, true,
     [](Options &o, Value v) { return setPath(v, o.textFile); }},
    {"tokens", generates, true,
     [](Options &o, Value v) {
       o.tokens.clear();
       return addTokens(v, o.tokens);
     }},
    {"stop", generates, true, addStop},
    {"stop-tokens", generates, true,
     [](Options &o, Value v) { return addTokens(v, o.stopTokens); }},
    {"max-new-tokens", generates, true,
     [](Options &o, Value v) {
       return setUnsigned(v, o.newTokens, 1, 1 << 24);
     }},
    {"samples", generates, true,
     [](Options &o, Value v) { return setUnsigned(v, o.samples, 1, 1 << 16); }},
    {"temperature", generates, true, setTemperature},
    {"top-k", generates, true,
     [](Options &o, Value v) {
       return setUnsigned(v, o.sampling.topK, 1, INT32_MAX);
     }},
    {"top-p", generates, true,
     [](Options &o, Value v) { return setShare(v, o.sampling.topP); }},
    {"min-p", generates, true,
     [](Options &o, Value v) { return setShare(v, o.sampling.minP); }},
    {"repetition-penalty", generates, true, setPenalty},
    {"accumulate", all, true,
     [](Options &, Value) {
       return usage("it belongs to the plan: dlcc --accumulate=N");
     }},
    {"deterministic", all, false,
     [](Options &, Value) { return usage("every run is: leave it out"); }},
    {"log", all, true,
     [](Options &, Value) {
       return notYet("a choice of logs (--out writes CSV, JSON lines and "
                     "TensorBoard's events)");
     }},
};

/// What comparable tools have and this one has not yet.
// clang-format off
constexpr const char *later[] = {
    "time", "synthetic", "shuffle-seed", "workers", "overfit-one-batch",
    "device", "backend", "timeout", "verbose", "v", "mem-trace", "nvtx",
    "check", "dump", "skip-grad-zscore",
};
// clang-format on

constexpr const char *commandNames[] = {"train",  "eval",    "info",    "bench",
                                        "resume", "predict", "generate"};

} // namespace

std::span<const OptionInfo> dlrun::optionTable() { return options; }

std::span<const char *const> dlrun::namesOfCommands() { return commandNames; }

bool dlrun::isForLater(std::string_view name) {
  return std::ranges::find(later, name) != std::end(later);
}
