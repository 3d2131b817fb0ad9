// Parts of what is a view itself, once all gradients are there: each is taken
// from the whole, and which one it is is said by its offsets alone, so that one
// kernel takes all of them.
#include "dialects/graph/GraphBuilder.h"
#include "dialects/graph/LaunchConstants.h"

using namespace mlir;
using namespace dl::graph;

/// slice(transpose(x)) as transpose(slice(x)), if nobody reads all of it.
static Value sliceFirst(SliceOp op, TransposeOp transpose, GraphBuilder &g) {
  if (!llvm::all_of(transpose->getUsers(),
                    [](Operation *user) { return isa<SliceOp>(user); }))
    return nullptr;
  ArrayRef<int64_t> permutation = transpose.getPermutation();
  auto before = [&](ArrayRef<int64_t> numbers) {
    SmallVector<int64_t> moved(numbers.size());
    for (auto [dim, number] : llvm::zip(permutation, numbers))
      moved[dim] = number;
    return moved;
  };
  Value part = g.make<SliceOp>(transpose.getX(), before(op.getOffsets()),
                               before(op.getSizes()), before(op.getStrides()));
  return g.make<TransposeOp>(part, SmallVector<int64_t>(permutation));
}

/// slice(slice(x)) as one, as a time of a chunk is; not where the inner one is
/// stored in any case, since it is seen in another shape.
static Value sliceOnce(SliceOp op, SliceOp inner, GraphBuilder &g) {
  if (inner->hasAttr(kRankSteps) ||
      llvm::any_of(inner->getUsers(),
                   [](Operation *user) { return isa<AliasOpInterface>(user); }))
    return nullptr;
  SmallVector<int64_t> offsets, strides;
  for (auto [offset, stride, first, step] :
       llvm::zip(op.getOffsets(), op.getStrides(), inner.getOffsets(),
                 inner.getStrides())) {
    offsets.push_back(first + offset * step);
    strides.push_back(stride * step);
  }
  return g.make<SliceOp>(inner.getX(), offsets,
                         SmallVector<int64_t>(op.getSizes()), strides);
}

Value SliceOp::takeFromWhole(OpBuilder &builder) {
  GraphBuilder g(builder, getLoc());
  Operation *view =
      (*this)->hasAttr(kRankSteps) ? nullptr : getX().getDefiningOp();
  if (auto transpose = dyn_cast_or_null<TransposeOp>(view))
    return sliceFirst(*this, transpose, g);
  if (auto inner = dyn_cast_or_null<SliceOp>(view))
    return sliceOnce(*this, inner, g);
  return nullptr;
}
