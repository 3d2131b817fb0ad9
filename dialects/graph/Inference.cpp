#include "dialects/graph/Inference.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"

using namespace mlir;

namespace dl::graph {

std::string shapeText(ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (auto [i, size] : llvm::enumerate(shape))
    text += (i ? "," : "") + std::to_string(size);
  return text + "]";
}

std::string shapeText(Type tensor) {
  return shapeText(cast<RankedTensorType>(tensor).getShape());
}

std::string elementText(Type element) {
  if (element.isInteger(1))
    return "bool";
  if (auto integer = dyn_cast<IntegerType>(element))
    return (integer.isUnsigned() ? "u" : "i") +
           std::to_string(integer.getWidth());
  std::string text;
  llvm::raw_string_ostream(text) << element;
  return text;
}

std::string typeText(Type tensor) {
  Type element = cast<RankedTensorType>(tensor).getElementType();
  return elementText(element) + " " + shapeText(tensor);
}

std::string numberText(double number) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", number);
  return text;
}

ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

Type elementOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getElementType();
}

int64_t product(ArrayRef<int64_t> values) {
  if (llvm::is_contained(values, 0))
    return 0;
  int64_t result = 1;
  for (int64_t value : values)
    if (__builtin_mul_overflow(result, value, &result))
      return std::numeric_limits<int64_t>::max();
  return result;
}

int64_t numElements(Value value) { return product(shapeOf(value)); }

static Type elementType(Type tensor) {
  return cast<RankedTensorType>(tensor).getElementType();
}

/// Floats that ops compute in: bf16 is a way to store them.
static bool isComputed(Type element) {
  return element.isF32() || element.isF64();
}

LogicalResult requireFloat(OptionalLoc loc, StringRef op, Type tensor) {
  if (isComputed(elementType(tensor)))
    return success();
  return emitOptionalError(loc, op, ": needs a floating-point tensor, got ",
                           typeText(tensor), "; use .to(dl::kFloat)");
}

LogicalResult requireSameElement(OptionalLoc loc, StringRef op,
                                 TypeRange tensors) {
  for (Type tensor : tensors)
    if (elementType(tensor) != elementType(tensors[0]))
      return emitOptionalError(
          loc, op, ": the element types differ: ", typeText(tensors[0]),
          " and ", typeText(tensor), "; convert one with .to()");
  return success();
}

LogicalResult requireDim(OptionalLoc loc, StringRef op, int64_t dim,
                         Type tensor) {
  int64_t rank = cast<RankedTensorType>(tensor).getRank();
  if (dim >= 0 && dim < rank)
    return success();
  if (rank == 0)
    return emitOptionalError(loc, op, ": dim ", dim,
                             " is out of range: the tensor is a scalar");
  return emitOptionalError(loc, op, ": dim ", dim, " is out of range for ",
                           shapeText(tensor), " (dims are ", -rank, "..",
                           rank - 1, ")");
}

LogicalResult requireCount(OptionalLoc loc, StringRef op, StringRef what,
                           ArrayRef<int64_t> values, size_t count,
                           int64_t least) {
  if (values.size() != count)
    return emitOptionalError(loc, op, ": ", what, " needs ", count,
                             " numbers, got ", shapeText(values));
  for (int64_t value : values)
    if (value < least)
      return emitOptionalError(loc, op, ": ", what, " is ", shapeText(values),
                               ", each must be at least ", least);
  return success();
}

FailureOr<RankedTensorType> requireTensor(OptionalLoc loc, StringRef op,
                                          Type type) {
  auto tensor = dyn_cast_or_null<RankedTensorType>(type);
  auto known = [](Type element) {
    return element.isF32() || element.isF64() || element.isBF16() ||
           element.isSignlessInteger(64) || element.isSignlessInteger(32) ||
           element.isUnsignedInteger(8) || element.isSignlessInteger(1);
  };
  if (tensor && tensor.hasStaticShape() && known(tensor.getElementType()))
    return tensor;
  return emitOptionalError(loc, op, ": the type ", type,
                           " is not a tensor of this dialect");
}

