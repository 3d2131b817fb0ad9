#include "runtime/train/Watch.h"

#include "runtime/base/Numbers.h"
#include "runtime/base/Suggest.h"
#include "runtime/plan/StepPrograms.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <sstream>

using namespace dlrt;

std::vector<std::string> dlrt::evaluationMetrics(const fb::PlanT &plan) {
  std::vector<std::string> names;
  for (const auto &step : plan.steps)
    if (!step->training && !step->predicts) {
      ScalarMetrics metrics(*step);
      for (const ScalarMetric &metric : metrics.values())
        names.push_back(displayName(*step) + "." + metric.name);
    }
  return names;
}

/// Takes "max:" or "min:" away; whether it was there.
static bool takeDirection(std::string &text, std::optional<bool> &larger) {
  bool isMax = text.starts_with("max:");
  if (!isMax && !text.starts_with("min:"))
    return false;
  larger = isMax;
  text.erase(0, 4);
  return true;
}

Expected<Goal> dlrt::parseKeepBest(const std::string &text) {
  Goal goal = {text, false, "--keep-best " + text};
  if (!takeDirection(goal.metric, goal.larger) || goal.metric.empty())
    return Status(Code::Usage, fmt::format("'{}' is neither max:METRIC nor "
                                           "min:METRIC, such as "
                                           "max:test.accuracy",
                                           text));
  return goal;
}

/// What a metric's name says of its direction, if it says anything.
static std::optional<bool> largerIsBetter(const std::string &metric) {
  std::string name = metric.substr(metric.rfind('.') + 1);
  for (char &c : name)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  auto has = [&](std::initializer_list<const char *> words) {
    return std::any_of(words.begin(), words.end(), [&](const char *word) {
      return name.find(word) != std::string::npos;
    });
  };
  bool down = has({"loss", "err", "perplexity", "mse", "mae", "nll"});
  bool up = has({"acc", "auc", "precision", "recall", "f1", "psnr", "ssim",
                 "iou", "bleu", "score"});
  return down == up ? std::nullopt : std::optional(up);
}

Expected<StopCondition> dlrt::parseStopWhen(const std::string &text) {
  constexpr std::string_view words = " not better in ";
  size_t at = text.rfind(words);
  auto number = at == std::string::npos
                    ? std::nullopt
                    : parseUnsigned(text.substr(at + words.size()));
  if (!number || *number == 0 || at == 0)
    return Status(Code::Usage, fmt::format("'{}' is not 'METRIC not better in "
                                           "N', such as 'test.loss not better "
                                           "in 5'",
                                           text));
  StopCondition condition;
  Goal &goal = condition.goal;
  goal = {text.substr(0, at), false, "--stop-when '" + text + "'"};
  condition.evaluations = *number;
  if (takeDirection(goal.metric, goal.larger))
    return condition;
  goal.larger = largerIsBetter(goal.metric);
  return condition;
}

std::string Watch::keyOf(const Goal &goal) {
  return (goal.larger.value() ? "max:" : "min:") + goal.metric;
}

Status Watch::add(const fb::PlanT &plan, const Goal &given, std::string &key) {
  std::vector<std::string> names = evaluationMetrics(plan), same;
  std::string list;
  for (const std::string &name : names) {
    list += (list.empty() ? "" : ", ") + name;
    if (name == given.metric || name.ends_with("." + given.metric))
      same.push_back(name);
  }
  bool whole =
      std::find(names.begin(), names.end(), given.metric) != names.end();
  if (!whole && same.size() != 1)
    return {Code::Usage,
            fmt::format("{}: {}{}; evaluations report {}", given.text,
                        same.empty() ? "no evaluation has such a metric"
                                     : "more than one evaluation has it",
                        same.empty() ? didYouMean(given.metric, names) : "",
                        list.empty() ? "none" : list)};
  if (!given.larger) {
    std::string larger = given.text;
    larger.insert(larger.find('\'') + 1, "max:");
    return {Code::Usage, fmt::format("{}: is a larger or a smaller one better? "
                                     "Say {}, or min:",
                                     given.text, larger)};
  }
  Goal goal = given;
  if (!whole)
    goal.metric = same[0];
  key = keyOf(goal);
  records[key].goal = goal;
  return {};
}

Expected<Watch> Watch::create(const fb::PlanT &plan,
                              const std::optional<Goal> &keepBest,
                              const std::optional<StopCondition> &stopWhen) {
  Watch watch;
  if (keepBest)
    DLRT_TRY(watch.add(plan, *keepBest, watch.kept));
  if (stopWhen) {
    DLRT_TRY(watch.add(plan, stopWhen->goal, watch.stopping));
    watch.patience = stopWhen->evaluations;
  }
  return watch;
}

void Watch::see(const std::vector<Evaluation> &results, uint64_t step,
                bool inTurn) {
  lastIsBest = false;
  for (auto &[key, record] : records) {
    if (!inTurn && key != kept)
      continue;
    for (const Evaluation &result : results)
      for (const ScalarMetric &metric : result.metrics) {
        if (result.name + "." + metric.name != record.goal.metric)
          continue;
        bool better = !std::isnan(metric.value) &&
                      (!record.any || (record.goal.larger.value()
                                           ? metric.value > record.value
                                           : metric.value < record.value));
        record.since += inTurn ? 1 : 0;
        if (better)
          record = {record.goal, true, metric.value, step,
                    inTurn ? 0 : record.since};
        if (key == kept)
          lastIsBest = better;
      }
  }
}

bool Watch::isBest() const { return lastIsBest; }

std::string Watch::bestText() const {
  const Record &record = records.at(kept);
  return fmt::format("{} {:.4g}", record.goal.metric, record.value);
}

std::optional<std::string> Watch::reasonToStop() const {
  if (stopping.empty())
    return std::nullopt;
  const Record &record = records.at(stopping);
  if (record.since < patience)
    return std::nullopt;
  std::string best = record.any
                         ? fmt::format("; the best was {:.4g} at step {}",
                                       record.value, withCommas(record.step))
                         : "";
  return fmt::format("{} was not better in {} evaluations{}",
                     record.goal.metric, record.since, best);
}

std::map<std::string, std::string> Watch::state() const {
  std::map<std::string, std::string> state;
  for (const auto &[key, record] : records)
    state[key] = fmt::format("{} {} {} {}", record.any ? 1 : 0,
                             shortest(record.value), record.step, record.since);
  return state;
}

Status Watch::restore(const std::map<std::string, std::string> &state) {
  for (auto &[key, record] : records) {
    auto found = state.find(key);
    if (found == state.end())
      continue;
    std::istringstream words(found->second);
    std::string any, value, step, since;
    words >> any >> value >> step >> since;
    auto number = parseDouble(value);
    auto at = parseUnsigned(step), passed = parseUnsigned(since);
    if (!number || !at || !passed)
      return {Code::Io, fmt::format("dl.watch.{} is damaged", key)};
    record = {record.goal, any == "1", *number, *at, *passed};
  }
  return {};
}
