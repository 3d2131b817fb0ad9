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

void SumPool2dGradOp::localizeAttributes(const Shard &shard,
                                         NamedAttrList &attributes) {
  setLocalInputShape(*this, shard, attributes);
}
