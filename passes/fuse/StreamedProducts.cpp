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
findTotals(Operation *product) {
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
      else
        made.insert(user);
    }
  return totals;
}

bool streams(Operation *product, const plan::MachineModel &machine) {
  LoopNest nest = cast<LoopNestOpInterface>(product).getLoopNest();
  Value result = product->getResult(0);
  int64_t summed = nest.points() / graph::numElements(result);
  int64_t bytes = multipliesNarrow(product)
                      ? 2
                      : graph::elementBytes(graph::elementOf(result));
  return summed <=
             machine.streamedWidth(productRate(product, machine), bytes) &&
         findTotals(product);
}

SmallVector<Operation *> totalsOf(Operation *product) {
  auto totals = findTotals(product);
  return totals ? SmallVector<Operation *>(totals->takeVector())
                : SmallVector<Operation *>();
}

} // namespace dl