FailureOr<SmallVector<int64_t>> inferBroadcast(OptionalLoc loc, StringRef op,
                                               TypeRange tensors) {
  SmallVector<int64_t> result(cast<RankedTensorType>(tensors[0]).getShape());
  for (Type tensor : tensors.drop_front()) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(tensor).getShape();
    SmallVector<int64_t> before = result;
    if (shape.size() > result.size())
      result.insert(result.begin(), shape.size() - result.size(), 1);
    size_t leading = result.size() - shape.size();
    for (auto [i, size] : llvm::enumerate(shape)) {
      int64_t &current = result[leading + i];
      if (current != size && current != 1 && size != 1)
        return emitOptionalError(loc, op, ": cannot broadcast ",
                                 shapeText(before), " with ", shapeText(shape));
      if (current == 1)
        current = size;
    }
  }
  return result;
}

static LogicalResult checkDomain(OptionalLoc loc, StringRef op, Type tensor,
                                 Domain domain) {
  Type element = elementType(tensor);
  if (domain == Domain::Floats)
    return requireFloat(loc, op, tensor);
  bool isWide = element.isSignlessInteger(64) || element.isSignlessInteger(32);
  if (domain == Domain::Integers && !isWide)
    return emitOptionalError(loc, op, ": needs integers, got ",
                             typeText(tensor), "; use .to(dl::kInt64)");
  if (domain == Domain::Numbers && !isComputed(element) && !isWide)
    return emitOptionalError(loc, op, ": needs numbers, got ", typeText(tensor),
                             "; use .to(dl::kFloat) or .to(dl::kInt64)");
  if (domain == Domain::Bools && !element.isInteger(1))
    return emitOptionalError(loc, op, ": needs a bool tensor, got ",
                             typeText(tensor), "; compare with 0 first");
  return success();
}

LogicalResult inferElementwise(OptionalLoc loc, StringRef op, TypeRange tensors,
                               Domain domain, ElementwiseResult result,
                               SmallVectorImpl<Type> &types) {
  TypeRange valued = tensors;
  if (result == ElementwiseResult::Selected) {
    if (failed(checkDomain(loc, op, tensors[0], Domain::Bools)))
      return failure();
    valued = tensors.drop_front();
  }
  for (Type tensor : valued)
    if (failed(checkDomain(loc, op, tensor, domain)))
      return failure();
  if (failed(requireSameElement(loc, op, valued)))
    return failure();
  FailureOr<SmallVector<int64_t>> shape = inferBroadcast(loc, op, tensors);
  if (failed(shape))
    return failure();
  Type element = elementType(valued[0]);
  if (result == ElementwiseResult::Bool)
    element = IntegerType::get(element.getContext(), 1);
  types.push_back(RankedTensorType::get(*shape, element));
  return success();
}

Access broadcastAccess(Value operand, ArrayRef<int64_t> shape) {
  MLIRContext *context = operand.getContext();
  ArrayRef<int64_t> from = shapeOf(operand);
  size_t leading = shape.size() - from.size();
  SmallVector<AffineExpr> indices;
  for (auto [i, size] : llvm::enumerate(from))
    // Equal extents are read one to one, also where both are 1.
    indices.push_back(size == shape[leading + i]
                          ? getAffineDimExpr(leading + i, context)
                          : getAffineConstantExpr(0, context));
  return {AffineMap::get(shape.size(), 0, indices, context), {}, {}};
}

LoopNest elementwiseNest(Operation *op) {
  ArrayRef<int64_t> shape = shapeOf(op->getResult(0));
  LoopNest nest;
  nest.extents.assign(shape.begin(), shape.end());
  nest.numParallel = shape.size();
  for (Value operand : op->getOperands())
    nest.accesses.push_back(broadcastAccess(operand, shape));
  return nest;
}

int64_t elementwiseFlops(Operation *op) {
  return isa<FloatType>(elementOf(op->getResult(0)))
             ? numElements(op->getResult(0))
             : 0;
}

} // namespace dl::graph
