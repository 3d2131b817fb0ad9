// A product of few rows with a matrix that lies along k, x [m,k] times w [n,k]:
// the forward pass of a linear layer on a small batch. Lanes along n would mean
// to transpose w. Lanes run along m instead:
//   x is packed, as [k][m]
//   for each square of n as wide as a vector, each panel of m:
//     micro-kernels leave sums [n][m] in scratch
//     they are transposed, [m][n]; epilogue and store along n

#include "compiler/codegen/cpu/ContractStage.h"
#include "compiler/codegen/cpu/MicroKernel.h"
#include "compiler/codegen/cpu/Packing.h"

using namespace mlir;

namespace dl::cpu {

using llvm::Value;

void ContractStage::emitNarrow() {
  int64_t lanes = form.laneCount(), width = e.kernel.lanes();
  RegisterTile block = RegisterTile::chooseNarrow(lanes, width, registers);
  KPart part;
  part.extent = form.kCount();
  part.last = false; // the sums are kept
  part.scalarSteps = {form.scalar.coefficients[form.kDims.front()]};
  part.rowStep = form.scalar.coefficients[form.rowDim];
  part.sumStride = scratch.sumStride;
  emitPack(b, element, panelAt(0, lanes), {part.extent},
           sidePointer(form.lane, tileOrigin(form.rowDim), b.getInt64(0)),
           scratchAt(0), {block.vectors * width, width, 0});

  // A call may compute several tiles that are neighbours along the rows.
  Value *begin = b.getInt64(0), *end = b.getInt64(form.rows());
  if (GridPart bound = e.kernel.parts(stage)[form.rowDim];
      e.kernel.isCut(bound))
    begin = tile.origin[*bound.grid], end = tile.end[*bound.grid];
  Value *full = b.CreateAnd(end, b.getInt64(-width));
  emitLoop(b, begin, full, width,
           [&](Value *row) { emitNarrowSquare(row, width, block, part); });
  if (int64_t rest = form.rows() % width)
    emitIf(b, b.CreateICmpSLT(full, end),
           [&] { emitNarrowSquare(full, rest, block, part); });
}

void ContractStage::emitNarrowSquare(Value *row, int64_t rows,
                                     RegisterTile block, const KPart &part) {
  int64_t lanes = form.laneCount(), width = block.vectors * e.kernel.lanes();
  Value *sums = scratchAt(scratch.sumsAt);
  for (int64_t first = 0; first < lanes; first += width) {
    int64_t used = std::min(width, lanes - first);
    Value *panel =
        b.CreateConstGEP1_64(element, scratchAt(0), first * part.extent);
    for (int64_t r = 0; r < rows; r += block.rows) {
      Value *at = b.CreateAdd(row, b.getInt64(r));
      int64_t height = std::min<int64_t>(block.rows, rows - r);
      MicroArguments arguments =
          microArguments(sidePointer(form.scalar, at, b.getInt64(0)), panel);
      arguments.row = at, arguments.lane = b.getInt64(first);
      arguments.sums =
          b.CreateConstGEP1_64(element, sums, r * scratch.sumStride);
      arguments.call(b, microKernel(height, packedPanel(used), part));
    }
    Panel transposed;
    transposed.lanes = rows;
    for (int64_t r = 0; r < rows; ++r)
      transposed.offsets.push_back(r * scratch.sumStride);
    transposed.kSteps = {1};
    emitPack(b, element, transposed, {used}, sums,
             scratchAt(scratch.transposedAt),
             {e.kernel.lanes(), e.kernel.lanes(), e.kernel.lanes()});
    finishTransposed(row, rows, first, used);
  }
}

/// Epilogue and store of `rows` neighbours for each lane.
void ContractStage::finishTransposed(Value *row, int64_t rows,
                                     int64_t firstLane, int64_t lanes) {
  auto *type = llvm::FixedVectorType::get(element, e.kernel.lanes());
  unsigned laneDim = form.laneDims.front();
  SmallVector<llvm::Constant *> bits;
  for (int64_t l = 0; l < e.kernel.lanes(); ++l)
    bits.push_back(b.getInt1(l < rows));
  emitLoop(b, b.getInt64(0), b.getInt64(lanes), 1, [&](Value *lane) {
    e.enterBody();
    unsigned size = e.scope.size();
    SmallVector<AffineExpr> at(dims);
    at.truncate(e.kernel.nest(stage.op).numParallel);
    at[laneDim] = e.scope.addDim(b.CreateAdd(lane, b.getInt64(firstLane)), 0,
                                 form.laneCount() - 1);
    at[form.rowDim] = e.scope.addLaneGroup(row, {form.rows()}).front();
    Value *from = b.CreateGEP(element, scratchAt(scratch.transposedAt),
                              b.CreateMul(lane, b.getInt64(e.kernel.lanes())));
    Value *content = b.CreateAlignedLoad(
        type, from, llvm::Align(element->getScalarSizeInBits() / 8));
    if (rows < e.kernel.lanes())
      e.tail = llvm::ConstantVector::get(bits);
    e.seed(stage.op->getResult(0), content);
    if (stage.epilogue)
      content = e.evaluatePayload(stage.epilogue, at)[0];
    e.store(stage.storedOp()->getResult(0), at, content);
    e.tail = nullptr;
    e.scope.endLaneGroup();
    e.scope.truncate(size);
  });
  e.enterBody();
}

} // namespace dl::cpu
