#include "tools/dlrun/EpochMeans.h"

using namespace dlrun;
using namespace dlrt;

static void clear(EpochMean &sum) {
  sum.steps = sum.items = 0;
  for (ScalarMetric &metric : sum.metrics)
    metric.value = 0;
}

void EpochMeans::add(StepRunner &runner) {
  if (sums.empty())
    for (const auto &step : runner.cursors()) {
      sums.push_back({step->name(), 0, 0, step->scalars()});
      ::clear(sums.back());
    }
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

std::vector<EpochMean> EpochMeans::take() {
  std::vector<EpochMean> means;
  for (const EpochMean &sum : sums)
    if (sum.steps > 1 && !sum.metrics.empty()) {
      means.push_back(sum);
      for (ScalarMetric &metric : means.back().metrics)
        metric.value /= static_cast<double>(sum.items);
    }
  clear();
  return means;
}
