// Weights in and out: between weight files, which carry PyTorch's state_dict
// names, shapes and row-major order, and the states of a plan.
#ifndef DLRT_STATE_WEIGHTS_H
#define DLRT_STATE_WEIGHTS_H

#include "runtime/base/Status.h"
#include "runtime/plan/plan_generated.h"
#include "runtime/state/Safetensors.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace dlrt {

/// The address of a buffer of the arena.
using StateAddress = std::function<uint8_t *(uint32_t buffer)>;

/// Whether a weight file holds this state: parameters and buffers do, what the
/// optimizer keeps does not.
bool isWeight(const fb::StateT &state);

/// Sets all weights from a file. Each must be there under its name or an alias
/// with its shape; dtypes are widened exactly, and narrowed with a warning.
/// Nothing is changed if there is an error.
Status loadWeights(const fb::PlanT &plan, const std::string &path,
                   const StateAddress &address,
                   std::vector<std::string> &warnings);

/// Writes all weights, tied ones under each of their names.
Status saveWeights(const fb::PlanT &plan, const std::string &path,
                   const StateAddress &address);

/// A tensor to write: the values of a metric, row-major.
struct MetricValues {
  std::string name;
  fb::DType dtype;
  std::vector<uint64_t> shape;
  std::vector<uint8_t> data;
};

/// The values of all metrics of a program, any shape.
std::vector<MetricValues> readMetrics(const fb::ProgramT &program,
                                      const StateAddress &address);
Status saveMetrics(const std::vector<MetricValues> &metrics,
                   const std::string &path);

} // namespace dlrt

#endif
