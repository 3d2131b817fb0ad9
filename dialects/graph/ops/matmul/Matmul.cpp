#include "dialects/graph/Inference.h"
#include "dialects/graph/ops/matmul/MatmulSpec.h"

using namespace mlir;
using namespace dl::graph;

std::optional<MatmulSpec> MatmulSpec::parse(StringRef text) {
  auto [operands, result] = text.split("->");
  auto [a, b] = operands.split(',');
  bool complete = text.contains("->") && operands.contains(',');
  if (!complete || !llvm::all_of(a, llvm::isAlpha) ||
      !llvm::all_of(b, llvm::isAlpha) || !llvm::all_of(result, llvm::isAlpha))
    return std::nullopt;
  return MatmulSpec{a, b, result};
}

std::string MatmulSpec::summed() const {
  std::string labels;
  for (char label : a)
    if (b.contains(label) && !result.contains(label))
      labels += label;
  return labels;
}

static LogicalResult checkLabels(OptionalLoc loc, StringRef spec,
                                 StringRef labels) {
  for (char label : labels)
    if (labels.count(label) > 1)
      return emitOptionalError(loc, "matmul: '", StringRef(&label, 1),
                               "' names two dims of one tensor in \"", spec,
                               "\"");
  return success();
}

static LogicalResult checkRank(OptionalLoc loc, StringRef labels,
                               RankedTensorType tensor) {
  if (tensor.getRank() == int64_t(labels.size()))
    return success();
  return emitOptionalError(loc, "matmul: \"", labels, "\" names ",
                           labels.size(), " dims, ", shapeText(tensor), " has ",
                           tensor.getRank());
}

LogicalResult MatmulOp::inferReturnTypes(MLIRContext *, OptionalLoc loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto a = cast<RankedTensorType>(adaptor.getA().getType());
  auto b = cast<RankedTensorType>(adaptor.getB().getType());
  if (failed(requireFloat(loc, "matmul", a)) ||
      failed(requireSameElement(loc, "matmul", {a, b})))
    return failure();
  StringRef text = adaptor.getSpec();
  auto spec = MatmulSpec::parse(text);
  if (!spec)
    return emitOptionalError(loc, "matmul: the spec \"", text,
                             "\" is not like \"mk,kn->mn\"");
  if (failed(checkLabels(loc, text, spec->a)) ||
      failed(checkLabels(loc, text, spec->b)) ||
      failed(checkLabels(loc, text, spec->result)) ||
      failed(checkRank(loc, spec->a, a)) || failed(checkRank(loc, spec->b, b)))
    return failure();
  for (auto [label, size] : llvm::zip(spec->a, a.getShape())) {
    size_t other = spec->b.find(label);
    StringRef name(&label, 1);
    if (other != StringRef::npos && b.getDimSize(other) != size)
      return emitOptionalError(loc, "matmul: '", name, "' of \"", text,
                               "\" is ", size, " in ", shapeText(a), " and ",
                               b.getDimSize(other), " in ", shapeText(b));
  }
  auto checkAlone = [&](StringRef labels, StringRef others,
                        RankedTensorType tensor) -> LogicalResult {
    for (auto [label, size] : llvm::zip(labels, tensor.getShape()))
      if (size != 1 && !others.contains(label) && !spec->result.contains(label))
        return emitOptionalError(
            loc, "matmul: '", StringRef(&label, 1), "' of \"", text, "\" is ",
            size, " and only in ", shapeText(tensor), "; sum over it first");
    return success();
  };
  if (failed(checkAlone(spec->a, spec->b, a)) ||
      failed(checkAlone(spec->b, spec->a, b)))
    return failure();
  SmallVector<int64_t> shape;
  for (char label : spec->result) {
    size_t inA = spec->a.find(label), inB = spec->b.find(label);
    shape.push_back(inA != StringRef::npos   ? a.getDimSize(inA)
                    : inB != StringRef::npos ? b.getDimSize(inB)
                                             : 1);
  }
  types.push_back(RankedTensorType::get(shape, a.getElementType()));
  return success();
}
