#include "dialects/graph/PayloadFacts.h"
#include "dialects/graph/Payload.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace dl::graph {

PayloadFacts payloadFacts(LoopNestOpInterface op) {
  LoopNest nest = op.getLoopNest();
  PayloadBlock payload(op, nest.extents.size());
  PayloadFacts facts;
  bool isOperand = nest.combine == Combine::None && op->getNumOperands() == 1 &&
                   payload.results.size() == 1 &&
                   payload.results[0] == payload.scalars()[0];
  if (isOperand) {
    const Access &access = nest.accesses[0];
    facts.isView = !access.outside && access.guards.empty();
    facts.isZeroPaddedView = access.outside == 0.0 && access.guards.empty();
  }
  if (nest.combine == Combine::None && op->getNumOperands() == 1 &&
      payload.results.size() == 1 && nest.accesses[0].map.isIdentity()) {
    auto isOfOperand = [&](auto cast) {
      return cast && cast.getIn() == payload.scalars()[0];
    };
    Value result = payload.results[0];
    facts.isWidening = isOfOperand(result.getDefiningOp<arith::ExtFOp>()) &&
                       payload.scalars()[0].getType().isBF16();
    facts.isRounding = isOfOperand(result.getDefiningOp<arith::TruncFOp>()) &&
                       result.getType().isBF16();
  }
  facts.isExpensive =
      nest.isIndirect() || llvm::any_of(payload.block, [](Operation &inner) {
        return isa<PhiloxOp>(inner) ||
               (isa<math::MathDialect>(inner.getDialect()) &&
                !isa<math::AbsFOp, math::FloorOp>(inner));
      });
  if (op->getNumOperands() == 2 && payload.results.size() == 1)
    if (auto add = payload.results[0].getDefiningOp<arith::AddFOp>())
      facts.isAddition = nest.combine == Combine::None &&
                         ((add.getLhs() == payload.scalars()[0] &&
                           add.getRhs() == payload.scalars()[1]) ||
                          (add.getLhs() == payload.scalars()[1] &&
                           add.getRhs() == payload.scalars()[0]));
  facts.isComparison =
      nest.combine == Combine::None && op->getNumOperands() == 2 &&
      payload.results.size() == 1 &&
      isa_and_nonnull<arith::CmpFOp, arith::CmpIOp>(
          payload.results[0].getDefiningOp()) &&
      llvm::equal(payload.results[0].getDefiningOp()->getOperands(),
                  payload.scalars());
  return facts;
}

bool isView(Operation *op) {
  auto loops = dyn_cast_or_null<LoopNestOpInterface>(op);
  return loops && payloadFacts(loops).isView;
}

} // namespace dl::graph
