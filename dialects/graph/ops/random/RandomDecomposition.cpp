// One draw for a whole channel is drawn once.

#include "dialects/graph/GraphBuilder.h"
#include "dialects/graph/ops/random/Random.h"

using namespace mlir;
using namespace dl::graph;

/// x * mask, where the mask [n, c, 1, ...] is dropout of ones: as PyTorch does.
FailureOr<SmallVector<Value>> DropoutOp::decompose(OpBuilder &builder) {
  SmallVector<int64_t> channels(shapeOf(getX()));
  if (!getChannelwise())
    return failure();
  DrawPlace place = drawPlaceOf(*this);
  for (size_t i = 2; i < channels.size(); ++i)
    channels[i] = place.extents[i] = 1, place.offset[i] = 0;
  if (ArrayRef(channels) == shapeOf(getX()))
    return failure();
  GraphBuilder g(builder, getLoc());
  Value ones = g.make<FullOp>(
      APFloat(1.0), RankedTensorType::get(channels, elementOf(getX())));
  Value mask = g.make<DropoutOp>(ones, getScalars(), getP(), getKey(), true,
                                 place.offset, place.extents);
  return SmallVector<Value>{g.make<MulOp>(getX(), mask)};
}
