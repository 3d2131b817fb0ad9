#include "runtime/train/HaltOn.h"

#include "runtime/base/Numbers.h"
#include "runtime/base/Suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

using namespace dlrt;

/// Without the spaces around it.
static std::string trimmed(const std::string &text) {
  size_t begin = text.find_first_not_of(' ');
  return begin == std::string::npos
             ? ""
             : text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

Expected<HaltCondition> dlrt::parseHaltCondition(const std::string &text) {
  HaltCondition condition;
  condition.text = text;
  if (text == "nan")
    return condition;
  if (text == "inf") {
    condition.kind = HaltCondition::Infinite;
    return condition;
  }
  // A metric's name may be any text, so the last sign counts.
  size_t sign = text.find_last_of("<>");
  if (sign == std::string::npos || sign == 0)
    return Status(Code::Usage,
                  fmt::format("'{}' is none of nan, inf, METRIC>NUMBER, "
                              "METRIC<NUMBER",
                              text));
  bool above = text[sign] == '>';
  size_t number = sign + 1;
  bool equal = number < text.size() && text[number] == '=';
  std::string wanted = trimmed(text.substr(number + equal));
  auto limit = parseDouble(wanted);
  if (!limit || std::isnan(*limit))
    return Status(Code::Usage,
                  fmt::format("'{}': '{}' is not a number", text, wanted));
  condition.metric = trimmed(text.substr(0, sign));
  condition.limit = *limit;
  condition.kind = above ? equal ? HaltCondition::AtLeast : HaltCondition::Above
                   : equal ? HaltCondition::AtMost
                           : HaltCondition::Below;
  return condition;
}

Status dlrt::checkNames(const std::vector<HaltCondition> &conditions,
                        const std::vector<std::string> &names) {
  std::string list;
  for (const std::string &name : names)
    list += (list.empty() ? "" : ", ") + name;
  for (const HaltCondition &condition : conditions) {
    if (condition.metric.empty() ||
        std::find(names.begin(), names.end(), condition.metric) != names.end())
      continue;
    return {Code::Usage,
            fmt::format("--halt-on '{}': no step has a scalar metric '{}'{}; "
                        "there is {}",
                        condition.text, condition.metric,
                        didYouMean(condition.metric, names),
                        list.empty() ? "none" : list)};
  }
  return {};
}

static bool holds(const HaltCondition &condition, double value) {
  switch (condition.kind) {
  case HaltCondition::Nan:
    return std::isnan(value);
  case HaltCondition::Infinite:
    return std::isinf(value);
  case HaltCondition::Above:
    return value > condition.limit;
  case HaltCondition::AtLeast:
    return value >= condition.limit;
  case HaltCondition::Below:
    return value < condition.limit;
  case HaltCondition::AtMost:
    return value <= condition.limit;
  }
  return false;
}

static bool isOfNotFinite(const HaltCondition &condition) {
  return condition.kind == HaltCondition::Nan ||
         condition.kind == HaltCondition::Infinite;
}

Halt dlrt::checkHalt(const std::vector<HaltCondition> &conditions,
                     const std::vector<ScalarMetric> &metrics, uint64_t step,
                     const std::string &prefix, bool bare) {
  for (const HaltCondition &condition : conditions)
    for (const ScalarMetric &metric : metrics)
      if ((condition.metric.empty() ||
           condition.metric == prefix + metric.name ||
           (bare && condition.metric == metric.name)) &&
          holds(condition, metric.value))
        return {{Code::Training,
                 fmt::format("step {}: {}{} is {} (--halt-on {})", step, prefix,
                             metric.name, metricText(metric), condition.text)},
                !isOfNotFinite(condition) && std::isfinite(metric.value)};
  return {};
}

bool dlrt::haveLimits(const std::vector<HaltCondition> &conditions) {
  return !std::ranges::all_of(conditions, isOfNotFinite);
}

bool dlrt::namesNotFinite(const std::vector<HaltCondition> &conditions) {
  return std::ranges::any_of(conditions, isOfNotFinite);
}

const ScalarMetric *
dlrt::firstNotFinite(const std::vector<ScalarMetric> &metrics) {
  auto found =
      std::find_if(metrics.begin(), metrics.end(), [](const ScalarMetric &m) {
        return !std::isfinite(m.value);
      });
  return found == metrics.end() ? nullptr : &*found;
}
