#include "compiler/codegen/kernel/KernelBody.h"
#include "dialects/graph/StorageOrder.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace dl::kernel {

SmallVector<AffineExpr> accessAt(const graph::Access &access,
                                 ArrayRef<AffineExpr> dims) {
  SmallVector<AffineExpr> index;
  for (AffineExpr result : access.map.getResults())
    index.push_back(simplified(result.replaceDims(dims)));
  return index;
}

SmallVector<int64_t, 6> stridesOf(ArrayRef<int64_t> shape,
                                  ArrayRef<int64_t> order) {
  SmallVector<int64_t, 6> strides(shape.size(), 1);
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    size_t dim = order.empty() ? i : order[i];
    strides[dim] = stride;
    stride *= shape[dim];
  }
  return strides;
}

AffineExpr simplified(AffineExpr expr) {
  unsigned numDims = 0, numSymbols = 0;
  expr.walk([&](AffineExpr part) {
    if (auto dim = dyn_cast<AffineDimExpr>(part))
      numDims = std::max(numDims, dim.getPosition() + 1);
    if (auto symbol = dyn_cast<AffineSymbolExpr>(part))
      numSymbols = std::max(numSymbols, symbol.getPosition() + 1);
  });
  return simplifyAffineExpr(expr, numDims, numSymbols);
}

FailureOr<KernelBody> KernelBody::create(graph::KernelOp kernel) {
  KernelBody body(kernel);
  for (Operation &op : body.ops()) {
    auto loops = dyn_cast<graph::LoopNestOpInterface>(op);
    if (!loops)
      return op.emitOpError("has no loop nest and cannot be part of a kernel");
    graph::LoopNest &nest = body.nests[&op];
    nest = body.joined.nestOf(loops);
    body.putMemoryOrder(&op, nest);
  }
  return body;
}

SmallVector<int64_t, 6> KernelBody::orderOf(Value value) const {
  if (auto result = dyn_cast<OpResult>(value))
    return orderOf(value, graph::storageOrder(result));
  std::optional<ArrayAttr> orders = kernel.getOperandLayouts();
  if (!orders)
    return {};
  unsigned number = cast<BlockArgument>(value).getArgNumber();
  return orderOf(value, dyn_cast<DenseI64ArrayAttr>((*orders)[number]));
}

SmallVector<int64_t, 6> KernelBody::orderedStrides(Value value) const {
  return stridesOf(shapeOf(value), orderOf(value));
}

/// A sum runs fastest along the dim whose elements lie next to each other.
void KernelBody::putMemoryOrder(Operation *op, graph::LoopNest &loops) const {
  unsigned numDims = loops.extents.size();
  if (loops.combine != graph::Combine::Sum)
    return;
  std::optional<unsigned> inner;
  for (auto [operand, access] : llvm::zip(op->getOperands(), loops.accesses))
    if (auto order = orderOf(operand); !order.empty())
      if (auto dim =
              dyn_cast<AffineDimExpr>(access.map.getResult(order.back()));
          dim && dim.getPosition() >= loops.numParallel)
        inner = dim.getPosition();
  if (!inner)
    return;
  // Dim `inner` goes last; what was behind it moves up.
  MLIRContext *context = op->getContext();
  SmallVector<AffineExpr> dims;
  for (unsigned d = 0; d < numDims; ++d)
    dims.push_back(getAffineDimExpr(d == *inner  ? numDims - 1
                                    : d > *inner ? d - 1
                                                 : d,
                                    context));
  int64_t extent = loops.extents[*inner];
  loops.extents.erase(loops.extents.begin() + *inner);
  loops.extents.push_back(extent);
  for (graph::Access &access : loops.accesses) {
    access.map = access.map.replaceDimsAndSymbols(dims, {}, numDims, 0);
    for (AffineExpr &guard : access.guards)
      guard = guard.replaceDims(dims);
  }
}

bool KernelBody::hasIndirect() const {
  return llvm::any_of(ops(),
                      [&](Operation &op) { return nest(&op).isIndirect(); });
}

int64_t KernelBody::flops() const {
  int64_t sum = 0;
  for (Operation &op : ops())
    if (auto cost = dyn_cast<graph::CostOpInterface>(op))
      sum += cost.getFlops();
  return sum;
}

} // namespace dl::kernel
