// What the backward makes again for a product: written by a kernel that reads
// the same values anyway.
#include "dialects/graph/MadeAgain.h"
#include "dialects/graph/StepRole.h"
#include "dialects/graph/StorageOrder.h"
#include "passes/fuse/KernelGroups.h"

using namespace mlir;

namespace dl {

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// Whether the op goes over the points of the group, none of whose values it
/// reads.
static bool hasShapeOf(ArrayRef<int64_t> points, Operation *op,
                       Operation *first) {
  ArrayRef<int64_t> shape = typeOf(op->getResult(0)).getShape();
  return shape.size() >= points.size() &&
         shape.take_front(points.size()) == points &&
         graph::storageOrder(op->getOpResult(0)) ==
             graph::storageOrder(first->getOpResult(0));
}

/// Groups of the backward that read an operand of the op at its own places,
/// products first.
SmallVector<unsigned> KernelGroups::groupsBeside(Operation *op) const {
  SmallVector<unsigned> groups;
  for (Value value : realOperands(op))
    if (typeOf(value).getShape() == typeOf(op->getResult(0)).getShape())
      for (unsigned g : readersOf.lookup(value))
        if (!llvm::is_contained(groups, g) && !list[g].ops.empty() &&
            graph::roleOf(list[g].ops.front()->getLoc()) !=
                graph::StepRole::Forward)
          groups.push_back(g);
  llvm::sort(groups, [&](unsigned x, unsigned y) {
    return std::make_pair(!list[x].contraction, x) <
           std::make_pair(!list[y].contraction, y);
  });
  return groups;
}

void KernelGroups::assignBeside(Operation *op) {
  SmallVector<unsigned> reads;
  for (Value value : realOperands(op))
    if (int group = groupOf(value); group >= 0)
      reads.push_back(group);
  for (unsigned g : groupsBeside(op)) {
    const Group &group = list[g];
    Operation *first = group.ops.front();
    StringRef why = obstacle(group, op);
    if (why.empty())
      why = obstacleInOrder(g, op, reads);
    if (why.empty() &&
        !hasShapeOf(group.contraction ? typeOf(first->getResult(0)).getShape()
                                      : ArrayRef<int64_t>(group.prefix),
                    op, first))
      why = "its shape is another one";
    if (!why.empty()) {
      explain(op, "not made again beside", group, why);
      continue;
    }
    explain(op, "made again beside", group, "it reads the same values");
    append(g, op);
    return;
  }
  startGroup(op);
}

} // namespace dl
