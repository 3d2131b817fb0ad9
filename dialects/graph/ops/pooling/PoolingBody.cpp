#include "dialects/graph/GraphBuilder.h"
#include "dialects/graph/Payload.h"

using namespace mlir;
using namespace dl::graph;

/// All elements of each window; `outside` where a window leaves x.
template <typename Op>
static LoopNest windowNest(Op op, ArrayRef<int64_t> shape, double outside) {
  ArrayRef<int64_t> kernel = op.getKernel(), stride = op.getStride(),
                    padding = op.getPadding();
  LoopNest nest;
  nest.extents.assign(shape.begin(), shape.end());
  nest.numParallel = 4;
  nest.extents.append(kernel.begin(), kernel.end());
  auto dim = [&](unsigned i) { return getAffineDimExpr(i, op->getContext()); };
  SmallVector<AffineExpr> indices = {dim(0), dim(1)};
  bool leaves = false;
  for (int i = 0; i < 2; ++i) {
    indices.push_back(dim(2 + i) * stride[i] + dim(4 + i) - padding[i]);
    int64_t last = (shape[2 + i] - 1) * stride[i] + kernel[i] - 1 - padding[i];
    leaves |= padding[i] > 0 || last >= shapeOf(op.getX())[2 + i];
  }
  Access access{AffineMap::get(6, 0, indices, op->getContext()), {}, {}};
  if (leaves)
    access.outside = outside;
  nest.accesses.push_back(access);
  return nest;
}

LoopNest MaxPool2dOp::getLoopNest() {
  LoopNest nest = windowNest(*this, shapeOf(getValues()),
                             -std::numeric_limits<double>::infinity());
  nest.combine = Combine::Max;
  nest.yieldsIndex = true;
  return nest;
}

LoopNest SumPool2dOp::getLoopNest() {
  LoopNest nest = windowNest(*this, shapeOf(getResult()), 0);
  nest.combine = Combine::Sum;
  return nest;
}

SmallVector<Value> MaxPool2dOp::buildBody(OpBuilder &, Location, ValueRange x,
                                          ValueRange) {
  return {x[0]};
}

SmallVector<Value> SumPool2dOp::buildBody(OpBuilder &, Location, ValueRange x,
                                          ValueRange) {
  return {x[0]};
}

/// How many windows cover an element along one dim, at most.
template <typename Op> static int64_t windowsAt(Op op, int i) {
  return llvm::divideCeil(op.getKernel()[i], op.getStride()[i]);
}

// With r = y + padding, the windows that cover row y start at r - r mod s, then
// s before, ...: window r div s - t, where y is at position r mod s + t * s.
template <typename Op> static LoopNest coveringNest(Op op) {
  ArrayRef<int64_t> shape = shapeOf(op.getResult());
  LoopNest nest;
  nest.extents.assign(shape.begin(), shape.end());
  nest.numParallel = 4;
  bool overlap = windowsAt(op, 0) * windowsAt(op, 1) > 1;
  auto dim = [&](unsigned i) { return getAffineDimExpr(i, op->getContext()); };
  SmallVector<AffineExpr> indices = {dim(0), dim(1)};
  for (int i = 0; i < 2; ++i) {
    AffineExpr window =
        (dim(2 + i) + op.getPadding()[i]).floorDiv(op.getStride()[i]);
    if (overlap) {
      nest.extents.push_back(windowsAt(op, i));
      window = window - dim(4 + i);
    }
    indices.push_back(window);
  }
  AffineMap map =
      AffineMap::get(nest.extents.size(), 0, indices, op->getContext());
  // A window outside gives nothing, whatever position it would name.
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    nest.accesses.push_back({map, {}, 0.0});
  nest.combine = overlap ? Combine::Sum : Combine::None;
  return nest;
}

LoopNest MaxPool2dGradOp::getLoopNest() { return coveringNest(*this); }
LoopNest SumPool2dGradOp::getLoopNest() { return coveringNest(*this); }

/// Position of row or column `index` within its window, and whether the window
/// reaches that far (null: always).
template <typename Op>
static std::pair<Value, Value> positionInWindow(Op op, OpBuilder &builder,
                                                Location loc,
                                                ValueRange indices, int i) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  int64_t kernel = op.getKernel()[i], stride = op.getStride()[i];
  Value row = indices[2 + i];
  if (int64_t padding = op.getPadding()[i]) {
    Value amount = constant(padding);
    row = arith::AddIOp::create(builder, loc, row, amount);
  }
  Value divisor = constant(stride);
  Value position = arith::RemUIOp::create(builder, loc, row, divisor);
  if (indices.size() > 4 && windowsAt(op, i) > 1) {
    Value back = arith::MulIOp::create(builder, loc, indices[4 + i], divisor);
    position = arith::AddIOp::create(builder, loc, position, back);
  }
  if (windowsAt(op, i) * stride == kernel)
    return {position, Value()};
  Value limit = constant(kernel);
  Value reached = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                        position, limit);
  return {position, reached};
}

