#include "runtime/state/Parts.h"

#include "runtime/plan/DTypes.h"
#include "runtime/plan/StepPrograms.h"
#include "runtime/state/LayoutCopy.h"

#include <cstring>
#include <set>
#include <unordered_set>

using namespace dlrt;

std::vector<const fb::StateT *> dlrt::statesOf(const PlanSet &set) {
  std::vector<const fb::StateT *> states;
  std::unordered_set<std::string> known;
  for (const auto &plan : set.plans)
    for (const auto &state : plan->states)
      if (known.insert(state->name).second)
        states.push_back(state.get());
  return states;
}

namespace {

/// Collects the parts of a tensor that plans call by one name.
class PartFinder {
public:
  explicit PartFinder(const PlanSet &set) : plans(set) {}

  /// `find(plan)` gives the plan's own description, or null.
  template <typename Find> void add(PartedTensor &tensor, Find find) {
    for (uint32_t rank = 0; rank < plans.mesh.ranks(); ++rank) {
      const fb::PlanT &plan = plans.of(rank);
      const auto *own = find(plan);
      if (!own)
        continue;
      Box box = boxOf(plans.mesh, own->shape, own->split, rank);
      bool isCopy = !seen.insert(box.begin).second;
      for (uint64_t extent : box.extent)
        isCopy |= extent == 0; // nothing to be had
      tensor.parts.push_back({{own->buffer, 0, rank},
                              plan.buffers[own->buffer]->bytes,
                              &own->layout,
                              std::move(box),
                              isCopy});
    }
  }

private:
  const PlanSet &plans;
  std::set<std::vector<uint64_t>> seen;
};

template <typename Named>
const Named *byName(const std::vector<std::unique_ptr<Named>> &list,
                    const std::string &name) {
  for (const auto &each : list)
    if (each->name == name)
      return each.get();
  return nullptr;
}

bool isWhole(const PartedTensor &tensor, const Box &box) {
  return box.extent == tensor.shape;
}

uint64_t elementsOf(const std::vector<uint64_t> &shape) {
  uint64_t count = 1;
  for (uint64_t extent : shape)
    count *= extent;
  return count;
}

/// Calls copy(whole, part, bytes) for each run of a box's last dim, both
/// row-major.
template <typename Whole, typename Part, typename Copy>
void forRows(const PartedTensor &tensor, const Box &box, Whole *whole,
             Part *part, Copy copy) {
  uint64_t element = sizeOf(tensor.dtype);
  if (elementsOf(box.extent) == 0)
    return;
  size_t dims = box.extent.size();
  uint64_t run = dims == 0          ? 1
                 : box.runs.empty() ? box.extent.back()
                                    : box.runs.back().size;
  std::vector<uint64_t> at(dims, 0);
  for (;;) {
    uint64_t index = 0;
    for (size_t d = 0; d < dims; ++d)
      index = index * tensor.shape[d] + box.place(d, at[d]);
    copy(whole + index * element, part, run * element);
    part += run * element;
    if (dims != 0 && (at.back() += run) != box.extent.back())
      continue;
    if (dims != 0)
      at.back() = 0;
    size_t d = dims == 0 ? 0 : dims - 1;
    for (; d-- > 0;) {
      if (++at[d] != box.extent[d])
        break;
      at[d] = 0;
    }
    if (d >= dims) // it went below 0
      return;
  }
}

} // namespace

uint64_t dlrt::wholeBytes(const fb::StateT &state) {
  return elementsOf(state.shape) * sizeOf(state.dtype);
}

PartedTensor dlrt::partsOf(const PlanSet &set, const fb::StateT &state) {
  PartedTensor tensor = {state.shape, state.dtype, {}};
  PartFinder(set).add(tensor, [&](const fb::PlanT &plan) {
    return byName(plan.states, state.name);
  });
  return tensor;
}

PartedTensor dlrt::partsOf(const PlanSet &set, uint32_t step,
                           fb::ProgramKind kind, const fb::MetricT &metric) {
  PartedTensor tensor = {metric.shape, metric.dtype, {}};
  PartFinder(set).add(tensor, [&](const fb::PlanT &plan) {
    return byName(programOf(*plan.steps[step], kind)->metrics, metric.name);
  });
  return tensor;
}

Expected<std::vector<uint8_t>> dlrt::readWhole(const PartedTensor &tensor,
                                               const BufferReader &buffers) {
  std::vector<uint8_t> whole;
  for (const PartedTensor::Part &part : tensor.parts) {
    if (part.isCopy)
      continue;
    std::vector<uint8_t> stored(part.bytes);
    DLRT_TRY(buffers.read(part.place, stored));
    std::vector<uint8_t> values = rowMajorElements(
        part.box.extent, *part.layout, tensor.dtype, stored.data());
    if (isWhole(tensor, part.box))
      return values;
    whole.resize(elementsOf(tensor.shape) * sizeOf(tensor.dtype));
    forRows(tensor, part.box, whole.data(), values.data(),
            [](uint8_t *to, const uint8_t *from, uint64_t bytes) {
              std::memcpy(to, from, bytes);
            });
  }
  return whole;
}

Status dlrt::readAlong(const PartedTensor &tensor,
                       const BufferReader &buffers) {
  std::vector<uint8_t> stored;
  for (const PartedTensor::Part &part : tensor.parts) {
    if (part.isCopy)
      continue;
    stored.resize(part.bytes);
    DLRT_TRY(buffers.read(part.place, stored));
  }
  return {};
}

Status dlrt::writeWhole(const PartedTensor &tensor, const uint8_t *rowMajor,
                        Buffers &buffers) {
  for (const PartedTensor::Part &part : tensor.parts) {
    std::vector<uint8_t> stored(part.bytes), values;
    const uint8_t *from = rowMajor;
    if (!isWhole(tensor, part.box)) {
      values.resize(elementsOf(part.box.extent) * sizeOf(tensor.dtype));
      forRows(tensor, part.box, rowMajor, values.data(),
              [](const uint8_t *from, uint8_t *to, uint64_t bytes) {
                std::memcpy(to, from, bytes);
              });
      from = values.data();
    }
    storeElements(part.box.extent, *part.layout, sizeOf(tensor.dtype), from,
                  stored.data());
    DLRT_TRY(buffers.write(part.place, stored));
  }
  return {};
}
