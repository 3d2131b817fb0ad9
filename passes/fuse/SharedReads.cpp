// Ops that join a kernel which makes none of their operands, but reads the same
// values anyway: what the backward makes again for a product, and an
// optimizer's moments. `m' = b1*m + (1-b1)*g` and `v' = b2*v + (1-b2)*g*g`
// where g is an argument or came from other ranks are one pass over g then, and
// the new parameter, which reads both, needs neither from memory.
#include "dialects/graph/MadeAgain.h"
#include "dialects/graph/StepRole.h"
#include "dialects/graph/StorageOrder.h"
#include "passes/fuse/KernelGroups.h"

using namespace mlir;
using dl::graph::StepRole;

namespace dl {

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static StepRole roleOf(Operation *op) { return graph::roleOf(op->getLoc()); }

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

/// What the op reads, and what those read that go where it goes.
SmallVector<Value> KernelGroups::operandsWithWaiting(Operation *op) const {
  SmallVector<Value> values, open(llvm::reverse(realOperands(op)));
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (Operation *def = value.getDefiningOp(); def && waiting.contains(def))
      llvm::append_range(open, llvm::reverse(realOperands(def)));
    else
      values.push_back(value);
  }
  return values;
}

/// Groups that read an operand of the op at its own places, products first: of
/// the backward for what is made again, of updates for an update.
SmallVector<unsigned> KernelGroups::groupsBeside(Operation *op) const {
  bool update = roleOf(op) == StepRole::Update;
  SmallVector<unsigned> groups;
  // (One number, such as a bias correction, may be read by all updates.)
  for (Value value : operandsWithWaiting(op))
    if (typeOf(value).getShape() == typeOf(op->getResult(0)).getShape() &&
        (!update || typeOf(value).getNumElements() > 1))
      for (unsigned g : readersOf.lookup(value))
        if (!llvm::is_contained(groups, g) && !list[g].ops.empty() &&
            (update ? roleOf(list[g].ops.front()) == StepRole::Update
                    : roleOf(list[g].ops.front()) != StepRole::Forward))
          groups.push_back(g);
  llvm::sort(groups, [&](unsigned x, unsigned y) {
    return std::make_pair(!list[x].contraction, x) <
           std::make_pair(!list[y].contraction, y);
  });
  return groups;
}

bool KernelGroups::joinsBeside(Operation *op) {
  StringRef verb = op->hasAttr(graph::kMadeAgain) ? "made again" : "computed";
  SmallVector<unsigned> reads;
  for (Value value : realOperands(op))
    if (int group = groupOf(value); group >= 0)
      reads.push_back(group);
  for (unsigned g : groupsBeside(op)) {
    const Group &group = list[g];
    Operation *first = group.ops.front();
    bool whole = group.contraction || roleOf(op) == StepRole::Update;
    StringRef why = obstacle(group, op);
    if (why.empty())
      why = obstacleInOrder(g, op, reads);
    if (why.empty() &&
        !hasShapeOf(whole ? typeOf(first->getResult(0)).getShape()
                          : ArrayRef<int64_t>(group.prefix),
                    op, first))
      why = "its shape is another one";
    if (!why.empty()) {
      explain(op, ("not " + verb + " beside").str(), group, why);
      continue;
    }
    explain(op, (verb + " beside").str(), group, "it reads the same values");
    takeWaiting(g, op);
    append(g, op);
    return true;
  }
  return false;
}

} // namespace dl
