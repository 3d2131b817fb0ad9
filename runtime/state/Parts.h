// Tensors of which ranks have parts, put together and taken apart. All that
// leaves a run (weights, checkpoints, metrics) goes through here.
#ifndef DLRT_STATE_PARTS_H
#define DLRT_STATE_PARTS_H

#include "runtime/base/Status.h"
#include "runtime/device/Buffers.h"
#include "runtime/plan/Layout.h"
#include "runtime/plan/PlanSet.h"

#include <cstdint>
#include <string>
#include <vector>

namespace dlrt {

/// A tensor as all ranks know it.
struct PartedTensor {
  /// What one rank has of it.
  struct Part {
    BufferPlace place;
    uint64_t bytes; ///< of the buffer
    const Layout *layout;
    Box box;
    bool isCopy; ///< a rank before has the same
  };

  std::vector<uint64_t> shape;
  fb::DType dtype;
  std::vector<Part> parts; ///< by rank
};

/// The states of all plans, each once, by its first plan.
std::vector<const fb::StateT *> statesOf(const PlanSet &set);

/// Bytes of all of a state's elements.
uint64_t wholeBytes(const fb::StateT &state);

/// Where a state is on all ranks.
PartedTensor partsOf(const PlanSet &set, const fb::StateT &state);
/// Where a metric of a step's program of that kind is.
PartedTensor partsOf(const PlanSet &set, uint32_t step, fb::ProgramKind kind,
                     const fb::MetricT &metric);

/// The whole, row-major.
Expected<std::vector<uint8_t>> readWhole(const PartedTensor &tensor,
                                         const BufferReader &buffers);
/// Reads as readWhole does and keeps nothing: what a process does while another
/// one keeps the whole, where each part is read by all together.
Status readAlong(const PartedTensor &tensor, const BufferReader &buffers);
/// Stores the whole, row-major, on all ranks; padding becomes zero.
Status writeWhole(const PartedTensor &tensor, const uint8_t *rowMajor,
                  Buffers &buffers);

} // namespace dlrt

#endif
