// The scalar metrics of a step, averaged over the items of its batches.
#ifndef DLRT_TRAIN_SCALARMETRICS_H
#define DLRT_TRAIN_SCALARMETRICS_H

#include "runtime/base/JsonWriter.h"
#include "runtime/device/Launch.h"
#include "runtime/plan/plan_generated.h"

#include <cstdint>
#include <string>
#include <vector>

namespace dlrt {

struct ScalarMetric {
  std::string name;
  fb::DType dtype;
  double value = 0;
};

/// Collects without allocating. A single batch's values stay exact; several
/// batches count by their items. What an update reports is taken as it is.
class ScalarMetrics {
public:
  explicit ScalarMetrics(const fb::StepT &step);

  void clear();
  /// What a batch has reported.
  void addBatch(const Report &report, uint64_t items);
  /// What the update has reported.
  void addUpdate(const Report &report);

  /// The means so far, in the plan's order.
  const std::vector<ScalarMetric> &values();
  uint64_t items() const { return itemCount; }

private:
  void collect(const fb::ProgramT &program);

  std::vector<double> sums; ///< weighted by items, batch metrics only
  std::vector<ScalarMetric> metrics;
  uint64_t itemCount = 0, batches = 0;
};

/// A value as text, shortest in its own dtype; "nan", "inf", "-inf".
std::string metricText(const ScalarMetric &metric);
/// The same as a field of an object.
void addMetric(JsonWriter &json, const ScalarMetric &metric);

} // namespace dlrt

#endif
