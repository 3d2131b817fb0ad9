// Checks what the FlatBuffers verifier cannot know: that every index, range,
// shape and layout of a plan fits the others.
#ifndef DLRT_PLAN_VALIDATOR_H
#define DLRT_PLAN_VALIDATOR_H

#include "runtime/base/Status.h"
#include "runtime/plan/Container.h"
#include "runtime/plan/Mesh.h"
#include "runtime/plan/plan_generated.h"

#include <string>
#include <string_view>
#include <vector>

namespace dlrt {

/// Arena buffers start at multiples of this, and kernels may read this many
/// bytes past the end of a buffer.
constexpr uint64_t bufferAlignment = 64;
/// Words of the scalars buffer: seed, step, micro-batch, items of the group,
/// epoch, and three spare ones.
constexpr uint64_t scalarCount = 8;
/// Of these and of the settings behind them.
inline uint64_t stepValueBytes(const fb::PlanT &plan) {
  return (scalarCount + plan.settings.size()) * sizeof(int64_t);
}

/// Everything after this may use indices, ranges and layouts unchecked. The
/// plan's ranks must be some of the mesh's.
Status validatePlan(const Mesh &mesh, const fb::PlanT &plan,
                    const std::vector<SectionView> &sections);

/// The steps with their programs; the tables they refer to must be valid.
Status validateSteps(const Mesh &mesh, const fb::PlanT &plan);

/// What is wrong with a tensor whose parts lie in a buffer of each rank, or an
/// empty string. The ranks of a plan must have parts of one shape.
std::string checkTensor(const Mesh &mesh, const fb::PlanT &plan,
                        const std::vector<uint64_t> &shape, const Split &split,
                        const std::vector<fb::PhysicalDim> &layout,
                        fb::DType dtype, uint32_t buffer);
/// The same for axes that a split names.
std::string checkAxes(const Mesh &mesh, const std::vector<uint32_t> &axes);

/// A plan error at a place: "wrong plan: PLACE: WHAT".
Status planError(std::string_view place, std::string_view what);

/// Names are printed; control characters could take over a terminal.
bool isPrintable(std::string_view text);

/// Bytes of one item of a dataset's component; false on overflow.
bool itemBytes(const fb::InputComponentT &component, uint64_t &bytes);

} // namespace dlrt

#endif
