#include "dialects/graph/PayloadFacts.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace dl::graph {

/// Scalars of payloads are signless: the ops say how bits are meant.
static Type scalarOf(Value tensor) {
  Type type = cast<RankedTensorType>(tensor.getType()).getElementType();
  if (type.isUnsignedInteger())
    return IntegerType::get(type.getContext(), type.getIntOrFloatBitWidth());
  return type;
}

PayloadFacts payloadFacts(LoopNestOpInterface op) {
  LoopNest nest = op.getLoopNest();
  Block block;
  SmallVector<Value> operands, indices;
  for (Value operand : op->getOperands())
    operands.push_back(block.addArgument(scalarOf(operand), op->getLoc()));
  for (size_t i = 0; i < nest.extents.size(); ++i)
    indices.push_back(
        block.addArgument(IndexType::get(op->getContext()), op->getLoc()));
  OpBuilder builder(op->getContext());
  builder.setInsertionPointToEnd(&block);
  SmallVector<Value> results =
      op.buildBody(builder, op->getLoc(), operands, indices);

  PayloadFacts facts;
  facts.isView = nest.combine == Combine::None && operands.size() == 1 &&
                 results.size() == 1 && results[0] == operands[0] &&
                 !nest.accesses[0].outside && nest.accesses[0].guards.empty();
  facts.isExpensive = llvm::any_of(block, [](Operation &inner) {
    return isa<PhiloxOp>(inner) ||
           (isa<math::MathDialect>(inner.getDialect()) &&
            !isa<math::AbsFOp, math::FloorOp>(inner));
  });
  return facts;
}

} // namespace dl::graph
