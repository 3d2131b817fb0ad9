// What a kernel reads in another order than it writes: square by square, each
// transposed in registers. A few such values are read at the speed of memory;
// many of them are much code, and take the compiler long.
#include "dialects/graph/Step.h"
#include "dialects/graph/StorageOrder.h"
#include "passes/fuse/KernelGroups.h"

using namespace mlir;

namespace dl {

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// The orders of states, which what makes a new one does not say.
void KernelGroups::findStateOrders() {
  llvm::DenseMap<StringAttr, DenseI64ArrayAttr> layouts;
  for (auto state :
       function->getParentOfType<ModuleOp>().getOps<graph::StateOp>())
    if (DenseI64ArrayAttr layout = state.getLayoutAttr())
      layouts[state.getSymNameAttr()] = layout;
  auto note = [&](Value value, FlatSymbolRefAttr state) {
    auto found = state ? layouts.find(state.getAttr()) : layouts.end();
    if (found != layouts.end())
      stateOrders.try_emplace(value, found->second);
  };
  Block &body = function.getBody().front();
  for (Value argument : body.getArguments())
    note(argument, graph::stateOf(argument));
  for (OpOperand &returned : body.getTerminator()->getOpOperands())
    note(returned.get(), graph::stateOf(returned));
}

unsigned KernelGroups::reorderedBy(Operation *op) const {
  auto orderOf = [](Value value) {
    auto result = dyn_cast<OpResult>(graph::rootOf(value));
    return result ? graph::storageOrder(result) : DenseI64ArrayAttr();
  };
  unsigned count = 0;
  for (Value value : realOperands(op)) {
    count += orderOf(value) != orderOf(op->getResult(0)) &&
             2 * typeOf(value).getNumElements() >=
                 typeOf(op->getResult(0)).getNumElements();
    if (Operation *def = value.getDefiningOp(); def && waiting.contains(def))
      count += reorderedBy(def);
  }
  return count;
}

KernelGroups::StoredValues KernelGroups::rowMajorBehind(const Group &group,
                                                        Operation *op) const {
  StoredValues values;
  ArrayRef<int64_t> shape = typeOf(op->getResult(0)).getShape();
  for (Value value : realOperands(op)) {
    if (typeOf(value).getShape() != shape)
      continue;
    Value root = graph::rootOf(value);
    auto result = dyn_cast<OpResult>(root);
    if (Operation *def = madeInPlace(group, value))
      values.insert_range(rowMajor.lookup(def));
    else if (!stateOrders.contains(root) &&
             !(result && graph::storageOrder(result)))
      values.insert(value);
    if (values.size() > kMostReordered)
      break;
  }
  return values;
}

/// A new state, whose order all of its kernel has, is made of many values in
/// another one:
///   the gradient of a weight [128,8] that is stored column by column is the
///   sum of 200 products, row by row; the update reads the sum, and not all of
///   them
bool KernelGroups::reordersTooMuch(const Group &group, Operation *op) const {
  return stateOrders.contains(op->getResult(0)) &&
         rowMajorBehind(group, op).size() > kMostReordered;
}

} // namespace dl
