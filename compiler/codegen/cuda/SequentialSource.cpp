#include "compiler/codegen/cuda/PayloadText.h"
#include "compiler/codegen/cuda/StageSource.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using llvm::Twine;

namespace dl::cuda {

SequentialSource::SequentialSource(RegionText &region, const Stage &stage)
    : StageSource(region, stage),
      at(nest.scan ? nest.scan->at : nest.ordered->at),
      over(nest.scan ? nest.scan->over : nest.ordered->over) {}

void SequentialSource::write() {
  if (nest.ordered)
    writeOrder();
  else
    writeScan();
}

static std::string elementOf(Value value) {
  return valueType(graph::scalarType(
      cast<RankedTensorType>(value.getType()).getElementType()));
}

void SequentialSource::writeScan() {
  std::string element = elementOf(stage.op->getOperand(0));
  bool isFloat =
      isa<FloatType>(cast<RankedTensorType>(stage.op->getOperand(0).getType())
                         .getElementType());
  SmallVector<unsigned> along = parallelDims();
  llvm::erase(along, at);
  forEachPoint(along, 1, [&] {
    if (nest.scan->kind == graph::Scan::Argmax)
      out.line(element + " best = lowest<" + element +
               ">(); long long place = 0;");
    else
      out.line((isFloat ? "double" : element) + " sum = 0;");
    std::string k = out.fresh("k");
    int64_t extent = nest.extents[at];
    e.open("for (" + e.scope.type() + " " + k + " = 0; " + k + " < " +
           e.scope.number(extent) + "; ++" + k + ")");
    AffineExpr step = e.scope.addDim(k, 0, extent - 1);
    dims[at] = dims[over] =
        nest.scan->reverse ? e.scope.constant(extent - 1) - step : step;
    storeResults(finish({writeScanStep(element)}));
    e.close();
  });
}

/// Returns the result at the place where the loop is.
std::string SequentialSource::writeScanStep(const std::string &element) {
  std::string x = read(0);
  switch (nest.scan->kind) {
  case graph::Scan::Sum:
    out.line("sum += " + x + ";");
    return "(" + element + ")sum";
  case graph::Scan::Linear: {
    std::string b = read(1);
    out.line("sum = " + x + " * sum + " + b + ";");
    return "(" + element + ")sum";
  }
  case graph::Scan::Argmax:
    break;
  }
  std::string next = out.fresh("x");
  out.line("const " + element + " " + next + " = " + x + ";");
  e.open("if (" + next + " >= best || " + next + " != " + next + ")");
  out.line("best = " + next + "; place = " + e.scope.text(dims[at]) + ";");
  e.close();
  return "place";
}

/// "x comes before y", whatever their positions are.
std::string SequentialSource::less(const std::string &x,
                                   const std::string &y) const {
  Type element = cast<RankedTensorType>(stage.op->getOperand(0).getType())
                     .getElementType();
  std::string as = element.isUnsignedInteger(8) ? "(unsigned char)" : "";
  return "isLess(" + as + (nest.ordered->descending ? y : x) + ", " + as +
         (nest.ordered->descending ? x : y) + ")";
}

std::string SequentialSource::openElements() {
  std::string k = out.fresh("k");
  e.open("for (unsigned " + k + " = 0; " + k + " < " +
         std::to_string(nest.extents[over]) + "u; ++" + k + ")");
  dims[over] = e.scope.addDim(k, 0, nest.extents[over] - 1);
  return k;
}

void SequentialSource::writeOrder() {
  int64_t count = nest.extents[at];
  if (count * count <= nest.extents[over])
    forEachPoint(parallelDims(), 1, [&] { writeSelection(); });
  else
    forEachPoint(parallelDims(), 1, [&] { writePlaces(); });
}

/// Of few results each finds the ones before it, one after the other.
void SequentialSource::writeSelection() {
  std::string element = elementOf(stage.op->getOperand(0));
  std::string pass = out.fresh("pass");
  out.line(element + " last = 0, best = 0;");
  out.line("unsigned chosen = 0, next = 0;");
  e.open("for (unsigned " + pass + " = 0; " + pass +
         " <= " + e.scope.text(dims[at]) + "; ++" + pass + ")");
  out.line("bool found = false;");
  std::string k = openElements();
  std::string x = out.fresh("x");
  out.line("const " + element + " " + x + " = " + read(0) + ";");
  out.line("const bool open = " + pass + " == 0 || " + less("last", x) +
           " || (!" + less(x, "last") + " && " + k + " > chosen);");
  e.open("if (open && (!found || " + less(x, "best") + "))");
  out.line("best = " + x + "; next = " + k + "; found = true;");
  e.close();
  e.close();
  out.line("last = best; chosen = next;");
  e.close();
  storeResults({"(" + elementOf(stage.op->getResult(0)) + ")chosen"});
}

/// Each element counts those that come before it: that is its place. Where
/// there are fewer results, their threads take several elements.
void SequentialSource::writePlaces() {
  bool all = nest.extents[at] == nest.extents[over];
  AffineExpr own = dims[at];
  if (!all) {
    std::string mine = out.fresh("k");
    e.open("for (unsigned " + mine + " = " + e.scope.text(own) + "; " + mine +
           " < " + std::to_string(nest.extents[over]) + "u; " + mine +
           " += " + std::to_string(nest.extents[at]) + "u)");
    own = e.scope.addDim(mine, 0, nest.extents[over] - 1);
  }
  dims[over] = own;
  std::string mine = read(0);
  out.line("unsigned place = 0;");
  std::string k = openElements();
  std::string other = read(0);
  out.line("const bool before = " + less(other, mine) +
           ", after = " + less(mine, other) + ";");
  out.line("place += before || (!after && " + k + " < " + e.scope.text(own) +
           ");");
  e.close();
  if (!all)
    e.open("if (place < " + std::to_string(nest.extents[at]) + "u)");
  dims[at] = e.scope.addDim("place", 0, nest.extents[at] - 1);
  std::string type = elementOf(stage.op->getResult(0));
  storeResults({"(" + type + ")(" + e.scope.text(own) + ")"});
  if (!all) {
    e.close();
    e.close();
  }
}

} // namespace dl::cuda
