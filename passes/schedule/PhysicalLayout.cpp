#include "passes/schedule/PhysicalLayout.h"
#include "dialects/graph/Inference.h"
#include "dialects/graph/TensorBytes.h"
#include "dialects/plan/Plan.h"

using namespace mlir;

namespace dl::schedule {

ArrayAttr physicalDims(RankedTensorType type, DenseI64ArrayAttr order) {
  int64_t rank = type.getRank();
  SmallVector<Attribute> dims(rank);
  int64_t stride = 1;
  for (int64_t position = rank - 1; position >= 0; --position) {
    int64_t dim = order ? order[position] : position;
    int64_t extent = type.getDimSize(dim);
    dims[position] = plan::DimAttr::get(type.getContext(), dim, /*divisor=*/1,
                                        extent, stride);
    stride *= extent;
  }
  return ArrayAttr::get(type.getContext(), dims);
}

int64_t elementBytes(RankedTensorType type) {
  return graph::elementBytes(type.getElementType());
}

int64_t bytesOf(RankedTensorType type) { return graph::tensorBytes(type); }

std::string describe(RankedTensorType type) {
  return graph::shapeText(type) + " " +
         graph::elementText(type.getElementType());
}

} // namespace dl::schedule
