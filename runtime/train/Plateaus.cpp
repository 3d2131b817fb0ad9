#include "runtime/train/Plateaus.h"

#include "runtime/base/Numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <sstream>

using namespace dlrt;

static double worst(const fb::PlateauT &plateau) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return plateau.mode == fb::PlateauMode::Max ? -infinity : infinity;
}

Plateaus::Plateaus(const fb::PlanT &plan) {
  for (const auto &plateau : plan.plateaus)
    records.push_back({plateau.get(), worst(*plateau)});
}

/// In PyTorch's order of operations, so that the last bits agree. What is not a
/// number is never better.
bool Plateaus::isBetter(const Record &record, double value) {
  double threshold = record.plateau->threshold;
  bool relative = record.plateau->threshold_mode == fb::ThresholdMode::Relative;
  if (record.plateau->mode == fb::PlateauMode::Min)
    return value <
           (relative ? record.best * (1 - threshold) : record.best - threshold);
  return value >
         (relative ? record.best * (threshold + 1) : record.best + threshold);
}

void Plateaus::reduce(const Record &record, const Session &session,
                      std::vector<SettingValue> &changed) {
  for (uint32_t place : record.plateau->settings) {
    SettingValue now = session.setting(place);
    for (const SettingValue &other : changed)
      if (other.name == now.name)
        now = other;
    double reduced =
        std::max(now.value * record.plateau->factor, record.plateau->min_lr);
    if (now.value - reduced > record.plateau->eps)
      changed.push_back({now.name, reduced});
  }
}

std::vector<SettingValue> Plateaus::see(const std::vector<Evaluation> &results,
                                        const Session &session) {
  std::vector<SettingValue> changed;
  for (Record &record : records)
    for (const Evaluation &result : results)
      for (const ScalarMetric &metric : result.metrics) {
        if (result.name + "." + metric.name != record.plateau->metric)
          continue;
        if (isBetter(record, metric.value)) {
          record.best = metric.value;
          record.bad = 0;
        } else {
          ++record.bad;
        }
        if (record.cooling != 0) {
          --record.cooling;
          record.bad = 0;
        }
        if (record.bad <= record.plateau->patience)
          continue;
        record.cooling = record.plateau->cooldown;
        record.bad = 0;
        reduce(record, session, changed);
      }
  return changed;
}

std::string Plateaus::keyOf(size_t number) {
  return fmt::format("plateau:{}", number);
}

std::map<std::string, std::string> Plateaus::state() const {
  std::map<std::string, std::string> state;
  for (size_t i = 0; i < records.size(); ++i)
    state[keyOf(i)] =
        fmt::format("{} {} {} {}", shortest(records[i].best), records[i].bad,
                    records[i].cooling, records[i].plateau->metric);
  return state;
}

Status Plateaus::restore(const std::map<std::string, std::string> &state) {
  for (size_t i = 0; i < records.size(); ++i) {
    auto found = state.find(keyOf(i));
    if (found == state.end())
      continue;
    std::istringstream words(found->second);
    std::string metric, best, bad, cooling;
    words >> best >> bad >> cooling >> std::ws;
    std::getline(words, metric); // a name may have spaces
    auto value = parseDouble(best);
    auto since = parseUnsigned(bad), left = parseUnsigned(cooling);
    if (!value || !since || !left)
      return {Code::Io, fmt::format("dl.watch.{} is damaged", keyOf(i))};
    if (metric == records[i].plateau->metric)
      records[i] = {records[i].plateau, *value, *since, *left};
  }
  return {};
}
