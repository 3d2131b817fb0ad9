#include "passes/fuse/StreamedProducts.h"
#include "dialects/graph/Graph.h"
#include "dialects/graph/Inference.h"
#include "dialects/graph/TensorBytes.h"
#include "passes/fuse/ProductRate.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using dl::graph::LoopNest;
using dl::graph::LoopNestOpInterface;

namespace dl {

bool isMaskOfPlaces(Value value) {
  constexpr size_t kMost = 32;
  if (!graph::elementOf(value).isInteger(1))
    return false;
  llvm::SetVector<Operation *> ops;
  ops.insert(value.getDefiningOp());
  for (size_t i = 0; i < ops.size(); ++i) {
    auto loops = dyn_cast_or_null<LoopNestOpInterface>(ops[i]);
    if (i == kMost || !loops || loops.getLoopNest().isIndirect() ||
        loops.getLoopNest().combine != graph::Combine::None)
      return false;
    for (Value operand : loops->getOperands())
      ops.insert(operand.getDefiningOp());
  }
  return true;
}

int64_t batchItems(const LoopNest &product) {
  int64_t items = 1;
  for (unsigned dim = 0; dim < product.numParallel; ++dim) {
    if (!llvm::all_of(product.accesses, [&](const graph::Access &access) {
          return access.map.isFunctionOfDim(dim);
        }))
      break;
    items *= product.extents[dim];
  }
  return items;
}

/// What adds columns up of what is made of it; nothing where something else is
/// done with a value of its shape.
static std::optional<llvm::SetVector<Operation *>>
findTotals(Operation *product, bool &isMasked) {
  llvm::SetVector<Operation *> made, totals;
  made.insert(product);
  for (size_t i = 0; i < made.size(); ++i)
    for (OpOperand &use : made[i]->getUses()) {
      auto user = dyn_cast<LoopNestOpInterface>(use.getOwner());
      if (!user || user->getNumResults() != 1)
        return std::nullopt;
      LoopNest loops = user.getLoopNest();
      auto column = dyn_cast<AffineDimExpr>(
          loops.accesses[use.getOperandNumber()].map.getResults().back());
      if (!column || loops.isIndirect() || loops.isSequential())
        return std::nullopt;
      if (column.getPosition() >= loops.numParallel)
        totals.insert(user);
      else if (graph::shapeOf(user->getResult(0)) !=
               graph::shapeOf(product->getResult(0)))
        return std::nullopt;
      else if (made.insert(user))
        isMasked |= llvm::any_of(user->getOperands(), isMaskOfPlaces);
    }
  return totals;
}

/// A small value is made of one of them, through a few ops.
static unsigned passBehind(Value value,
                           const llvm::DenseMap<Operation *, unsigned> &passOf,
                           const llvm::SetVector<Operation *> &totals) {
  constexpr size_t kMostBetween = 16;
  unsigned pass = 0;
  llvm::SetVector<Operation *> open;
  open.insert(value.getDefiningOp());
  for (size_t i = 0; i < open.size() && i < kMostBetween; ++i) {
    Operation *op = open[i];
    if (totals.contains(op))
      pass = std::max(pass, passOf.lookup(op) + 1);
    else if (op)
      for (Value operand : op->getOperands())
        open.insert(operand.getDefiningOp());
  }
  return pass;
}

/// How often columns come again: for each total that waits for another one.
static unsigned passesAgain(Operation *product,
                            const llvm::SetVector<Operation *> &totals) {
  llvm::SetVector<Operation *> ops(totals);
  SmallVector<Operation *> open{product};
  while (!open.empty()) {
    Operation *op = open.pop_back_val();
    if (ops.insert(op) || op == product)
      if (!totals.contains(op))
        llvm::append_range(open, op->getUsers());
  }
  SmallVector<Operation *> sorted(ops.takeVector());
  llvm::sort(sorted,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  llvm::DenseMap<Operation *, unsigned> passOf;
  unsigned last = 0;
  for (Operation *op : sorted) {
    unsigned pass = 0;
    for (Value operand : op->getOperands())
      if (auto known = passOf.find(operand.getDefiningOp());
          known != passOf.end() && !totals.contains(operand.getDefiningOp()))
        pass = std::max(pass, known->second);
      else
        pass = std::max(pass, passBehind(operand, passOf, totals));
    passOf[op] = pass;
    last = std::max(last, pass);
  }
  return last;
}

bool streams(Operation *product, const plan::MachineModel &machine) {
  LoopNest nest = cast<LoopNestOpInterface>(product).getLoopNest();
  Value result = product->getResult(0);
  int64_t summed = nest.points() / graph::numElements(result);
  int64_t bytes = multipliesNarrow(product)
                      ? 2
                      : graph::elementBytes(graph::elementOf(result));
  bool isMasked = false;
  auto totals = findTotals(product, isMasked);
  return totals && summed * std::max(1u, passesAgain(product, *totals)) <=
                       machine.streamedWidth(productRate(product, machine),
                                             bytes, isMasked);
}

SmallVector<Operation *> totalsOf(Operation *product) {
  bool isMasked = false;
  auto totals = findTotals(product, isMasked);
  return totals ? SmallVector<Operation *>(totals->takeVector())
                : SmallVector<Operation *>();
}

} // namespace dl
