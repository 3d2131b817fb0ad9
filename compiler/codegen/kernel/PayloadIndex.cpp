#include "compiler/codegen/kernel/PayloadIndex.h"
#include "compiler/codegen/kernel/KernelBody.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace dl::kernel {

static AffineExpr sumOf(Value number, ArrayRef<AffineExpr> indices) {
  if (auto argument = dyn_cast<BlockArgument>(number)) {
    unsigned first = argument.getOwner()->getNumArguments() - indices.size();
    return argument.getArgNumber() < first
               ? AffineExpr()
               : indices[argument.getArgNumber() - first];
  }
  auto of = [&](Value operand) { return sumOf(operand, indices); };
  return llvm::TypeSwitch<Operation *, AffineExpr>(number.getDefiningOp())
      .Case([&](arith::IndexCastOp op) { return of(op.getIn()); })
      .Case([&](arith::ConstantOp op) {
        return getAffineConstantExpr(
            cast<IntegerAttr>(op.getValue()).getValue().getSExtValue(),
            op.getContext());
      })
      .Case([&](graph::LaunchConstantOp op) {
        return getAffineSymbolExpr(op.getNumber(), op.getContext());
      })
      .Case([&](arith::AddIOp op) {
        AffineExpr lhs = of(op.getLhs()), rhs = of(op.getRhs());
        return lhs && rhs ? lhs + rhs : AffineExpr();
      })
      .Case([&](arith::MulIOp op) {
        AffineExpr lhs = of(op.getLhs()), rhs = of(op.getRhs());
        return lhs && rhs && isa<AffineConstantExpr>(rhs) ? lhs * rhs
                                                          : AffineExpr();
      })
      .Default([](Operation *) { return AffineExpr(); });
}

AffineExpr payloadIndex(Value number, ArrayRef<AffineExpr> indices) {
  AffineExpr sum = sumOf(number, indices);
  return sum ? simplified(sum) : sum;
}

} // namespace dl::kernel
