#include "compiler/codegen/cuda/PayloadText.h"
#include "compiler/codegen/cuda/StageSource.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using llvm::Twine;

namespace dl::cuda {

SequentialSource::SequentialSource(RegionText &region, const Stage &stage)
    : StageSource(region, stage),
      at(nest.sparse ? nest.sparse->at : nest.ordered->at),
      over(nest.sparse ? nest.sparse->over : nest.ordered->over) {}

void SequentialSource::write() {
  if (nest.ordered)
    writeOrder();
  else if (nest.sparse->kind == graph::Sparse::Scatter)
    writeScatter();
  else
    writeRunningSums();
}

static std::string elementOf(Value value) {
  return valueType(graph::scalarType(
      cast<RankedTensorType>(value.getType()).getElementType()));
}

/// Each element looks for what belongs to it, so that it gets that in one
/// order.
void SequentialSource::writeScatter() {
  forEachPoint(parallelDims(), 1, [&] {
    std::string element = elementOf(stage.op->getResult(0));
    bool isMax = nest.combine == graph::Combine::Max;
    std::string name = isMax ? "best" : "sum";
    out.line(element + " " + name + " = " +
             (isMax ? "lowest<" + element + ">()" : "0") + ";");
    std::string k = out.fresh("k");
    e.open("for (" + e.scope.type() + " " + k + " = 0; " + k + " < " +
           e.scope.number(nest.extents[over]) + "; ++" + k + ")");
    dims[over] = e.scope.addDim(k, 0, nest.extents[over] - 1);
    std::string chosen = read(0);
    e.open("if (" + chosen + " == (long long)(" + e.scope.text(dims[at]) +
           "))");
    std::string content = read(nest.sparse->operand);
    out.line(isMax ? "best = Max()(best, " + content + ");"
                   : "sum += " + content + ";");
    e.close();
    e.close();
    storeResults(finish({name}));
  });
}

void SequentialSource::writeRunningSums() {
  bool backwards = nest.sparse->kind == graph::Sparse::Suffix;
  SmallVector<unsigned> along = parallelDims();
  llvm::erase(along, at);
  forEachPoint(along, 1, [&] {
    out.line(elementOf(stage.op->getResult(0)) + " sum = 0;");
    std::string k = out.fresh("k");
    int64_t extent = nest.extents[at];
    e.open("for (" + e.scope.type() + " " + k + " = 0; " + k + " < " +
           e.scope.number(extent) + "; ++" + k + ")");
    AffineExpr step = e.scope.addDim(k, 0, extent - 1);
    dims[at] = dims[over] =
        backwards ? e.scope.constant(extent - 1) - step : step;
    out.line("sum += " + read(nest.sparse->operand) + ";");
    storeResults(finish({"sum"}));
    e.close();
  });
}

/// Each element counts those that come before it: that is its place.
void SequentialSource::writeOrder() {
  forEachPoint(parallelDims(), 1, [&] {
    AffineExpr own = dims[at];
    dims[over] = own;
    std::string mine = read(0);
    out.line("unsigned place = 0;");
    std::string k = out.fresh("k");
    e.open("for (unsigned " + k + " = 0; " + k + " < " +
           Twine(nest.extents[over]) + "u; ++" + k + ")");
    dims[over] = e.scope.addDim(k, 0, nest.extents[over] - 1);
    std::string other = read(0);
    Type element = cast<RankedTensorType>(stage.op->getOperand(0).getType())
                       .getElementType();
    std::string as = element.isUnsignedInteger(8) ? "(unsigned char)" : "";
    std::string first = as + (nest.ordered->descending ? mine : other),
                second = as + (nest.ordered->descending ? other : mine);
    out.line("const bool before = isLess(" + first + ", " + second +
             "), after = isLess(" + second + ", " + first + ");");
    out.line("place += before || (!after && " + k + " < " + e.scope.text(own) +
             ");");
    e.close();
    dims[at] = e.scope.addDim("place", 0, nest.extents[at] - 1);
    std::string type = elementOf(stage.op->getResult(0));
    storeResults({"(" + type + ")(" + e.scope.text(own) + ")"});
  });
}

} // namespace dl::cuda
