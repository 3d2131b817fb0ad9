#include "dialects/graph/GraphBuilder.h"
#include "dialects/graph/Payload.h"

using namespace mlir;
using namespace dl::graph;

LoopNest MaxPool2dOp::getLoopNest() {
  ArrayRef<int64_t> shape = shapeOf(getValues()), kernel = getKernel();
  LoopNest nest;
  nest.extents.assign(shape.begin(), shape.end());
  nest.numParallel = 4;
  nest.extents.append(kernel.begin(), kernel.end());
  auto dim = [&](unsigned i) { return getAffineDimExpr(i, getContext()); };
  SmallVector<AffineExpr> indices = {dim(0), dim(1)};
  bool padded = false;
  for (int i = 0; i < 2; ++i) {
    indices.push_back(dim(2 + i) * getStride()[i] + dim(4 + i) -
                      getPadding()[i]);
    padded |= getPadding()[i] > 0;
  }
  Access access{AffineMap::get(6, 0, indices, getContext()), {}, {}};
  if (padded)
    access.outside = -std::numeric_limits<double>::infinity();
  nest.accesses.push_back(access);
  nest.combine = Combine::Max;
  nest.yieldsIndex = true;
  return nest;
}

SmallVector<Value> MaxPool2dOp::buildBody(OpBuilder &, Location, ValueRange x,
                                          ValueRange) {
  return {x[0]};
}

/// How many windows cover an element along one dim, at most.
static int64_t windowsAt(MaxPool2dGradOp op, int i) {
  return llvm::divideCeil(op.getKernel()[i], op.getStride()[i]);
}

// With r = y + padding, the windows that cover row y start at r - r mod s, then
// s before, ...: window r div s - t, where y is at position r mod s + t * s.
LoopNest MaxPool2dGradOp::getLoopNest() {
  ArrayRef<int64_t> shape = shapeOf(getResult());
  LoopNest nest;
  nest.extents.assign(shape.begin(), shape.end());
  nest.numParallel = 4;
  bool overlap = windowsAt(*this, 0) * windowsAt(*this, 1) > 1;
  auto dim = [&](unsigned i) { return getAffineDimExpr(i, getContext()); };
  SmallVector<AffineExpr> indices = {dim(0), dim(1)};
  for (int i = 0; i < 2; ++i) {
    AffineExpr window = (dim(2 + i) + getPadding()[i]).floorDiv(getStride()[i]);
    if (overlap) {
      nest.extents.push_back(windowsAt(*this, i));
      window = window - dim(4 + i);
    }
    indices.push_back(window);
  }
  AffineMap map = AffineMap::get(nest.extents.size(), 0, indices, getContext());
  // A window outside gives nothing, whatever position it would name.
  nest.accesses.push_back({map, {}, 0.0});
  nest.accesses.push_back({map, {}, 0.0});
  nest.combine = overlap ? Combine::Sum : Combine::None;
  return nest;
}

/// Position of row or column `index` within its window, and whether the window
/// reaches that far (null: always).
static std::pair<Value, Value> positionInWindow(MaxPool2dGradOp op,
                                                OpBuilder &builder,
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

int64_t MaxPool2dOp::getFlops() {
  return numElements(getValues()) * product(getKernel());
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
