#include "passes/decode/KeptStates.h"
#include "dialects/graph/SourceLine.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace dl;

graph::StateOp decode::makeKeptState(OpBuilder &builder, StringRef step,
                                     Value value, StringRef role,
                                     size_t number) {
  std::string module = graph::sourceLineOf(value.getLoc()).module.str();
  std::string name = llvm::formatv("generate.{0}.{1}{2}{3}.{4}", step, module,
                                   module.empty() ? "" : ".", role, number);
  NamedAttribute init[] = {
      builder.getNamedAttr("kind", builder.getStringAttr("zero")),
      builder.getNamedAttr("a", builder.getF64FloatAttr(0)),
      builder.getNamedAttr("b", builder.getF64FloatAttr(0)),
      builder.getNamedAttr("key", builder.getI64IntegerAttr(0))};
  return graph::StateOp::create(
      builder, value.getLoc(), name, value.getType(), role,
      /*of=*/StringAttr(), /*aliases=*/ArrayAttr(),
      builder.getDictionaryAttr(init), /*layout=*/DenseI64ArrayAttr(),
      /*sharding=*/graph::ShardingAttr(), /*whole=*/TypeAttr());
}
