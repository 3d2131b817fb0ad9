#include "dialects/graph/Payload.h"

using namespace mlir;
using namespace dl::graph;

/// A nest that copies from where the map says.
static LoopNest copyNest(Operation *op, ArrayRef<AffineExpr> indices) {
  ArrayRef<int64_t> shape = shapeOf(op->getResult(0));
  LoopNest nest;
  nest.extents.assign(shape.begin(), shape.end());
  nest.numParallel = shape.size();
  AffineMap map = AffineMap::get(shape.size(), 0, indices, op->getContext());
  nest.accesses.push_back({map, {}, {}});
  return nest;
}

LoopNest TransposeOp::getLoopNest() {
  SmallVector<AffineExpr> indices(getPermutation().size());
  for (auto [i, dim] : llvm::enumerate(getPermutation()))
    indices[dim] = getAffineDimExpr(i, getContext());
  return copyNest(*this, indices);
}

LoopNest CopyOp::getLoopNest() { return elementwiseNest(*this); }

LoopNest ExpandOp::getLoopNest() { return elementwiseNest(*this); }

LoopNest PadOp::getLoopNest() {
  SmallVector<AffineExpr> indices;
  SmallVector<AffineExpr, 2> guards;
  for (auto [i, low] : llvm::enumerate(getLow())) {
    AffineExpr shifted = getAffineDimExpr(i, getContext()) - low;
    int64_t step = getInterior()[i] + 1;
    indices.push_back(shifted.floorDiv(step));
    if (step > 1)
      guards.push_back(shifted % step);
  }
  LoopNest nest = copyNest(*this, indices);
  nest.accesses[0].guards = guards;
  nest.accesses[0].outside = getValue().convertToDouble();
  return nest;
}

LoopNest FlipOp::getLoopNest() {
  SmallVector<AffineExpr> indices;
  for (auto [i, size] : llvm::enumerate(shapeOf(getX()))) {
    AffineExpr dim = getAffineDimExpr(i, getContext());
    bool flipped = llvm::is_contained(getDims(), static_cast<int64_t>(i));
    indices.push_back(flipped ? dim * -1 + (size - 1) : dim);
  }
  return copyNest(*this, indices);
}

LoopNest SliceOp::getLoopNest() {
  SmallVector<AffineExpr> indices;
  for (auto [i, offset] : llvm::enumerate(getOffsets()))
    indices.push_back(getAffineDimExpr(i, getContext()) * getStrides()[i] +
                      offset);
  return copyNest(*this, indices);
}

/// Outermost in memory one index of each dim, then a range of one, then all.
std::optional<int64_t> SliceOp::firstElement(DenseI64ArrayAttr order,
                                             DictionaryAttr attributes) {
  ArrayRef<int64_t> shape = shapeOf(getX()), sizes = getSizes();
  auto offsets = attributes.getAs<DenseI64ArrayAttr>("offsets");
  int64_t stride = 1, first = 0;
  bool isWhole = true; // of all dims that are further inside
  for (size_t i = shape.size(); i-- > 0;) {
    size_t dim = order ? order[i] : i;
    bool isOne = sizes[dim] == 1;
    if (!isOne && (!isWhole || getStrides()[dim] != 1))
      return std::nullopt;
    isWhole &= sizes[dim] == shape[dim];
    first += offsets[dim] * stride;
    stride *= shape[dim];
  }
  return first;
}

/// The first element of the slice may be any that leaves room for the others.
SmallVector<LaunchConstant> SliceOp::getLaunchConstants() {
  SmallVector<LaunchConstant> constants;
  for (auto [i, from] : llvm::enumerate(shapeOf(getX()))) {
    int64_t span = (getSizes()[i] - 1) * getStrides()[i] + 1;
    if (getSizes()[i] > 0)
      constants.push_back({"offsets", unsigned(i), 0, from - span, 1, 0});
  }
  return constants;
}

SmallVector<Value> TransposeOp::buildBody(OpBuilder &, Location, ValueRange x,
                                          ValueRange) {
  return {x[0]};
}

SmallVector<Value> CopyOp::buildBody(OpBuilder &, Location, ValueRange x,
                                     ValueRange) {
  return {x[0]};
}

SmallVector<Value> ExpandOp::buildBody(OpBuilder &, Location, ValueRange x,
                                       ValueRange) {
  return {x[0]};
}

SmallVector<Value> PadOp::buildBody(OpBuilder &, Location, ValueRange x,
                                    ValueRange) {
  return {x[0]};
}

SmallVector<Value> SliceOp::buildBody(OpBuilder &, Location, ValueRange x,
                                      ValueRange) {
  return {x[0]};
}

SmallVector<Value> FlipOp::buildBody(OpBuilder &, Location, ValueRange x,
                                     ValueRange) {
  return {x[0]};
}

int64_t ReshapeOp::getFlops() { return 0; }
int64_t TransposeOp::getFlops() { return 0; }
int64_t CopyOp::getFlops() { return 0; }
int64_t ExpandOp::getFlops() { return 0; }
int64_t PadOp::getFlops() { return 0; }
int64_t SliceOp::getFlops() { return 0; }
int64_t FlipOp::getFlops() { return 0; }
