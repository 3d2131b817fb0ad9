#include "tools/dlrun/Options.h"

#include "runtime/base/Suggest.h"
#include "tools/dlrun/OptionTable.h"
#include "tools/dlrun/OptionValues.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

using namespace dlrun;
using namespace dlrt;

namespace {

/// The two that are mpirun's have one dash.
bool hasOneDash(std::string_view name) { return name == "np" || name == "H"; }

std::string dashed(std::string_view name) {
  return fmt::format("{}{}", hasOneDash(name) ? "-" : "--", name);
}

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
      if (options.version || (options.help && !asked))
        return options;
    }
    if (options.help)
      return options;
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
    if (at == 0 && argument == "help") { // dlrun help eval
      options.help = options.longHelp = asked = true;
      return {};
    }
    if (!commandSeen && options.plan.empty()) {
      auto found = std::ranges::find(commandNames, argument);
      if (found != commandNames.end()) {
        commandSeen = options.commandNamed = true;
        options.command = static_cast<Command>(found - commandNames.begin());
        return {};
      }
    }
    if (options.plan.empty()) {
      options.plan = argument;
      return {};
    }
    std::vector<std::string> names(commandNames.begin(), commandNames.end());
    return usage(fmt::format(
        "one plan at a time: '{}' and '{}'{}", options.plan, argument,
        commandSeen ? "" : didYouMean(options.plan, names)));
  }

  Status option(const std::string &argument) {
    size_t dashes = argument.starts_with("--") ? 2 : 1;
    size_t equals = argument.find('=');
    std::string name = argument.substr(
        dashes, equals == std::string::npos ? equals : equals - dashes);
    auto found = std::ranges::find_if(table, [&](const OptionInfo &o) {
      return dashes == (hasOneDash(name) ? 1u : 2u) && name == o.name;
    });
    if (found == table.end())
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
    for (std::string_view once : {"keep-best", "stop-when"})
      if (name == once && std::ranges::find(used, &*found) != used.end())
        return usage("it is given twice; one goal is watched");
    used.push_back(&*found);
    forLauncher = found->commands & kLauncherOption;
    return found->apply(options, value);
  }

  static Status unknown(const std::string &name) {
    if (isForLater(name))
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
    for (const OptionInfo &o : optionTable())
      if (std::strlen(o.name) > 1)
        names.push_back(o.name);
    std::string near = nearest(name, names);
    return usage(
        "unknown option" +
        (near.empty() ? "" : "; did you mean '" + dashed(near) + "'?"));
  }

  Status checkTogether() const {
    if (options.plan.empty())
      return usage("which plan? Usage: dlrun [train|eval|predict|generate|info|"
                   "bench] "
                   "PLAN [options], or dlrun resume FOLDER; dlrun --help shows "
                   "examples");
    for (const OptionInfo *option : used)
      if (!option->isOf(options.command))
        return usage(fmt::format("{}: not an option of 'dlrun {}'",
                                 dashed(option->name),
                                 commandName(options.command)));
    if (options.command != Command::Bench && options.epochs && options.steps)
      return usage("--epochs and --steps: give one of them");
    if (options.launch.processes == 0)
      for (const OptionInfo *option : used)
        if (option->commands & kLauncherOption)
          return usage(
              fmt::format("{}: it goes with -np N", dashed(option->name)));
    if (!options.launch.hosts.empty() && !options.launch.hostfile.empty())
      return usage("-H and --hostfile: give one of them");
    if (options.command == Command::Train && options.out.empty())
      for (const OptionInfo *option : used)
        if (std::string_view(option->name) == "keep" ||
            std::string_view(option->name) == "resume")
          return usage(fmt::format("{} goes with --out", dashed(option->name)));
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

  std::span<const OptionInfo> table = optionTable();
  std::span<const char *const> commandNames = namesOfCommands();
  const std::vector<std::string> &arguments;
  size_t at = 0;
  Options options;
  std::vector<const OptionInfo *> used;
  bool commandSeen = false, optionsEnded = false;
  bool asked = false;       ///< for help, by the first word
  bool forLauncher = false; ///< the argument at hand is not passed on
};

} // namespace

Expected<Options>
dlrun::parseOptions(const std::vector<std::string> &arguments) {
  return Parser(arguments).parse();
}

