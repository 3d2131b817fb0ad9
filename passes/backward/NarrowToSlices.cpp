// narrow-to-slices: of what slices alone read, the rest is not computed.
#include "passes/backward/Box.h"
#include "passes/backward/Passes.h"

namespace dl {
#define GEN_PASS_DEF_NARROWTOSLICES
#include "passes/backward/Passes.h.inc"
} // namespace dl

using namespace mlir;
using namespace dl;
using graph::LoopNestOpInterface;

namespace {

Box boxOf(graph::SliceOp slice) {
  return {slice.getOffsets(), slice.getSizes()};
}

/// What a part of a result is made of: a part of each operand, or nothing
/// where the op does not say so.
std::optional<SmallVector<Box>> partsOfLoops(LoopNestOpInterface op,
                                             const Box &box) {
  graph::LoopNest nest = op.getLoopNest();
  if (nest.isSequential() || nest.replace)
    return std::nullopt;
  SmallVector<Box> parts;
  for (auto [operand, access] : llvm::zip(op->getOperands(), nest.accesses)) {
    if (!access.guards.empty() || access.outside || access.indirect)
      return std::nullopt;
    Box part(operand);
    for (auto [d, index] : llvm::enumerate(access.map.getResults())) {
      auto loop = dyn_cast<AffineDimExpr>(index);
      if (loop && loop.getPosition() < nest.numParallel) {
        if (part.sizes[d] != nest.extents[loop.getPosition()])
          return std::nullopt;
        part.offsets[d] = box.offsets[loop.getPosition()];
        part.sizes[d] = box.sizes[loop.getPosition()];
      } else if (loop ? part.sizes[d] != nest.extents[loop.getPosition()]
                      : part.sizes[d] != 1) {
        return std::nullopt;
      }
    }
    parts.push_back(part);
  }
  return parts;
}

/// The dims that the part leaves something of stand in the operand as they do
/// in the result.
std::optional<SmallVector<Box>> partsOfReshape(graph::ReshapeOp op,
                                               const Box &box) {
  ArrayRef<int64_t> from = graph::shapeOf(op.getX()),
                    to = graph::shapeOf(op.getResult());
  Box part(op.getX());
  int64_t before = 1;
  for (auto [d, size] : llvm::enumerate(to)) {
    if (box.sizes[d] != size) {
      int64_t same = 1;
      size_t at = 0;
      while (at < from.size() && (same != before || from[at] == 1))
        same *= from[at++];
      if (at == from.size() || same != before || from[at] != size)
        return std::nullopt;
      part.offsets[at] = box.offsets[d], part.sizes[at] = box.sizes[d];
    }
    before *= size;
  }
  return SmallVector<Box>{part};
}

std::optional<SmallVector<Box>> partsOf(Operation *op, const Box &box) {
  if (op->hasAttr("key")) // who draws has to know where
    return std::nullopt;
  if (auto reshape = dyn_cast<graph::ReshapeOp>(op))
    return partsOfReshape(reshape, box);
  if (isa<graph::DetachOp>(op))
    return SmallVector<Box>{box};
  if (isa<graph::SoftmaxOp, graph::LogSoftmaxOp>(op)) {
    auto dim = op->getAttrOfType<IntegerAttr>("dim").getInt();
    if (box.sizes[dim] != graph::shapeOf(op->getResult(0))[dim])
      return std::nullopt;
    return SmallVector<Box>{box};
  }
  auto loops = dyn_cast<LoopNestOpInterface>(op);
  return loops ? partsOfLoops(loops, box) : std::nullopt;
}

/// Of a loop over time that is unrolled each step takes its part: all of it.
constexpr size_t kMostParts = 16;

class Narrowing {
public:
  explicit Narrowing(graph::StepOp step) : builder(step.getContext()) {
    // Readers first: what is erased has been looked at.
    SmallVector<Operation *> ops(llvm::make_pointer_range(step.getOps()));
    for (Operation *op : llvm::reverse(ops))
      if (op->getNumResults() == 1 && !isa<graph::SliceOp>(op))
        narrow(op);
  }

private:
  void narrow(Operation *op) {
    Value result = op->getResult(0);
    SmallVector<graph::SliceOp> slices;
    SmallVector<Box> boxes; // each once, or too many to be made one by one
    std::optional<Box> hull;
    for (Operation *user : result.getUsers()) {
      auto slice = dyn_cast<graph::SliceOp>(user);
      if (!slice || llvm::any_of(slice.getStrides(),
                                 [](int64_t stride) { return stride != 1; }))
        return;
      slices.push_back(slice);
      Box box = boxOf(slice);
      hull = hull ? hull->hull(box) : box;
      if (boxes.size() <= kMostParts && !llvm::is_contained(boxes, box))
        boxes.push_back(box);
    }
    if (slices.empty())
      return;
    int64_t apart = 0;
    for (const Box &box : boxes)
      apart += box.elements();
    // Several parts are made one by one where much lies between them.
    bool nested = llvm::any_of(boxes, [&](const Box &box) {
      return llvm::any_of(boxes, [&](const Box &other) {
        return box != other && box.meets(other);
      });
    });
    if (nested || boxes.size() > kMostParts || 2 * apart > hull->elements()) {
      boxes = {*hull};
      apart = hull->elements();
    }
    if (4 * apart > 3 * Box(result).elements())
      return;
    // All of them or none: the op would stay whole for one.
    SmallVector<Value> parts;
    for (const Box &box : boxes)
      if (Value part = compute(op, box))
        parts.push_back(part);
    if (parts.size() < boxes.size()) {
      for (Value part : parts)
        part.getDefiningOp()->erase();
      return;
    }
    for (auto [box, part] : llvm::zip(boxes, parts))
      for (graph::SliceOp slice : slices)
        replace(slice, part, box);
    for (graph::SliceOp slice : slices)
      if (slice.use_empty())
        slice.erase();
    if (op->use_empty())
      op->erase();
  }

  /// Where the slice takes a part of this part.
  void replace(graph::SliceOp slice, Value part, const Box &box) {
    Box own = boxOf(slice);
    if (slice.getX() == part || own.hull(box) != box)
      return;
    for (auto [offset, begin] : llvm::zip(own.offsets, box.offsets))
      offset -= begin;
    builder.setInsertionPoint(slice);
    slice.getResult().replaceAllUsesWith(
        take(builder, slice.getLoc(), part, own));
  }

  /// Null where the op has no such part.
  Value compute(Operation *op, const Box &box) {
    std::optional<SmallVector<Box>> parts = partsOf(op, box);
    if (!parts)
      return {};
    builder.setInsertionPoint(op);
    SmallVector<Value> operands;
    for (auto [operand, part] : llvm::zip(op->getOperands(), *parts))
      operands.push_back(take(builder, op->getLoc(), operand, part));
    if (Operation *narrow = cloneFor(builder, op, operands, box.sizes))
      return narrow->getResult(0);
    for (Value operand : operands)
      if (operand.use_empty())
        operand.getDefiningOp()->erase();
    return {};
  }

  OpBuilder builder;
};

struct NarrowToSlices : dl::impl::NarrowToSlicesBase<NarrowToSlices> {
  void runOnOperation() override {
    // (What a text goes on with is looked at whole, by decode-by-position.)
    if (!getOperation().getOps<graph::GradientsOp>().empty())
      Narrowing{getOperation()};
  }
};

} // namespace
