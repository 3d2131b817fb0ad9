// Weights in and out: between weight files, which carry PyTorch's state_dict
// names, shapes and row-major order, and the states of a plan.
#ifndef DLRT_STATE_WEIGHTS_H
#define DLRT_STATE_WEIGHTS_H

#include "runtime/base/Status.h"
#include "runtime/device/Buffers.h"
#include "runtime/plan/Layout.h"
#include "runtime/plan/plan_generated.h"
#include "runtime/state/Safetensors.h"
#include "runtime/state/WeightMatch.h"

#include <cstdint>
#include <string>
#include <vector>

namespace dlrt {

/// Whether a weight file holds this state: parameters and buffers do, what the
/// optimizer keeps does not.
bool isWeight(const fb::StateT &state);

/// Sets weights from files, as PyTorch's load_state_dict does. Each weight must
/// be in one of them under its name or an alias with its shape, and each tensor
/// must be a weight's; counters of batches (num_batches_tracked) need not. With
/// `partial` what fits is taken, of several files the last one's, and a warning
/// says what does not fit; nothing at all is an error. Dtypes are widened
/// exactly, and narrowed with a warning. Nothing is changed if there is an
/// error.
Status loadWeights(const fb::PlanT &plan,
                   const std::vector<WeightSource> &sources, bool partial,
                   Buffers &buffers, std::vector<std::string> &warnings);

/// Writes all weights, tied ones under each of their names.
Status saveWeights(const fb::PlanT &plan, const std::string &path,
                   const BufferReader &buffers);

/// The bytes of a tensor's whole buffer, row-major.
Expected<std::vector<uint8_t>> readTensor(const fb::PlanT &plan,
                                          uint32_t buffer,
                                          const std::vector<uint64_t> &shape,
                                          const Layout &layout, fb::DType dtype,
                                          const BufferReader &buffers);
/// Stores row-major elements; padding becomes zero.
Status writeState(const fb::PlanT &plan, const fb::StateT &state,
                  const uint8_t *rowMajor, Buffers &buffers);

/// A tensor to write: the values of a metric, row-major.
struct MetricValues {
  std::string name;
  fb::DType dtype;
  std::vector<uint64_t> shape;
  std::vector<uint8_t> data;
};

/// The values of all metrics of a program, any shape.
Expected<std::vector<MetricValues>> readMetrics(const fb::PlanT &plan,
                                                const fb::ProgramT &program,
                                                const BufferReader &buffers);
Status saveMetrics(const std::vector<MetricValues> &metrics,
                   const std::string &path);

} // namespace dlrt

#endif
