#include "dialects/graph/Progression.h"
#include "dialects/graph/Graph.h"
#include "dialects/graph/Inference.h"

using namespace mlir;

namespace dl::graph {

/// Beyond it sums and products of two might overflow; no tensor has so many
/// elements.
static constexpr int64_t kLargest = int64_t(1) << 31;

bool Progression::isWithin(int64_t bound) const {
  return std::min(start, last()) >= 0 && std::max(start, last()) < bound;
}

/// A whole number that all elements are.
static std::optional<int64_t> constantOf(Value value) {
  auto full = value.getDefiningOp<FullOp>();
  if (!full)
    return std::nullopt;
  double number = full.getValue().convertToDouble();
  if (number != std::floor(number) || std::abs(number) >= double(kLargest))
    return std::nullopt;
  return static_cast<int64_t>(number);
}

static std::optional<Progression> found(Value integers) {
  Operation *maker = integers.getDefiningOp();
  if (auto iota = dyn_cast_or_null<IotaOp>(maker)) {
    auto shape = cast<RankedTensorType>(iota.getType()).getShape();
    int64_t count = shape[iota.getDim()];
    if (!iota.getStart().empty() || count != numElements(iota.getResult()))
      return std::nullopt;
    return Progression{0, 1, count};
  }
  if (auto reshape = dyn_cast_or_null<ReshapeOp>(maker))
    return progressionOf(reshape.getX());
  if (!isa_and_nonnull<AddOp, MulOp>(maker))
    return std::nullopt;
  for (unsigned side : {0, 1}) {
    std::optional<int64_t> by = constantOf(maker->getOperand(1 - side));
    if (!by || numElements(maker->getOperand(side)) != numElements(integers))
      continue;
    auto from = progressionOf(maker->getOperand(side));
    if (!from)
      continue;
    if (isa<AddOp>(maker))
      return Progression{from->start + *by, from->step, from->count};
    return Progression{from->start * *by, from->step * *by, from->count};
  }
  return std::nullopt;
}

std::optional<Progression> progressionOf(Value integers) {
  if (!cast<RankedTensorType>(integers.getType())
           .getElementType()
           .isSignlessInteger(64))
    return std::nullopt;
  std::optional<Progression> made = found(integers);
  auto isLarge = [](int64_t number) { return std::abs(number) >= kLargest; };
  if (!made || isLarge(made->start) || isLarge(made->step) ||
      isLarge(made->count))
    return std::nullopt;
  return made;
}

} // namespace dl::graph
