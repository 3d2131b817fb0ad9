#include "runtime/train/ScalarMetrics.h"

#include "runtime/base/Numbers.h"
#include "runtime/plan/StepPrograms.h"

#include <cmath>
#include <cstring>

using namespace dlrt;

/// Programs of one step report the same metrics, whatever their batch.
ScalarMetrics::ScalarMetrics(const fb::StepT &step) {
  collect(fullProgram(step));
  sums.resize(metrics.size());
  // That of an evaluation reports what batches report.
  if (const auto *update = programOf(step, fb::ProgramKind::Update);
      update && step.training)
    collect(*update);
}

void ScalarMetrics::collect(const fb::ProgramT &program) {
  for (const auto &metric : program.metrics)
    if (metric->shape.empty())
      metrics.push_back({metric->name, metric->dtype});
}

void ScalarMetrics::clear() {
  for (double &sum : sums)
    sum = 0;
  itemCount = batches = 0;
}

template <typename T> static double load(uint64_t word) {
  T value;
  std::memcpy(&value, &word, sizeof(value));
  return static_cast<double>(value);
}

static double valueOf(fb::DType dtype, uint64_t word) {
  switch (dtype) {
  case fb::DType::F32:
    return load<float>(word);
  case fb::DType::F64:
    return load<double>(word);
  case fb::DType::I64:
    return load<int64_t>(word);
  case fb::DType::I32:
    return load<int32_t>(word);
  case fb::DType::U8:
  case fb::DType::Bool:
    return load<uint8_t>(word);
  case fb::DType::BF16: // no metric has it
    break;
  }
  return 0;
}

void ScalarMetrics::addBatch(const Report &report, uint64_t items) {
  for (size_t i = 0; i < sums.size(); ++i) {
    double value = valueOf(metrics[i].dtype, report.scalars[i]);
    metrics[i].value = value;
    sums[i] += value * static_cast<double>(items);
  }
  itemCount += items;
  ++batches;
}

void ScalarMetrics::addUpdate(const Report &report) {
  for (size_t i = 0; i < report.scalars.size(); ++i) {
    ScalarMetric &metric = metrics[sums.size() + i];
    metric.value = valueOf(metric.dtype, report.scalars[i]);
  }
}

const std::vector<ScalarMetric> &ScalarMetrics::values() {
  if (batches > 1)
    for (size_t i = 0; i < sums.size(); ++i)
      metrics[i].value = sums[i] / static_cast<double>(itemCount);
  return metrics;
}

void dlrt::addMetric(JsonWriter &json, const ScalarMetric &metric) {
  if (metric.dtype == fb::DType::F32)
    json.field(metric.name, static_cast<float>(metric.value));
  else
    json.field(metric.name, metric.value);
}

std::string dlrt::metricText(const ScalarMetric &metric) {
  if (metric.dtype == fb::DType::F32)
    return shortest(static_cast<float>(metric.value));
  return shortest(metric.value);
}
