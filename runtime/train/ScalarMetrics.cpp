#include "runtime/train/ScalarMetrics.h"

#include "runtime/base/Numbers.h"

#include <cmath>
#include <cstring>

using namespace dlrt;

ScalarMetrics::ScalarMetrics(const fb::StepT &step, const Executor &executor)
    : executor(executor) {
  for (size_t i = 0; i < step.micro.size(); ++i)
    collectPlaces(*step.micro[i], batchPlaces[i], /*name=*/i == 0);
  sums.resize(metrics.size());
  if (step.update)
    collectPlaces(*step.update, updatePlaces, /*name=*/true);
}

void ScalarMetrics::collectPlaces(const fb::ProgramT &program,
                                  std::vector<Place> &places, bool name) {
  for (const auto &metric : program.metrics) {
    if (!metric->shape.empty())
      continue;
    places.push_back({executor.arenaAddress(metric->buffer), metric->dtype});
    if (name)
      metrics.push_back({metric->name, metric->dtype});
  }
}

void ScalarMetrics::clear() {
  for (double &sum : sums)
    sum = 0;
  itemCount = batches = 0;
}

template <typename T> static double load(const uint8_t *address) {
  T value;
  std::memcpy(&value, address, sizeof(value));
  return static_cast<double>(value);
}

double ScalarMetrics::read(const Place &place) {
  switch (place.dtype) {
  case fb::DType::F32:
    return load<float>(place.address);
  case fb::DType::F64:
    return load<double>(place.address);
  case fb::DType::I64:
    return load<int64_t>(place.address);
  case fb::DType::I32:
    return load<int32_t>(place.address);
  case fb::DType::U8:
  case fb::DType::Bool:
    return load<uint8_t>(place.address);
  }
  return 0;
}

void ScalarMetrics::addBatch(Launch::Phase phase, uint64_t items) {
  const std::vector<Place> &places = batchPlaces[static_cast<size_t>(phase)];
  for (size_t i = 0; i < places.size(); ++i) {
    double value = read(places[i]);
    metrics[i].value = value;
    sums[i] += value * static_cast<double>(items);
  }
  itemCount += items;
  ++batches;
}

void ScalarMetrics::addUpdate() {
  for (size_t i = 0; i < updatePlaces.size(); ++i)
    metrics[sums.size() + i].value = read(updatePlaces[i]);
}

const std::vector<ScalarMetric> &ScalarMetrics::values() {
  if (batches > 1)
    for (size_t i = 0; i < sums.size(); ++i)
      metrics[i].value = sums[i] / static_cast<double>(itemCount);
  return metrics;
}

std::string dlrt::metricText(const ScalarMetric &metric) {
  if (metric.dtype == fb::DType::F32)
    return shortest(static_cast<float>(metric.value));
  return shortest(metric.value);
}
