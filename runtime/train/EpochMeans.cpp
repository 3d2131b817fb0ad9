#include "runtime/train/EpochMeans.h"

#include "runtime/base/Numbers.h"

#include <fmt/format.h>

#include <sstream>

using namespace dlrt;

static void clear(EpochMean &sum) {
  sum.steps = sum.items = 0;
  for (ScalarMetric &metric : sum.metrics)
    metric.value = 0;
}

static std::string keyOf(const EpochMean &sum) { return "epoch:" + sum.name; }

/// "STEPS ITEMS SUM SUM ...", each as few digits as give it back.
static std::string textOf(const EpochMean &sum) {
  std::string text = fmt::format("{} {}", sum.steps, sum.items);
  for (const ScalarMetric &metric : sum.metrics)
    text += " " + shortest(metric.value);
  return text;
}

static void take(EpochMean &sum, const std::string &text) {
  std::istringstream in(text);
  EpochMean read = sum;
  in >> read.steps >> read.items;
  for (ScalarMetric &metric : read.metrics) {
    std::string word;
    in >> word;
    auto value = parseDouble(word);
    if (!value)
      return;
    metric.value = *value;
  }
  std::string more;
  if (!(in >> more))
    sum = read;
}

void EpochMeans::begin(const StepRunner &runner) {
  for (const auto &step : runner.cursors()) {
    sums.push_back({step->name(), 0, 0, step->scalars()});
    ::clear(sums.back());
    if (auto text = before.find(keyOf(sums.back())); text != before.end())
      ::take(sums.back(), text->second);
  }
  before.clear();
}

std::map<std::string, std::string> EpochMeans::state() const {
  std::map<std::string, std::string> state;
  for (const EpochMean &sum : sums)
    if (sum.steps > 0)
      state[keyOf(sum)] = textOf(sum);
  return state;
}

void EpochMeans::restore(const std::map<std::string, std::string> &state) {
  before = state;
}

void EpochMeans::add(StepRunner &runner) {
  if (sums.empty())
    begin(runner);
  EpochMean &sum = sums[runner.lastTurn()];
  const std::vector<ScalarMetric> &now = runner.scalars();
  for (size_t i = 0; i < now.size(); ++i)
    sum.metrics[i].value +=
        now[i].value * static_cast<double>(runner.lastItems());
  sum.items += runner.lastItems();
  ++sum.steps;
}

void EpochMeans::clear() {
  for (EpochMean &sum : sums)
    ::clear(sum);
}

std::vector<EpochMean> EpochMeans::take(uint64_t leastSteps) {
  std::vector<EpochMean> means;
  for (const EpochMean &sum : sums)
    if (sum.steps >= leastSteps && !sum.metrics.empty()) {
      means.push_back(sum);
      for (ScalarMetric &metric : means.back().metrics)
        metric.value /= static_cast<double>(sum.items);
    }
  clear();
  return means;
}