const char *dlrun::commandName(Command command) {
  return namesOfCommands()[size_t(command)];
}

bool dlrun::takesOption(Command command, std::string_view name) {
  return std::ranges::any_of(optionTable(), [&](const OptionInfo &o) {
    return name == o.name && o.isOf(command);
  });
}

/// "STEP=PATH,PATH" with what `change` makes of the paths.
template <class Change>
static std::string dataWithPaths(const std::string &argument, Change &&change) {
  size_t equals = argument.find('=');
  bool named = equals != std::string::npos && argument.find('/') > equals;
  std::string text = named ? argument.substr(0, equals + 1) : "";
  const char *separator = "";
  for (const std::string &path :
       splitAtCommas(named ? argument.substr(equals + 1) : argument)) {
    text.append(separator).append(change(path));
    separator = ",";
  }
  return text;
}

std::string dlrun::absoluteData(const std::string &argument) {
  return dataWithPaths(argument, [](const std::string &path) {
    return std::filesystem::absolute(path).native();
  });
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

/// "keep" of "--keep=3", "every=ckpt" of "--every=ckpt=30": what a later one
/// replaces.
static std::string_view subjectOf(std::string_view option) {
  std::string_view text = option.substr(std::min<size_t>(2, option.size()));
  size_t end = text.find('=');
  if (text.starts_with("every="))
    end = text.find('=', end + 1);
  return text.substr(0, end);
}

static void tell(std::vector<std::string> &told,
                 const std::vector<std::string> &more) {
  std::erase_if(told, [&](const std::string &before) {
    return std::ranges::any_of(more, [&](const std::string &now) {
      return subjectOf(now) == subjectOf(before);
    });
  });
  told.insert(told.end(), more.begin(), more.end());
}

/// As seen from the folder in which the run was started, if it is in there: so
/// it is in a copy of that.
static std::string seenFrom(const std::string &folder, std::string path) {
  std::filesystem::path own = std::filesystem::absolute(path),
                        relative = own.lexically_relative(folder);
  return relative.empty() || *relative.begin() == ".." ? own : relative;
}

/// The remembered ones of a process's options, in one form.
static std::vector<std::string>
remembered(const std::string &folder,
           const std::vector<std::string> &arguments) {
  std::vector<std::string> list;
  for (size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    if (!arguments[i].starts_with("--"))
      continue;
    size_t equals = arguments[i].find('=');
    std::string name = arguments[i].substr(2, equals - 2);
    auto found = std::ranges::find_if(
        optionTable(), [&](const OptionInfo &o) { return name == o.name; });
    if (found == optionTable().end())
      continue;
    std::string value;
    if (found->takesValue)
      value = equals != std::string::npos ? arguments[i].substr(equals + 1)
                                          : arguments[++i];
    if (!(found->commands & kRememberedOption))
      continue;
    auto path = [&](const std::string &given) {
      return seenFrom(folder, given);
    };
    if (name == "data")
      value = dataWithPaths(value, path);
    if (name.starts_with("save-"))
      value = path(value);
    if (name != "every")
      list.push_back("--" + name + (found->takesValue ? "=" + value : ""));
    else
      for (const std::string &part : splitAtCommas(value))
        list.push_back("--every=" + part);
  }
  return list;
}

/// What it was told counts, instead of the record's own of options that may be
/// given several times.
Expected<Options> dlrun::optionsOf(const RunRecord &record) {
  Expected<Options> options = parseRecord(record);
  if (!options)
    return options;
  for (const std::string &option : record.told) {
    if (subjectOf(option) == "halt-on")
      options->haltOn.clear();
    if (subjectOf(option) == "data")
      options->data.clear();
  }
  return Parser(record.told, *options).parse();
}

/// All go through one set of options; what is said again counts. Paths of
/// `resumed` are made absolute, for the run goes on in its folder.
Expected<Options> dlrun::parseResumed(const RunRecord &record,
                                      const std::vector<std::string> &resumed) {
  Expected<Options> now = parseOptions(resumed);
  if (!now)
    return now;
  Expected<Options> options = optionsOf(record);
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
  all->told = record.told;
  tell(all->told, remembered(record.folder, resumed));
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