SmallVector<Value> MaxPool2dGradOp::buildBody(OpBuilder &builder, Location loc,
                                              ValueRange x,
                                              ValueRange indices) {
  auto [row, rowReached] = positionInWindow(*this, builder, loc, indices, 0);
  auto [column, columnReached] =
      positionInWindow(*this, builder, loc, indices, 1);
  Value width = arith::ConstantIndexOp::create(builder, loc, getKernel()[1]);
  Value start = arith::MulIOp::create(builder, loc, row, width);
  Value flat = arith::AddIOp::create(builder, loc, start, column);
  Value position = arith::IndexCastOp::create(
      builder, loc, scalarType(elementOf(getIndices())), flat);
  Value chosen = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                       x[1], position);
  for (Value reached : {rowReached, columnReached})
    if (reached)
      chosen = arith::AndIOp::create(builder, loc, chosen, reached);
  Value zero = scalarConstant(builder, loc, x[0].getType(), 0);
  return {arith::SelectOp::create(builder, loc, chosen, x[0], zero)};
}

SmallVector<Value> SumPool2dGradOp::buildBody(OpBuilder &builder, Location loc,
                                              ValueRange x,
                                              ValueRange indices) {
  Value covered;
  for (int i = 0; i < 2; ++i) {
    Value reached = positionInWindow(*this, builder, loc, indices, i).second;
    if (reached && covered)
      covered = arith::AndIOp::create(builder, loc, covered, reached);
    else if (reached)
      covered = reached;
  }
  if (!covered)
    return {x[0]};
  Value zero = scalarConstant(builder, loc, x[0].getType(), 0);
  return {arith::SelectOp::create(builder, loc, covered, x[0], zero)};
}

static int64_t windowFlops(Value windows, ArrayRef<int64_t> kernel) {
  return product({numElements(windows), kernel[0], kernel[1]});
}

int64_t SumPool2dOp::getFlops() {
  return windowFlops(getResult(), getKernel());
}

int64_t SumPool2dGradOp::getFlops() {
  return windowFlops(getDy(), getKernel());
}

int64_t MaxPool2dOp::getFlops() {
  return windowFlops(getValues(), getKernel());
}

int64_t MaxPool2dGradOp::getFlops() { return numElements(getDy()); }

SmallVector<Value> MaxPool2dOp::buildGradient(OpBuilder &builder,
                                              ValueRange grads,
                                              ArrayRef<bool>) {
  GraphBuilder g(builder, getLoc());
  if (!grads[0])
    return {Value()};
  return {g.make<MaxPool2dGradOp>(grads[0], getIndices(), getKernel(),
                                  getStride(), getPadding(), shapeOf(getX()))};
}

/// Each window gets what its maximum's element got: of the elements at each
/// position of the windows those that `indices` names.
SmallVector<Value> MaxPool2dGradOp::buildGradient(OpBuilder &builder,
                                                  ValueRange grads,
                                                  ArrayRef<bool>) {
  GraphBuilder g(builder, getLoc());
  ArrayRef<int64_t> windows = shapeOf(getDy()), image = shapeOf(grads[0]);
  SmallVector<int64_t> low(4, 0), high(4, 0), stride(4, 1);
  for (int i = 0; i < 2; ++i) {
    int64_t reach = (windows[2 + i] - 1) * getStride()[i] + getKernel()[i];
    low[2 + i] = getPadding()[i];
    high[2 + i] = std::max<int64_t>(0, reach - image[2 + i] - getPadding()[i]);
    stride[2 + i] = getStride()[i];
  }
  Value padded = g.make<PadOp>(grads[0], low, high, SmallVector<int64_t>(4, 0),
                               APFloat(0.0));
  Value zero = g.constant(padded, 0), total;
  for (int64_t row = 0; row < getKernel()[0]; ++row)
    for (int64_t column = 0; column < getKernel()[1]; ++column) {
      SmallVector<int64_t> offset{0, 0, row, column};
      Value there = g.make<SliceOp>(padded, offset, windows, stride);
      Value position = g.constant(getIndices(), row * getKernel()[1] + column);
      Value isMaximum = g.make<EqOp>(getIndices(), position);
      Value part = g.make<SelectOp>(isMaximum, there, zero);
      total = total ? g.make<AddOp>(total, part) : part;
    }
  return {total, Value()};
}

// Both are linear, and each other's gradient.

SmallVector<Value> SumPool2dOp::buildGradient(OpBuilder &builder,
                                              ValueRange grads,
                                              ArrayRef<bool>) {
  GraphBuilder g(builder, getLoc());
  return {g.make<SumPool2dGradOp>(grads[0], getKernel(), getStride(),
                                  getPadding(), shapeOf(getX()),
                                  getCeilMode())};
}

SmallVector<Value> SumPool2dGradOp::buildGradient(OpBuilder &builder,
                                                  ValueRange grads,
                                                  ArrayRef<bool>) {
  GraphBuilder g(builder, getLoc());
  return {g.make<SumPool2dOp>(grads[0], getKernel(), getStride(), getPadding(),
                              getCeilMode())};
}
