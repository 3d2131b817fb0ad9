#include "compiler/codegen/cuda/OrderForm.h"
#include "compiler/codegen/cuda/PayloadText.h"
#include "compiler/codegen/cuda/ScanForm.h"
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
  if (auto form = ScanForm::of(e.kernel, stage))
    return writeParts(*form);
  SmallVector<unsigned> along = parallelDims();
  llvm::erase(along, at);
  forEachPoint(along, 1, [&] {
    declareState();
    writeSteps("0", e.scope.number(nest.extents[at]),
               [&] { storeResults(finish({writeScanStep()})); });
  });
}

void SequentialSource::writeSteps(const std::string &begin,
                                  const std::string &end, Body body) {
  std::string k = out.fresh("k");
  e.open("for (" + e.scope.type() + " " + k + " = " + begin + "; " + k + " < " +
         end + "; ++" + k + ")");
  int64_t extent = nest.extents[at];
  AffineExpr step = e.scope.addDim(k, 0, extent - 1);
  dims[at] = dims[over] =
      nest.scan->reverse ? e.scope.constant(extent - 1) - step : step;
  body();
  e.close();
}

void SequentialSource::declareState() {
  std::string element = elementOf(stage.op->getOperand(0));
  if (nest.scan->kind == graph::Scan::Argmax)
    out.line(element + " best = lowest<" + element +
             ">(); long long place = 0;");
  else
    out.line(stateType() + " sum = 0;");
}

/// Sums of floats are of f64.
std::string SequentialSource::stateType() const {
  Type element = cast<RankedTensorType>(stage.op->getOperand(0).getType())
                     .getElementType();
  return isa<FloatType>(element) && nest.scan->kind != graph::Scan::Argmax
             ? "double"
             : elementOf(stage.op->getOperand(0));
}

/// All threads have a part of a row: what it makes of nothing, then of what all
/// parts before it make.
void SequentialSource::writeParts(const ScanForm &form) {
  bool isLinear = nest.scan->kind == graph::Scan::Linear,
       isPlace = nest.scan->kind == graph::Scan::Argmax;
  std::string type = stateType(),
              threads = std::to_string(e.kernel.threads()) + "u",
              other = isLinear ? "factor" : "place",
              otherType = isLinear ? type : "long long";
  openRows();
  out.line("unsigned char *states = shared + " +
           Twine(e.kernel.combineOffset()) + ";");
  out.line(type + " *values = reinterpret_cast<" + type + " *>(states);");
  if (isLinear || isPlace)
    out.line(otherType + " *others = reinterpret_cast<" + otherType +
             " *>(states + " + threads + " * 8u);");
  out.line("const unsigned begin = min(threadIdx.x * " + Twine(form.part) +
           "u, " + Twine(nest.extents[at]) + "u), end = min(begin + " +
           Twine(form.part) + "u, " + Twine(nest.extents[at]) + "u);");
  declareState();
  if (isLinear)
    out.line(type + " factor = 1;");
  writeSteps("begin", "end", [&] {
    writeScanStep();
    if (isLinear)
      out.line("factor *= " + read(0) + ";");
  });
  std::string value = isPlace ? "best" : "sum";
  out.line("__syncthreads();"); // of the row before
  out.line("values[threadIdx.x] = " + value + ";");
  if (isLinear || isPlace)
    out.line("others[threadIdx.x] = " + other + ";");
  out.line("__syncthreads();");
  out.line(isPlace ? "best = lowest<" + type + ">(); place = 0;" : "sum = 0;");
  e.open("for (unsigned i = 0; i < threadIdx.x; ++i)");
  if (isPlace)
    out.line("if (values[i] >= best || values[i] != values[i]) best = "
             "values[i], place = others[i];");
  else // (A factor of many may have overflowed.)
    out.line(isLinear ? "sum = values[i] + (sum == 0 ? 0 : others[i] * sum);"
                      : "sum += values[i];");
  e.close();
  writeSteps("begin", "end", [&] { storeResults(finish({writeScanStep()})); });
  closeRows();
}

/// All threads are at one row, then at the next.
void SequentialSource::openRows() {
  SmallVector<unsigned> rows = parallelDims();
  llvm::erase(rows, at);
  int64_t count = this->count(rows);
  e.open(count == 1 ? Twine()
                    : "for (" + e.scope.type() + " row = 0; row < " +
                          e.scope.number(count) + "; ++row)");
  locate("row", rows);
  std::string inside = insideTensor(rows); // the same for all threads
  rowsAreRagged = !inside.empty();
  if (rowsAreRagged)
    e.open("if (" + inside + ")");
}

void SequentialSource::closeRows() {
  if (rowsAreRagged)
    e.close();
  e.close();
}

/// Returns the result at the place where the loop is.
std::string SequentialSource::writeScanStep() {
  std::string element = elementOf(stage.op->getOperand(0)), x = read(0);
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
  if (auto form = OrderForm::of(e.kernel, stage))
    return writeSorted(*form);
  int64_t count = nest.extents[at];
  if (count * count <= nest.extents[over])
    forEachPoint(parallelDims(), 1, [&] { writeSelection(); });
  else
    forEachPoint(parallelDims(), 1, [&] { writePlaces(); });
}

/// A row after the other, whose threads sort it together. Numbers behind the
/// row have places behind it, and come last.
void SequentialSource::writeSorted(const OrderForm &form) {
  std::string type = elementOf(stage.op->getOperand(0)),
              threads = std::to_string(e.kernel.threads()) + "u",
              together = std::to_string(form.together) + "u",
              all = std::to_string(form.all) + "u",
              results = std::to_string(form.results) + "u";
  openRows();
  out.line(type + " *numbers = reinterpret_cast<" + type + " *>(shared + " +
           Twine(e.kernel.combineOffset()) + ");");
  out.line("unsigned *places = reinterpret_cast<unsigned *>(numbers + " +
           Twine(together) + ");");
  out.line("const auto before = [](" + type + " x, unsigned p, " + type +
           " y, unsigned q) {");
  out.line("  return p >= " + all + " || q >= " + all + " ? p < q : " +
           less("x", "y") + " || (!" + less("y", "x") + " && p < q);");
  out.line("};");
  auto fill = [&](StringRef from, const std::string &first) {
    e.open("for (unsigned i = " + from + " + threadIdx.x; i < " + together +
           "; i += " + threads + ")");
    out.line("const unsigned k = " + first + ";");
    out.line("numbers[i] = 0, places[i] = k;");
    e.open("if (k < " + all + ")");
    dims[over] = e.scope.addDim("k", 0, form.all - 1);
    out.line("numbers[i] = " + read(0) + ";");
    e.close();
    e.close();
    out.line("sortTogether<" + threads + ">(numbers, places, " + together +
             ", before);");
  };
  out.line("__syncthreads();"); // of the row before
  fill("0u", "i");
  if (!form.isWhole()) {
    std::string next = std::to_string(form.together - form.results) + "u";
    e.open("for (unsigned first = " + together + "; first < " + all +
           "; first += " + next + ")");
    fill(results, "first + i - " + results);
    e.close();
  }
  e.open("for (unsigned i = threadIdx.x; i < " + results + "; i += " + threads +
         ")");
  dims[at] = e.scope.addDim("i", 0, form.results - 1);
  storeResults({"(" + elementOf(stage.op->getResult(0)) + ")places[i]"});
  e.close();
  closeRows();
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
