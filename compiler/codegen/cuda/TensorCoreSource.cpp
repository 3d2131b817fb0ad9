// Products of a step on tensor cores.
#include "compiler/codegen/cuda/ContractSource.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using llvm::Twine;

namespace dl::cuda {

/// Of a product of fragments: two sums of a row and two of the eighth behind.
static std::string sumsOf(unsigned i, unsigned j) {
  SmallVector<std::string, 4> sums;
  for (unsigned row : {2 * i, 2 * i + 1})
    for (unsigned column : {2 * j, 2 * j + 1})
      sums.push_back(("sums[" + Twine(row) + "][" + Twine(column) + "]").str());
  return llvm::join(sums, ", ");
}

std::string ContractSource::groupOf(const std::string &sum,
                                    StringRef exchanged) {
  return "((" + sum + ") / 4u ^ " + exchanged.str() + ") * 4u";
}

/// Fragments of mma.m16n8k8, as PTX has them: of four lanes, each has one k and
/// one k + 4.
void ContractSource::multiplyTf32(llvm::function_ref<void()> between) {
  unsigned rowTiles = form.rows.tile / 32, columnTiles = form.columns.tile / 16;
  auto part = [](unsigned tile) { return " * " + std::to_string(tile) + "u"; };
  std::string row = "warpRow" + part(form.rows.tile / 2) + " + quad",
              column = "warpColumn" + part(form.columns.tile / 2) + " + quad";
  // The lane's elements of this and of the next four sums; each is `perIndex`
  // elements from that of the next row or column.
  auto start = [&](const ContractForm::Side &side, const std::string &memory,
                   const std::string &index, const std::string &name) {
    std::string pitch = std::to_string(form.pitch(side)) + "u";
    for (unsigned half = 0; half < 2; ++half) {
      std::string k = half == 0 ? "k" : "k + 4u";
      std::string at = form.keepsRows(side)
                           ? "(" + index + ") * " + pitch + " + " +
                                 groupOf(k, form.exchanged("quad")) +
                                 " + inQuad"
                           : "(" + k + " + inQuad) * " + pitch + " + " + index;
      out.line("const float *" + name + "At" + Twine(half) + " = " + memory +
               " + " + at + ";");
    }
    return form.keepsRows(side) ? form.pitch(side) : 1;
  };
  auto at = [](StringRef name, unsigned half, unsigned offset) {
    return (name + "At" + Twine(half) + "[" + Twine(offset) + "]").str();
  };
  auto eight = [&](llvm::function_ref<void()> between) {
    unsigned perRow = start(form.rows, "rows", row, "x"),
             perColumn = start(form.columns, "columns", column, "y");
    for (unsigned j = 0; j < columnTiles; ++j)
      out.line("const float y" + Twine(j) + "[2] = {" +
               at("y", 0, 8 * j * perColumn) + ", " +
               at("y", 1, 8 * j * perColumn) + "};");
    for (unsigned i = 0; i < rowTiles; ++i) {
      unsigned first = 16 * i * perRow, second = first + 8 * perRow;
      out.line("const float x" + Twine(i) + "[4] = {" + at("x", 0, first) +
               ", " + at("x", 0, second) + ", " + at("x", 1, first) + ", " +
               at("x", 1, second) + "};");
    }
    between();
    for (unsigned i = 0; i < rowTiles; ++i)
      for (unsigned j = 0; j < columnTiles; ++j) {
        out.line("multiplyTf32(x" + Twine(i) + ", y" + Twine(j) + ", " +
                 sumsOf(i, j) + ");");
      }
  };
  e.open("");
  out.line("const unsigned k = 0;");
  eight(between);
  e.close();
  out.directive("#pragma unroll");
  e.open("for (unsigned k = 8; k < " + Twine(form.step) + "u; k += 8)");
  eight([] {});
  e.close();
}

/// Where a lane has the index `at` of the warp's part of a side.
static std::string partOf(StringRef warp, unsigned tile, const Twine &at) {
  return (warp + " * " + Twine(tile / 2) + "u + " + at).str();
}

/// Fragments of mma.m16n8k16, as PTX has them. Four matrices of 8 x 8 elements
/// come at once, of which 8 lanes each say where their rows are: of rows 16 x
/// 16, of columns two fragments of 16 x 8.
void ContractSource::multiplyBf16(llvm::function_ref<void()> between) {
  unsigned rowTiles = form.rows.tile / 32, columnTiles = form.columns.tile / 16;
  // `first` is the matrix's number along the side, `second` along the sums.
  auto start = [&](const ContractForm::Side &side, StringRef memory,
                   StringRef warp, StringRef first, StringRef second) {
    std::string pitch = std::to_string(form.pitch(side)) + "u";
    bool keeps = form.keepsRows(side);
    std::string inSide = partOf(warp, side.tile, first + " * 8u"),
                inStep = (second + " * 8u").str();
    (keeps ? inSide : inStep) += " + inMatrix";
    out.line("const unsigned short *" + memory + "At = " + memory + " + (" +
             (keeps ? inSide : inStep) + ") * " + pitch + " + " +
             (keeps ? inStep : inSide) + ";");
  };
  auto fetch = [&](const ContractForm::Side &side, StringRef memory,
                   const Twine &name, unsigned inSide) {
    bool keeps = form.keepsRows(side);
    unsigned pitch = form.pitch(side);
    std::string step = keeps ? "k" : "k * " + std::to_string(pitch) + "u";
    out.line("unsigned " + name + "[4];");
    out.line(Twine(keeps ? "loadMatrices" : "loadTransposedMatrices") + "(" +
             name + ", " + memory + "At + " + step + " + " +
             Twine(inSide * (keeps ? pitch : 1)) + "u);");
  };
  out.line("const unsigned inMatrix = threadIdx.x % 8u, matrix = threadIdx.x "
           "% 32u / 8u;");
  start(form.rows, "rows", "warpRow", "matrix % 2u", "matrix / 2u");
  start(form.columns, "columns", "warpColumn", "matrix / 2u", "matrix % 2u");
  auto sixteen = [&](llvm::function_ref<void()> between) {
    for (unsigned j = 0; j < columnTiles; j += 2)
      fetch(form.columns, "columns", "y" + Twine(j), 8 * j);
    for (unsigned i = 0; i < rowTiles; ++i)
      fetch(form.rows, "rows", "x" + Twine(i), 16 * i);
    between();
    for (unsigned i = 0; i < rowTiles; ++i)
      for (unsigned j = 0; j < columnTiles; ++j) {
        std::string y = "y" + std::to_string(j / 2 * 2);
        out.line("multiplyBf16(x" + Twine(i) + ", " + y + "[" +
                 Twine(j % 2 * 2) + "], " + y + "[" + Twine(j % 2 * 2 + 1) +
                 "], " + sumsOf(i, j) + ");");
      }
  };
  e.open("");
  out.line("const unsigned k = 0;");
  sixteen(between);
  e.close();
  if (form.step == 16)
    return;
  out.directive("#pragma unroll");
  e.open("for (unsigned k = 16; k < " + Twine(form.step) + "u; k += 16)");
  sixteen([] {});
  e.close();
}

} // namespace dl::cuda
