#include "dialects/graph/Inference.h"

using namespace mlir;
using namespace dl::graph;

LogicalResult StateOp::verify() {
  auto error = [&] { return emitOpError() << "@" << getSymName() << ": "; };
  FailureOr<RankedTensorType> type =
      requireTensor(getLoc(), "graph.state", getType());
  if (failed(type))
    return failure();
  StringRef role = getRole();
  bool belongs = role == "slot" || role == "accumulator";
  if (!belongs && role != "parameter" && role != "buffer" && role != "cache" &&
      role != "prepared")
    return error() << "the role is parameter, slot, buffer, accumulator, cache "
                      "or prepared, not '"
                   << role << "'";
  if (belongs != getOf().has_value())
    return error() << (belongs ? "needs" : "cannot have")
                   << " 'of', the parameter it belongs to";
  if (std::optional<ArrayRef<int64_t>> layout = getLayout()) {
    SmallVector<int64_t> sorted(*layout);
    llvm::sort(sorted);
    if (!llvm::equal(sorted, llvm::seq<int64_t>(type->getRank())))
      return error() << "the layout " << shapeText(*layout)
                     << " does not name each dim of " << shapeText(*type)
                     << " once";
  }
  auto isKnown = [](DictionaryAttr init) {
    static constexpr StringRef known[] = {"zero",       "constant",  "uniform",
                                          "normal",     "truncated", "padded",
                                          "orthogonal", "dirac",     "sparse"};
    auto kind = init ? init.getAs<StringAttr>("kind") : StringAttr();
    return kind && llvm::is_contained(known, kind.getValue());
  };
  if (std::optional<DictionaryAttr> init = getInit()) {
    SmallVector<DictionaryAttr> all = {*init};
    if (auto parts = init->getAs<ArrayAttr>("parts"))
      for (Attribute one : parts) {
        auto part = dyn_cast<DictionaryAttr>(one);
        if (!part || !part.getAs<IntegerAttr>("offset") ||
            !part.getAs<DenseI64ArrayAttr>("shape") ||
            !part.getAs<DenseI64ArrayAttr>("strides"))
          return error() << "a part of init has an offset, a shape, strides "
                            "and what it begins with";
        all.push_back(part.getAs<DictionaryAttr>("begins"));
      }
    if (!llvm::all_of(all, isKnown))
      return error() << "the kind of init is one of zero, constant, uniform, "
                        "normal, truncated, padded, orthogonal, dirac, sparse";
  }
  return success();
}
