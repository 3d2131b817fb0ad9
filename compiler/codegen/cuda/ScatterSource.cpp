#include "compiler/codegen/cuda/PayloadText.h"
#include "compiler/codegen/cuda/ScatterForm.h"
#include "compiler/codegen/cuda/StageSource.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using llvm::Twine;

namespace dl::cuda {

ScatterSource::ScatterSource(RegionText &region, const Stage &stage)
    : StageSource(region, stage),
      element(valueType(graph::scalarType(
          cast<RankedTensorType>(stage.op->getResult(0).getType())
              .getElementType()))),
      isMax(nest.combine == graph::Combine::Max) {}

void ScatterSource::write() {
  if (auto form = ScatterForm::of(e.kernel, stage))
    writeTile(*form);
  else
    writePoints();
}

std::string ScatterSource::start() const {
  return isMax ? "lowest<" + element + ">()" : "0";
}

void ScatterSource::add(const std::string &to) {
  std::string content = read(nest.scatter->operand);
  out.line(isMax ? to + " = Max()(" + to + ", " + content + ");"
                 : to + " += " + content + ";");
}

/// Each element looks for what belongs to it, so that it gets that in one
/// order.
void ScatterSource::writePoints() {
  forEachPoint(parallelDims(), 1, [&] {
    std::string name = isMax ? "best" : "sum";
    out.line(element + " " + name + " = " + start() + ";");
    openIndices();
    e.open("if (" + read(0) + " == (long long)(" +
           e.scope.text(dims[nest.scatter->at]) + "))");
    add(name);
    e.close();
    e.close();
    storeResults(finish({name}));
  });
}

void ScatterSource::openIndices() {
  std::string k = out.fresh("k");
  int64_t count = nest.extents[nest.scatter->over];
  e.open("for (" + e.scope.type() + " " + k + " = 0; " + k + " < " +
         e.scope.number(count) + "; ++" + k + ")");
  dims[nest.scatter->over] = e.scope.addDim(k, 0, count - 1);
}

/// The sums of the tile are in shared memory, row by row.
void ScatterSource::writeTile(const ScatterForm &form) {
  unsigned threads = e.kernel.threads();
  int64_t points = form.rows * form.columns;
  e.open("");
  out.line(element + " *sums = reinterpret_cast<" + element + " *>(shared + " +
           Twine(e.kernel.combineOffset()) + ");");
  e.open("for (unsigned p = threadIdx.x; p < " + Twine(points) +
         "u; p += " + Twine(threads) + "u)");
  out.line("sums[p] = " + start() + ";");
  e.close();
  out.line("__syncthreads();");
  out.line("const long long firstRow = (long long)(" +
           e.scope.text(e.originOf(e.kernel.parts(stage)[nest.scatter->at])) +
           ");");
  if (form.together)
    addListed(form);
  else
    forEachColumn(form, [&](unsigned owners) {
      openIndices();
      out.line("const unsigned long long row = (unsigned long long)(" +
               read(0) + " - firstRow);");
      std::string mine = "row < " + std::to_string(form.rows) + "ull";
      if (owners > 1)
        mine += " && row % " + std::to_string(owners) + "u == owner";
      e.open("if (" + mine + ")");
      add("sums[(unsigned)row * " + std::to_string(form.columns) +
          "u + column]");
      e.close();
      e.close();
    });
  out.line("__syncthreads();");
  forEachPoint(parallelDims(), 1, [&] {
    storeResults(finish({"sums[" + e.scope.text(placeOf(form)) + "]"}));
  });
  e.close();
}

/// Of the current point, among the sums.
AffineExpr ScatterSource::placeOf(const ScatterForm &form) {
  auto parts = e.kernel.parts(stage);
  AffineExpr place = e.scope.constant(0);
  int64_t stride = 1;
  for (unsigned d : llvm::reverse(columnDims())) {
    place = place + (dims[d] - e.originOf(parts[d])) * stride;
    stride *= e.kernel.tileExtent(stage, d);
  }
  unsigned at = nest.scatter->at;
  return simplified(place + (dims[at] - e.originOf(parts[at])) * form.columns);
}

SmallVector<unsigned> ScatterSource::columnDims() const {
  SmallVector<unsigned> along = parallelDims();
  llvm::erase(along, nest.scatter->at);
  return along;
}

/// Each thread has a column, or several; where there are more threads, so many
/// are the owners of a column's rows, in turns.
void ScatterSource::forEachColumn(const ScatterForm &form,
                                  llvm::function_ref<void(unsigned)> body) {
  unsigned threads = e.kernel.threads();
  unsigned owners = std::max<int64_t>(
      1, std::min<int64_t>(threads / form.columns, form.rows));
  std::string columns = std::to_string(form.columns) + "u";
  if (form.columns > threads) {
    e.open("for (unsigned column = threadIdx.x; column < " + columns +
           "; column += " + Twine(threads) + "u)");
  } else {
    unsigned active = owners * form.columns;
    e.open(active == threads
               ? ""
               : "if (threadIdx.x < " + std::to_string(active) + "u)");
    out.line("const unsigned column = threadIdx.x % " + columns + ";");
    if (owners > 1)
      out.line("const unsigned owner = threadIdx.x / " + columns + ";");
  }
  locate("column", columnDims());
  std::string inside = insideTensor(columnDims());
  if (!inside.empty())
    e.open("if (" + inside + ")");
  body(owners);
  if (!inside.empty())
    e.close();
  e.close();
}

/// All threads look through the indices, some of them at a time, and list what
/// belongs to the tile.
void ScatterSource::addListed(const ScatterForm &form) {
  std::string type = e.scope.type().str();
  unsigned threads = e.kernel.threads(), over = nest.scatter->over;
  constexpr unsigned each = ScatterForm::kEach;
  int64_t count = nest.extents[over], piece = int64_t(threads) * each;
  out.line("unsigned *places = reinterpret_cast<unsigned *>(shared + " +
           Twine(e.kernel.combineOffset() +
                 int64_t(llvm::alignTo(form.sumBytes(), 16))) +
           "), *rows = places + " + Twine(piece) + "u;");
  // Of its columns the first one: all have the same indices.
  for (unsigned d : columnDims())
    dims[d] = e.originOf(e.kernel.parts(stage)[d]);
  e.open("for (" + type + " piece = 0; piece < " + e.scope.number(count) +
         "; piece += " + e.scope.number(piece) + ")");
  out.line("unsigned found[" + Twine(each) + "];");
  out.directive("#pragma unroll");
  e.open("for (unsigned i = 0; i < " + Twine(each) + "u; ++i)");
  out.line("found[i] = ~0u;");
  out.line("const " + type + " k = piece + threadIdx.x * " + Twine(each) +
           "u + i;");
  e.open("if (k < " + e.scope.number(count) + ")");
  dims[over] = e.scope.addDim("k", 0, count - 1);
  out.line("const unsigned long long row = (unsigned long long)(" + read(0) +
           " - firstRow);");
  out.line("if (row < " + Twine(form.rows) + "ull) found[i] = (unsigned)row;");
  e.close();
  e.close();
  out.line("const unsigned count = listFound<" + Twine(threads) + "u, " +
           Twine(each) + "u>(found, places, rows);");
  forEachColumn(form, [&](unsigned owners) {
    e.open("for (unsigned i = 0; i < count; ++i)");
    if (owners > 1)
      e.open("if (rows[i] % " + std::to_string(owners) + "u == owner)");
    out.line("const " + type + " k = piece + places[i];");
    dims[over] = e.scope.addDim("k", 0, count - 1);
    add("sums[rows[i] * " + std::to_string(form.columns) + "u + column]");
    if (owners > 1)
      e.close();
    e.close();
  });
  e.close();
}

} // namespace dl::cuda
