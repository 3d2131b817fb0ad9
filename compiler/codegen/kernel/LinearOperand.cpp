#include "compiler/codegen/kernel/LinearOperand.h"
#include "dialects/graph/PayloadFacts.h"

using namespace mlir;

namespace dl::kernel {

LogicalResult addLinear(AffineExpr expr, int64_t factor,
                        MutableArrayRef<int64_t> coefficients,
                        int64_t &constant) {
  if (auto number = dyn_cast<AffineConstantExpr>(expr)) {
    constant += factor * number.getValue();
    return success();
  }
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    coefficients[dim.getPosition()] += factor;
    return success();
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  AffineExpr lhs = binary.getLHS(), rhs = binary.getRHS();
  if (expr.getKind() == AffineExprKind::Add)
    return success(succeeded(addLinear(lhs, factor, coefficients, constant)) &&
                   succeeded(addLinear(rhs, factor, coefficients, constant)));
  if (expr.getKind() == AffineExprKind::Mul)
    if (auto by = dyn_cast<AffineConstantExpr>(rhs))
      return addLinear(lhs, factor * by.getValue(), coefficients, constant);
  return failure();
}

static InFlightDiagnostic notLinear(Operation *op, AffineExpr expr) {
  std::string text;
  llvm::raw_string_ostream(text) << expr;
  return op->emitOpError("reads an operand at ")
         << text << ", which is not linear: no strategy for products has that";
}

FailureOr<LinearOperand> linearOperand(const StagedKernel &kernel,
                                       const Stage &stage, unsigned number,
                                       StridesFn stridesIn) {
  const graph::LoopNest &loops = kernel.nest(stage.op);
  SmallVector<AffineExpr> dims;
  for (unsigned d = 0; d < loops.extents.size(); ++d)
    dims.push_back(getAffineDimExpr(d, stage.op->getContext()));
  LinearOperand operand;
  auto index = accessAt(loops.accesses[number], dims);
  operand.index.assign(index.begin(), index.end());
  Value read = stage.op->getOperand(number);
  operand.leaf =
      kernel.viewedLeaf(read, operand.index, kernel.seenByProducts());
  for (; read != operand.leaf; read = read.getDefiningOp()->getOperand(0))
    operand.rounds |= graph::payloadFacts(cast<graph::LoopNestOpInterface>(
                                              read.getDefiningOp()))
                          .isRounding;
  operand.isNarrow =
      cast<RankedTensorType>(operand.leaf.getType()).getElementType().isBF16();
  operand.coefficients.assign(dims.size(), 0);
  for (auto [expr, stride] : llvm::zip(operand.index, stridesIn(operand.leaf)))
    if (failed(addLinear(expr, stride, operand.coefficients, operand.constant)))
      return notLinear(stage.op, expr);
  return operand;
}

LogicalResult findBorders(const StagedKernel &kernel, Operation *op,
                          SmallVectorImpl<Border> &borders) {
  const graph::LoopNest &loops = kernel.nest(op);
  for (auto [operand, access] : llvm::zip(op->getOperands(), loops.accesses)) {
    if (!access.outside)
      continue;
    auto shape = kernel.shapeOf(operand);
    for (auto [expr, extent] : llvm::zip(access.map.getResults(), shape)) {
      SmallVector<int64_t, 8> steps(loops.extents.size(), 0);
      int64_t constant = 0;
      if (failed(addLinear(expr, 1, steps, constant)))
        return notLinear(op, expr);
      Border border{0, 0, 0, 0, constant, extent};
      int64_t low = constant, high = constant;
      for (auto [d, step] : llvm::enumerate(steps)) {
        (step < 0 ? low : high) += step * (loops.extents[d] - 1);
        if (step == 0)
          continue;
        if (d < loops.numParallel)
          border.parallel = d, border.step = step;
        else
          border.k = d, border.kStep = step;
      }
      if (low < 0 || high >= extent)
        borders.push_back(border);
    }
  }
  return success();
}

} // namespace dl::kernel
