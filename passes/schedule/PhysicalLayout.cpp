#include "passes/schedule/PhysicalLayout.h"
#include "dialects/plan/Plan.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

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
  return (type.getElementTypeBitWidth() + 7) / 8;
}

int64_t bytesOf(RankedTensorType type) {
  return type.getNumElements() * elementBytes(type);
}

std::string describe(RankedTensorType type) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "[";
  llvm::interleave(type.getShape(), out, ",");
  out << "] ";
  Type element = type.getElementType();
  if (element.isInteger(1))
    out << "bool";
  else if (element.isUnsignedInteger())
    out << "u" << element.getIntOrFloatBitWidth();
  else
    out << element;
  return text;
}

} // namespace dl::schedule
