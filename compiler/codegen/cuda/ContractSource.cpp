#include "compiler/codegen/cuda/ContractSource.h"
#include "compiler/codegen/cuda/PayloadText.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using llvm::Twine;

namespace dl::cuda {

ContractSource::ContractSource(RegionText &region, const Stage &stage,
                               const ContractForm &form)
    : StageSource(region, stage), form(form),
      element(form.isDouble ? "double" : "float") {}

/// Elements of a fragment that follow one another.
unsigned ContractSource::group(const ContractForm::Side &side) const {
  unsigned each = sumsAlong(side);
  return std::min(each, form.isDouble ? 2u : 4u);
}

/// The block has all tiles of its part, one after the other.
void ContractSource::openTiles() {
  auto open = [&](StringRef name, int64_t count, unsigned tile) {
    std::string type = e.scope.type().str();
    if (count == 1) {
      out.line("const " + type + " " + name + " = 0;");
      return;
    }
    e.open("for (" + type + " " + name + " = 0; " + name + " < " +
           e.scope.number(count * tile) + "; " + name +
           " += " + e.scope.number(tile) + ")");
  };
  open("row0", form.rowTiles(), form.rows.tile);
  open("column0", form.columnTiles(), form.columns.tile);
}

void ContractSource::closeTiles() {
  for (int64_t count : {form.columnTiles(), form.rowTiles()})
    if (count > 1)
      e.close();
}

/// Tiles of columns are neighbours: they read the same rows.
void ContractSource::locateBlock() {
  std::string type = e.scope.type().str(), rest = "blockIdx.x";
  auto part = [&](StringRef name, int64_t count, const Twine &scale) {
    if (count == 1) {
      out.line("const " + type + " " + name + " = 0;");
      return;
    }
    out.line("const " + type + " " + name + " = " + rest + " % " +
             e.scope.number(count) + scale + ";");
    rest = "(" + rest + " / " + e.scope.number(count) + ")";
  };
  if (form.splits > 1) {
    std::string splits = std::to_string(form.splits) + "u";
    out.line("const unsigned tile = blockIdx.x / " + splits +
             ", split = blockIdx.x % " + splits + ";");
    rest = "tile";
  }
  part("column0", form.columnTiles(), " * " + Twine(form.columns.tile) + "u");
  part("row0", form.rowTiles(), " * " + Twine(form.rows.tile) + "u");
  if (form.batchExtent > 1)
    out.line("const " + type + " batch = " + rest + ";");
  if (form.splits > 1) {
    std::string extent = e.scope.number(form.splitExtent());
    out.line("const " + type + " begin = split * " + extent + ", end = min(" +
             e.scope.number(form.sumExtent) + ", begin + " + extent + ");");
    out.line("const unsigned steps = (end - begin + " + Twine(form.step - 1) +
             "u) / " + Twine(form.step) + "u;");
  }
}

void ContractSource::locateThread() {
  if (form.tensorCores)
    // 2 x 2 warps have a part of the tile each.
    out.line("const unsigned warpRow = threadIdx.x / 64u, warpColumn = "
             "threadIdx.x / 32u % 2u, quad = threadIdx.x % 32u / 4u, inQuad = "
             "threadIdx.x % 4u;");
  else
    // A warp has 4 x 8 of the threads: what it reads of both sides is short.
    out.line("const unsigned threadRow = threadIdx.x / 64u * 4u + threadIdx.x "
             "% 32u / 8u, threadColumn = threadIdx.x / 32u % 2u * 8u + "
             "threadIdx.x % 8u;");
  locate("batch", form.batches);
}

void ContractSource::readFragment(const ContractForm::Side &side,
                                  StringRef memory, StringRef name,
                                  StringRef thread) {
  unsigned each = sumsAlong(side), g = group(side);
  for (unsigned first = 0; first < each; first += g) {
    std::string from = memory.str() + " + k * " +
                       std::to_string(form.pitch(side)) + "u + " +
                       std::to_string(first * ContractForm::threadsAlong) +
                       "u + " + thread.str() + " * " + std::to_string(g) + "u";
    std::string part = name.str() + std::to_string(first / g);
    out.line("const Vec<" + element + ", " + Twine(g) + "> " + part +
             " = load<" + Twine(g) + ">(" + from + ");");
  }
}

std::string ContractSource::indexOf(const ContractForm::Side &side,
                                    StringRef number) {
  bool isRow = &side == &form.rows;
  std::string n = number.str(), start = isRow ? "row0 + " : "column0 + ";
  auto text = [](unsigned value) { return std::to_string(value) + "u"; };
  if (!form.tensorCores) {
    unsigned g = group(side);
    return start + n + " / " + text(g) + " * " +
           text(g * ContractForm::threadsAlong) + " + " +
           (isRow ? "threadRow" : "threadColumn") + " * " + text(g) + " + " +
           n + " % " + text(g);
  }
  return isRow ? start + "warpRow * " + text(side.tile / 2) + " + " + n +
                     " / 2u * 16u + " + n + " % 2u * 8u + quad"
               : start + "warpColumn * " + text(side.tile / 2) + " + " + n +
                     " / 2u * 8u + inQuad * 2u + " + n + " % 2u";
}

/// `between` is written where it does not depend on what is multiplied: it runs
/// while that is.
void ContractSource::multiply(llvm::function_ref<void()> between) {
  if (form.isNarrow)
    return multiplyBf16(between);
  if (form.tensorCores)
    return multiplyTf32(between);
  between();
  unsigned eachRow = sumsAlong(form.rows), eachColumn = sumsAlong(form.columns);
  out.directive("#pragma unroll");
  e.open("for (unsigned k = 0; k < " + Twine(form.step) + "u; ++k)");
  readFragment(form.rows, "rows", "x", "threadRow");
  readFragment(form.columns, "columns", "y", "threadColumn");
  unsigned gr = group(form.rows), gc = group(form.columns);
  std::string fma = form.isDouble ? "fma" : "fmaf";
  for (unsigned i = 0; i < eachRow; ++i)
    for (unsigned j = 0; j < eachColumn; ++j) {
      std::string sum =
          "sums[" + std::to_string(i) + "][" + std::to_string(j) + "]";
      out.line(sum + " = " + fma + "(x" + Twine(i / gr) + ".at[" +
               Twine(i % gr) + "], y" + Twine(j / gc) + ".at[" + Twine(j % gc) +
               "], " + sum + ");");
    }
  e.close();
}

/// The last block of a tile adds what all of them have left, in their order.
void ContractSource::addParts() {
  unsigned eachRow = sumsAlong(form.rows), eachColumn = sumsAlong(form.columns);
  auto loops = [&](llvm::function_ref<void()> body) {
    out.directive("#pragma unroll");
    e.open("for (unsigned i = 0; i < " + Twine(eachRow) + "u; ++i)");
    out.directive("#pragma unroll");
    e.open("for (unsigned j = 0; j < " + Twine(eachColumn) + "u; ++j)");
    body();
    e.close();
    e.close();
  };
  std::string part = std::to_string(form.partBytes() / form.elementBytes());
  std::string at = "[(i * " + std::to_string(eachColumn) + "u + j) * " +
                   std::to_string(form.threads()) + "u + threadIdx.x]";
  out.line(element + " *parts = reinterpret_cast<" + element +
           " *>(workspace) + tile * " + Twine(form.splits) + "ull * " + part +
           "ull;");
  loops([&] {
    out.line("(parts + split * " + part + "u)" + at + " = sums[i][j];");
  });
  e.open("if (!isLastOf(" + Twine(form.splits) +
         "u, counters + tile, reinterpret_cast<unsigned char *>(memory)))");
  out.line("return;");
  e.close();
  loops([&] { out.line("sums[i][j] = parts" + at + ";"); });
  // Reads do not wait for one another.
  out.directive("#pragma unroll " +
                std::to_string(std::max(1u, 32 / (eachRow * eachColumn))));
  e.open("for (unsigned s = 1; s < " + Twine(form.splits) + "u; ++s)");
  loops([&] {
    out.line("sums[i][j] += (parts + s * " + part + "u)" + at + ";");
  });
  e.close();
}

void ContractSource::storeTile() {
  unsigned eachRow = sumsAlong(form.rows), eachColumn = sumsAlong(form.columns);
  std::string type = e.scope.type().str();
  std::optional<unsigned> last;
  for (unsigned d : form.columns.dims)
    if (e.kernel.tileExtent(stage, d) > 1)
      last = d;
  unsigned vector = form.tensorCores ? 2 : group(form.columns);
  while (vector > 1 && (!last || nest.extents[*last] % vector != 0 ||
                        e.kernel.tileExtent(stage, *last) % vector != 0))
    vector /= 2;
  out.directive("#pragma unroll");
  e.open("for (unsigned i = 0; i < " + Twine(eachRow) + "u; ++i)");
  out.line("const " + type + " row = " + indexOf(form.rows, "i") + ";");
  bool raggedRows = form.rows.extent % form.rows.tile != 0;
  if (raggedRows)
    e.open("if (row < " + e.scope.number(form.rows.extent) + ")");
  locate("row", form.rows.dims);
  std::string rowInside = insideTensor(form.rows.dims);
  if (!rowInside.empty())
    e.open("if (" + rowInside + ")");
  out.directive("#pragma unroll");
  e.open("for (unsigned j = 0; j < " + Twine(eachColumn) +
         "u; j += " + Twine(vector) + "u)");
  out.line("const " + type + " column = (" + indexOf(form.columns, "j") +
           ") / " + Twine(vector) + "u;");
  bool raggedColumns = form.columns.extent % form.columns.tile != 0;
  if (raggedColumns)
    e.open("if (column < " + e.scope.number(form.columns.extent / vector) +
           ")");
  locate("column", form.columns.dims, vector);
  std::string columnInside = insideTensor(form.columns.dims);
  if (!columnInside.empty())
    e.open("if (" + columnInside + ")");
  e.vector = vector;
  auto sumOf = [](unsigned l) {
    return "sums[i][j + " + std::to_string(l) + "]";
  };
  if (e.kernel.isTotal(stage)) {
    e.open("if (" + e.hasTotal + ")");
    for (unsigned l = 0; l < vector; ++l) {
      moveTo(l);
      out.line(sumOf(l) + " += " +
               e.evaluate(stage.op->getResult(0), resultIndex()) + ";");
    }
    e.close();
  }
  SmallVector<SmallVector<AffineExpr>> indices;
  SmallVector<Names> contents(results.size());
  for (unsigned l = 0; l < vector; ++l) {
    moveTo(l);
    indices.emplace_back(resultIndex());
    Names made = finish({sumOf(l)});
    for (auto [list, name] : llvm::zip(contents, made))
      list.push_back(name);
  }
  for (auto [result, list] : llvm::zip(results, contents))
    if (e.kernel.isPlaced(result))
      e.store(result, indices, list);
  e.vector = 1;
  for (bool isOpen : {!columnInside.empty(), raggedColumns, true,
                      !rowInside.empty(), raggedRows, true})
    if (isOpen)
      e.close();
}

void ContractSource::write() {
  unsigned eachRow = sumsAlong(form.rows), eachColumn = sumsAlong(form.columns);
  if (form.isPart)
    e.open("");
  std::string inTile = elementInTile();
  out.line(inTile + " *memory = reinterpret_cast<" + inTile + " *>(shared + " +
           Twine(e.kernel.combineOffset()) + ");");
  if (!form.isPart)
    locateBlock();
  locateThread();
  if (form.isPart)
    openTiles();
  out.line(element + " sums[" + Twine(eachRow) + "][" + Twine(eachColumn) +
           "] = {};");
  writeSteps();
  if (form.splits > 1)
    addParts();
  storeTile();
  if (!form.isPart)
    return;
  closeTiles();
  e.close();
}

} // namespace dl::cuda
