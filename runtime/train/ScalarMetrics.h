// The scalar metrics of a step, averaged over the items of its batches.
#ifndef DLRT_TRAIN_SCALARMETRICS_H
#define DLRT_TRAIN_SCALARMETRICS_H

#include "runtime/exec/Executor.h"
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
  ScalarMetrics(const fb::StepT &step, const Executor &executor);

  void clear();
  /// After a batch has run.
  void addBatch(Launch::Phase phase, uint64_t items);
  /// After the update has run.
  void addUpdate();

  /// The means so far, in the plan's order.
  const std::vector<ScalarMetric> &values();
  uint64_t items() const { return itemCount; }

private:
  struct Place {
    const uint8_t *address;
    fb::DType dtype;
  };
  void collectPlaces(const fb::ProgramT &program, std::vector<Place> &places,
                     bool name);
  static double read(const Place &place);

  const Executor &executor;
  std::vector<Place> batchPlaces[2];
  std::vector<Place> updatePlaces;
  std::vector<double> sums; ///< weighted by items, batch metrics only
  std::vector<ScalarMetric> metrics;
  uint64_t itemCount = 0, batches = 0;
};

/// A value as text, shortest in its own dtype; "nan", "inf", "-inf".
std::string metricText(const ScalarMetric &metric);

} // namespace dlrt

#endif
