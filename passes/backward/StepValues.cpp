#include "passes/backward/StepValues.h"
#include "dialects/graph/DepthFirst.h"

using namespace mlir;

namespace dl {

std::string describe(Value value) {
  if (FlatSymbolRefAttr state = graph::stateOf(value))
    return "'" + state.getValue().str() + "'";
  if (graph::PortAttr port = graph::portOf(value))
    if (std::optional<int64_t> input = port.asInput())
      return "input " + std::to_string(*input);
  return "a value " + graph::typeText(value.getType());
}

void computeAgain(Value wanted, OpBuilder &body, IRMapping &known,
                  llvm::function_ref<Value(Value)> addArgument) {
  graph::visitDepthFirst<Value>(
      wanted, [&](Value value) { return known.contains(value); },
      [&](Value value) {
        Operation *op = value.getDefiningOp();
        return op ? SmallVector<Value>(op->getOperands())
                  : SmallVector<Value>();
      },
      [&](Value value) {
        if (Operation *op = value.getDefiningOp())
          body.clone(*op, known);
        else
          known.map(value, addArgument(value));
      });
}

} // namespace dl
