#include "passes/fuse/ProductRate.h"
#include "dialects/graph/Graph.h"
#include "dialects/graph/PayloadFacts.h"

using namespace mlir;

namespace dl {

bool isNarrow(Value value) {
  return cast<RankedTensorType>(value.getType()).getElementType().isBF16();
}

bool changesPrecision(Operation *op) {
  auto loops = dyn_cast_or_null<graph::LoopNestOpInterface>(op);
  if (!loops)
    return false;
  graph::PayloadFacts facts = graph::payloadFacts(loops);
  return facts.isWidening || facts.isRounding;
}

bool multipliesNarrow(Operation *product) {
  return llvm::all_of(product->getOperands(), [](Value operand) {
    Operation *def = operand.getDefiningOp();
    while (graph::isView(def)) {
      operand = def->getOperand(0);
      def = operand.getDefiningOp();
    }
    return changesPrecision(def);
  });
}

double productRate(Operation *product, const plan::MachineModel &machine) {
  if (multipliesNarrow(product))
    return machine.productBf16;
  Type element =
      cast<RankedTensorType>(product->getResult(0).getType()).getElementType();
  return element.isF64() ? machine.productF64 : machine.productF32;
}

} // namespace dl
