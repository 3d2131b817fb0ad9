#include "dialects/graph/GraphBuilder.h"
#include "dialects/graph/Payload.h"
#include "dialects/graph/Reference.h"

using namespace mlir;
using namespace dl::graph;

/// An element looks at no more operands than this.
static constexpr size_t kMostOperands = 8;

LogicalResult CatOp::inferReturnTypes(MLIRContext *, OptionalLoc loc,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  ValueRange inputs = adaptor.getInputs();
  auto first = cast<RankedTensorType>(inputs[0].getType());
  int64_t dim = adaptor.getDim();
  if (failed(requireSameElement(loc, "cat", inputs.getTypes())))
    return failure();
  if (first.getRank() == 0)
    return emitOptionalError(loc,
                             "cat: scalars cannot be concatenated; use stack");
  if (failed(requireDim(loc, "cat", dim, first)))
    return failure();
  SmallVector<int64_t> shape(first.getShape());
  for (auto [i, input] : llvm::enumerate(inputs.drop_front())) {
    ArrayRef<int64_t> other = shapeOf(input);
    bool fits = other.size() == shape.size();
    for (size_t d = 0; fits && d < shape.size(); ++d)
      fits = static_cast<int64_t>(d) == dim || other[d] == shape[d];
    if (!fits)
      return emitOptionalError(loc, "cat: sizes must match except in dim ", dim,
                               ", got ", shapeText(first), " and ",
                               shapeText(other), " (tensor ", i + 1, ")");
    shape[dim] += other[dim];
  }
  types.push_back(RankedTensorType::get(shape, first.getElementType()));
  return success();
}

/// Where each operand begins along the dim.
static SmallVector<int64_t> starts(CatOp op) {
  SmallVector<int64_t> result;
  int64_t at = 0;
  for (Value input : op.getInputs()) {
    result.push_back(at);
    at += shapeOf(input)[op.getDim()];
  }
  return result;
}

// Each operand is read where its part is; elsewhere nothing is loaded.
LoopNest CatOp::getLoopNest() {
  ArrayRef<int64_t> shape = shapeOf(getResult());
  LoopNest nest;
  nest.extents.assign(shape.begin(), shape.end());
  nest.numParallel = shape.size();
  for (int64_t start : starts(*this)) {
    SmallVector<AffineExpr> indices;
    for (unsigned i = 0; i < shape.size(); ++i)
      indices.push_back(getAffineDimExpr(i, getContext()));
    indices[getDim()] = indices[getDim()] - start;
    nest.accesses.push_back(
        {AffineMap::get(shape.size(), 0, indices, getContext()), {}, 0.0});
  }
  return nest;
}

SmallVector<Value> CatOp::buildBody(OpBuilder &builder, Location loc,
                                    ValueRange x, ValueRange indices) {
  Value result = x[0];
  SmallVector<int64_t> begin = starts(*this);
  for (size_t i = 1; i < x.size(); ++i) {
    Value from = arith::ConstantIndexOp::create(builder, loc, begin[i]);
    Value behind = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::uge, indices[getDim()], from);
    result = arith::SelectOp::create(builder, loc, behind, x[i], result);
  }
  return {result};
}

FailureOr<SmallVector<Value>> CatOp::decompose(OpBuilder &builder) {
  if (getInputs().size() <= kMostOperands)
    return failure();
  GraphBuilder g(builder, getLoc());
  SmallVector<Value> parts, inputs(getInputs());
  for (ArrayRef<Value> rest = inputs; !rest.empty();) {
    ArrayRef<Value> some = rest.take_front(kMostOperands);
    rest = rest.drop_front(some.size());
    parts.push_back(some.size() == 1 ? some[0] : g.make<CatOp>(some, getDim()));
  }
  return SmallVector<Value>{g.make<CatOp>(parts, getDim())};
}

SmallVector<Value> CatOp::buildGradient(OpBuilder &builder, ValueRange grads,
                                        ArrayRef<bool> needed) {
  GraphBuilder g(builder, getLoc());
  SmallVector<Value> result(getInputs().size());
  SmallVector<int64_t> offsets(shapeOf(getResult()).size(), 0),
      strides(offsets.size(), 1), begin = starts(*this);
  for (auto [i, input] : llvm::enumerate(getInputs())) {
    offsets[getDim()] = begin[i];
    if (needed[i])
      result[i] = g.make<SliceOp>(grads[0], offsets, shapeOf(input), strides);
  }
  return result;
}

OpFoldResult CatOp::fold(FoldAdaptor) {
  return getInputs().size() == 1 ? getInputs()[0] : OpFoldResult();
}

HostTensors CatOp::evaluate(ArrayRef<HostTensor> x) {
  HostTensor result(getType());
  SmallVector<int64_t> begin = starts(*this);
  for (auto [tensor, start] : llvm::zip(x, begin))
    forEachElement(tensor.shape(), [&](int64_t from, ArrayRef<int64_t> index) {
      SmallVector<int64_t> at(index);
      at[getDim()] += start;
      int64_t to = flatIndex(result.shape(), at);
      if (tensor.isFloat())
        result.floats[to] = tensor.floats[from];
      else
        result.ints[to] = tensor.ints[from];
    });
  return {result};
}

bool CatOp::joinsInOrder(DenseI64ArrayAttr order) {
  ArrayRef<int64_t> shape = shapeOf(getResult());
  for (size_t i = 0; i < shape.size(); ++i)
    if (size_t dim = order ? order[i] : i; dim == getDim() || shape[dim] != 1)
      return dim == getDim();
  return true; // one element
}

int64_t CatOp::getFlops() { return 0; }
