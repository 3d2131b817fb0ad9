#include "dialects/graph/Inference.h"

using namespace mlir;
using namespace dl::graph;

static void setLocalInputShape(Operation *op, const Shard &shard,
                               NamedAttrList &attributes) {
  Builder builder(op->getContext());
  attributes.set("input_shape",
                 builder.getDenseI64ArrayAttr(shard.result(0).sizes));
}

void MaxPool2dGradOp::localizeAttributes(const Shard &shard,
                                         NamedAttrList &attributes) {
  setLocalInputShape(*this, shard, attributes);
}

/// A part of a window is a smaller one; then there is one window only.
void SumPool2dOp::localizeAttributes(const Shard &shard,
                                     NamedAttrList &attributes) {
  Box x = shard.operand(0), y = shard.result(0);
  SmallVector<int64_t> kernel(getKernel());
  for (int i = 0; i < 2; ++i)
    if (y.sizes[2 + i] == 1 && getPadding()[i] == 0)
      kernel[i] = std::min(kernel[i], x.sizes[2 + i]);
  attributes.set("kernel", Builder(getContext()).getDenseI64ArrayAttr(kernel));
}

void SumPool2dGradOp::localizeAttributes(const Shard &shard,
                                         NamedAttrList &attributes) {
  setLocalInputShape(*this, shard, attributes);
}
