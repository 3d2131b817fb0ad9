#include "passes/backward/Box.h"

using namespace mlir;

namespace dl {

Box::Box(Value x)
    : offsets(graph::shapeOf(x).size(), 0), sizes(graph::shapeOf(x)) {}

int64_t Box::elements() const {
  int64_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  return count;
}

bool Box::meets(const Box &other) const {
  for (size_t d = 0; d < sizes.size(); ++d)
    if (offsets[d] >= other.offsets[d] + other.sizes[d] ||
        other.offsets[d] >= offsets[d] + sizes[d])
      return false;
  return true;
}

Box Box::hull(const Box &other) const {
  Box both = *this;
  for (auto [d, offset, size] : llvm::enumerate(other.offsets, other.sizes)) {
    int64_t end = std::max(offsets[d] + sizes[d], offset + size);
    both.offsets[d] = std::min(offsets[d], offset);
    both.sizes[d] = end - both.offsets[d];
  }
  return both;
}

Value take(OpBuilder &builder, Location loc, Value x, const Box &box) {
  if (box == Box(x))
    return x;
  SmallVector<int64_t, 6> ones(box.sizes.size(), 1);
  return graph::SliceOp::create(builder, loc, x, box.offsets, box.sizes, ones);
}

Operation *cloneFor(OpBuilder &builder, Operation *op, ValueRange operands,
                    ArrayRef<int64_t> shape) {
  Operation *made = builder.clone(*op);
  made->setOperands(operands);
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  made->getResult(0).setType(type.clone(shape));
  if (isa<graph::ReshapeOp, graph::ExpandOp>(op))
    made->setAttr("shape", builder.getDenseI64ArrayAttr(shape));
  auto infers = dyn_cast<InferTypeOpInterface>(made);
  SmallVector<Type> types;
  if (infers &&
      succeeded(infers.inferReturnTypes(
          made->getContext(), std::nullopt, made->getOperands(),
          made->getAttrDictionary(), made->getPropertiesStorage(),
          made->getRegions(), types)) &&
      types == SmallVector<Type>(made->getResultTypes()))
    return made;
  made->erase();
  return nullptr;
}

} // namespace dl
