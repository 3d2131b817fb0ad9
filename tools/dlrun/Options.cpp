#include "tools/dlrun/Options.h"

#include "runtime/base/Numbers.h"
#include "runtime/base/Suggest.h"
#include "tools/dlrun/OptionValues.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>

using namespace dlrun;
using namespace dlrt;

static Status usage(std::string message) {
  return {Code::Usage, std::move(message)};
}

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
constexpr unsigned runs = train | eval | bench | predicts;
constexpr unsigned all = runs | info | resume;
/// Options of the launcher: of -np, and not passed on to its processes.
constexpr unsigned launcherOption = 1u << 31;
constexpr unsigned launched = runs | resume | launcherOption;

using Apply = Status (*)(Options &, const std::string &value);

struct OptionInfo {
  const char *name;
  unsigned commands;
  bool takesValue;
  Apply apply;
};

constexpr const char *commandNames[] = {"train", "eval",   "info",
                                        "bench", "resume", "predict"};

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

using Value = const std::string &;
constexpr OptionInfo table[] = {
    {"epochs", train | resume, true,
     [](Options &o, Value v) { return setCount(v, o.epochs); }},
    {"steps", train | bench | resume, true, setSteps},
    {"data", runs | resume, true,
     [](Options &o, Value v) {
       o.data.push_back(v);
       return v.empty() ? usage("a path is missing") : Status();
     }},
    {"init", runs, true, setInit},
    {"init-map", runs, true, setInitMap},
    {"init-partial", runs, false,
     [](Options &o, Value) {
       o.initPartial = true;
       return Status();
     }},
    {"set", runs | resume, true, setSetting},
    {"save-final", train | resume, true,
     [](Options &o, Value v) { return setPath(v, o.saveFinal); }},
    {"save-metrics", train | resume, true,
     [](Options &o, Value v) { return setPath(v, o.saveMetrics); }},
    {"seed", runs, true,
     [](Options &o, Value v) {
       return setUnsigned(v, o.seed, 0, uint64_t(INT64_MAX));
     }},
    {"threads", runs | resume, true, setThreads},
    {"no-shuffle", runs, false,
     [](Options &o, Value) {
       o.noShuffle = true;
       return Status();
     }},
    {"drop-last", train | resume | bench, false,
     [](Options &o, Value) {
       o.dropLast = true;
       return Status();
     }},
    {"alternate", train | resume | bench, true, setAlternate},
    {"every", train | resume, true, setEvery},
    {"halt-on", train | resume, true, setHaltOn},
    {"keep-best", train | resume, true, setKeepBest},
    {"stop-when", train | resume, true, setStopWhen},
    {"isa", runs | resume, true, setIsa},
    {"own-kernels", runs | resume, false,
     [](Options &o, Value) {
       o.ownKernels = true;
       return Status();
     }},
    {"flush-denormals", runs | resume, false,
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
    {"keep", train | resume, true,
     [](Options &o, Value v) { return setUnsigned(v, o.keep, 0, manySteps); }},
    {"resume", train, true, setResume},
    {"plan", resume, true,
     [](Options &o, Value v) { return setPath(v, o.newPlan); }},
    {"trace", runs | resume, true,
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

/// Walks the arguments once.
class Parser {
public:
  explicit Parser(const std::vector<std::string> &arguments,
                  Options options = {})
      : arguments(arguments), options(std::move(options)) {}

  Expected<Options> parse() {
    options.arguments.clear();
    for (; at < arguments.size(); ++at) {
      const std::string &argument = arguments[at];
      size_t begin = at;
      forLauncher = false;
      if (optionsEnded || argument.size() < 2 || argument[0] != '-')
        DLRT_TRY(positional(argument));
      else if (argument == "--")
        optionsEnded = true;
      else if (argument == "-h")
        options.help = true;
      else if (argument == "-q")
        options.quiet = true;
      else
        DLRT_TRY(option(argument).within(argument));
      if (!forLauncher)
        options.arguments.insert(options.arguments.end(),
                                 arguments.begin() + ptrdiff_t(begin),
                                 arguments.begin() + ptrdiff_t(at) + 1);
      if (options.help || options.version)
        return options;
    }
    DLRT_TRY(checkTogether());
    // Each file's own names go before those of all.
    for (WeightSource &source : options.init)
      source.maps.insert(source.maps.end(), options.initMaps.begin(),
                         options.initMaps.end());
    options.initMaps.clear();
    options.newSettings = options.settings;
    options.newTurns = options.turns;
    return options;
  }

private:
  Status positional(const std::string &argument) {
    if (!commandSeen && options.plan.empty()) {
      auto found =
          std::find(std::begin(commandNames), std::end(commandNames), argument);
      if (found != std::end(commandNames)) {
        commandSeen = options.commandNamed = true;
        options.command =
            static_cast<Command>(found - std::begin(commandNames));
        return {};
      }
    }
    if (options.plan.empty()) {
      options.plan = argument;
      return {};
    }
    std::vector<std::string> names(std::begin(commandNames),
                                   std::end(commandNames));
    return usage(fmt::format(
        "one plan at a time: '{}' and '{}'{}", options.plan, argument,
        commandSeen ? "" : didYouMean(options.plan, names)));
  }

  Status option(const std::string &argument) {
    size_t dashes = argument.starts_with("--") ? 2 : 1;
    size_t equals = argument.find('=');
    std::string name = argument.substr(
        dashes, equals == std::string::npos ? equals : equals - dashes);
    auto found = std::find_if(
        std::begin(table), std::end(table), [&](const OptionInfo &o) {
          return dashes == (name == "np" || name == "H" ? 1u : 2u) &&
                 name == o.name;
        });
    if (found == std::end(table))
      return unknown(name);
    std::string value;
    if (!found->takesValue && equals != std::string::npos)
      return usage("it takes no value");
    if (found->takesValue) {
      if (equals != std::string::npos)
        value = argument.substr(equals + 1);
      else if (at + 1 < arguments.size())
        value = arguments[++at];
      else
        return usage("its value is missing");
    }
    used.push_back(&*found);
    forLauncher = found->commands & launcherOption;
    return found->apply(options, value);
  }

  static Status unknown(const std::string &name) {
    if (std::find(std::begin(later), std::end(later), name) != std::end(later))
      return {Code::Unavailable, "not in this version"};
    if (name == "D")
      return usage("unknown option; arguments of models are given to dlcc, "
                   "--set NAME=VALUE changes a setting");
    for (const char *rate : {"lr", "learning-rate", "learning_rate"})
      if (name == rate)
        return usage("unknown option; --set optim.lr=VALUE changes the rate "
                     "that the model says, by the name that it has there");
    for (const char *size : {"batch-size", "batch_size", "batch"})
      if (name == size)
        return usage("unknown option; the batch size is compiled into the "
                     "plan, the model's loader says it");
    std::vector<std::string> names;
    for (const OptionInfo &o : table)
      if (std::strlen(o.name) > 1)
        names.push_back(o.name);
    std::string near = nearest(name, names);
    return usage("unknown option" +
                 (near.empty() ? "" : "; did you mean '--" + near + "'?"));
  }

  Status checkTogether() const {
    if (options.plan.empty())
      return usage("which plan? Usage: dlrun [train|eval|predict|info|bench] "
                   "PLAN [options], or dlrun resume FOLDER; dlrun --help shows "
                   "examples");
    for (const OptionInfo *option : used)
      if (!(option->commands & 1u << unsigned(options.command)))
        return usage(fmt::format("--{}: not an option of 'dlrun {}'",
                                 option->name,
                                 commandNames[size_t(options.command)]));
    if (options.command != Command::Bench && options.epochs && options.steps)
      return usage("--epochs and --steps: give one of them");
    if (options.launch.processes == 0)
      for (const OptionInfo *option : used)
        if (option->commands & launcherOption)
          return usage(
              fmt::format("{}{}: it goes with -np N",
                          option->name == std::string_view("H") ? "-" : "--",
                          option->name));
    if (!options.launch.hosts.empty() && !options.launch.hostfile.empty())
      return usage("-H and --hostfile: give one of them");
    if (options.command == Command::Train && options.out.empty())
      for (const OptionInfo *option : used)
        if (std::string_view(option->name) == "keep" ||
            std::string_view(option->name) == "resume")
          return usage(fmt::format("--{} goes with --out", option->name));
    if (options.init.empty() &&
        (options.initPartial || !options.initMaps.empty()))
      return usage("--init-map and --init-partial go with --init");
    if (options.command == Command::Bench && options.steps == 0)
      return usage("--steps 0: there is nothing to measure");
    if (options.command == Command::Train && options.out.empty() &&
        options.keepBest)
      return usage("--keep-best: the weights need a folder, --out DIR");
    if (options.command == Command::Train && options.out.empty() &&
        (options.checkpointEvery.value_or(0) || options.checkpointSeconds))
      return usage("--every ckpt: checkpoints need a folder, --out DIR");
    return {};
  }

  const std::vector<std::string> &arguments;
  size_t at = 0;
  Options options;
  std::vector<const OptionInfo *> used;
  bool commandSeen = false, optionsEnded = false;
  bool forLauncher = false; ///< the argument at hand is not passed on
};

} // namespace

Expected<Options>
dlrun::parseOptions(const std::vector<std::string> &arguments) {
  return Parser(arguments).parse();
}

bool dlrun::takesOption(Command command, std::string_view name) {
  return std::any_of(
      std::begin(table), std::end(table), [&](const OptionInfo &o) {
        return name == o.name && (o.commands & 1u << unsigned(command)) != 0;
      });
}

std::string dlrun::absoluteData(const std::string &argument) {
  size_t equals = argument.find('=');
  bool named = equals != std::string::npos && argument.find('/') > equals;
  std::string text = named ? argument.substr(0, equals + 1) : "";
  const char *separator = "";
  for (const std::string &path :
       splitAtCommas(named ? argument.substr(equals + 1) : argument)) {
    text.append(separator).append(std::filesystem::absolute(path));
    separator = ",";
  }
  return text;
}

std::string dlrun::lengthOption(const Options &options) {
  return options.steps ? fmt::format("--steps={}", *options.steps)
                       : fmt::format("--epochs={}", options.epochs.value_or(1));
}

static Expected<Options> parseRecord(const RunRecord &record) {
  Expected<Options> options = parseOptions(record.arguments);
  if (!options || record.length.empty())
    return options;
  options->epochs = options->steps = std::nullopt;
  std::vector<std::string> length = {record.length};
  return Parser(length, *options).parse();
}

/// Both lists go through one set of options; what is said again counts. Paths
/// of the second list are made absolute, for the run goes on in its folder.
Expected<Options> dlrun::parseResumed(const RunRecord &record,
                                      const std::vector<std::string> &resumed) {
  Expected<Options> now = parseOptions(resumed);
  if (!now)
    return now;
  Expected<Options> options = parseRecord(record);
  if (!options)
    return options.takeError().within("the run's own options");
  if (now->epochs || now->steps)
    options->epochs = options->steps = std::nullopt;
  if (!now->haltOn.empty())
    options->haltOn.clear();
  // How to talk and what to look at is this process's business, not the run's.
  options->json = options->quiet = options->poison = false;
  options->detectAnomaly = false;
  options->ranks = std::nullopt;
  options->link = std::nullopt;
  options->trace.clear();
  options->orderSeed = std::nullopt;
  options->plan.clear();
  Expected<Options> all = Parser(resumed, *options).parse();
  if (!all)
    return all;
  all->newSettings = now->settings;
  all->newTurns = now->turns;
  if (!now->newPlan.empty())
    all->newPlan = std::filesystem::absolute(now->newPlan);
  if (!now->saveFinal.empty())
    all->saveFinal = std::filesystem::absolute(now->saveFinal);
  if (!now->saveMetrics.empty())
    all->saveMetrics = std::filesystem::absolute(now->saveMetrics);
  if (!now->trace.empty())
    all->trace = std::filesystem::absolute(now->trace);
  if (!now->data.empty())
    all->data.clear();
  for (const std::string &argument : now->data)
    all->data.push_back(absoluteData(argument));
  return all;
}
