// A product of one row with a matrix whose rows are long, x [k] times w [k,n]:
// the forward pass of a layer on one item, which takes as long as its weights
// take from memory. A tile's lanes of one k after the other would jump from row
// to row; what a call has of the lanes is computed in blocks of a few k, so
// that memory is read in long runs:
//   for each block of k, each panel of lanes:
//     a micro-kernel adds to sums that wait in the first-level cache
// Each result is one chain of additions in the order of k, as without blocks.

#include "compiler/codegen/cpu/ContractLimits.h"
#include "compiler/codegen/cpu/ContractStage.h"
#include "compiler/codegen/cpu/MicroKernel.h"
#include "dialects/graph/Check.h"

using namespace mlir;

namespace dl::cpu {

using llvm::Value;

void ContractStage::emitStreamed() {
  unsigned lead = form.laneDims.front();
  Value *begin = b.getInt64(0), *end = b.getInt64(form.laneCount());
  if (GridPart bound = e.kernel.parts(stage)[lead]; e.kernel.isCut(bound))
    begin = tile.origin[*bound.grid], end = tile.end[*bound.grid];
  // (AVX2 has 16 registers, two for a vector.)
  int64_t width = kStreamedVectors / registers.perVector * e.kernel.lanes();
  if (GridPart bound = e.kernel.parts(stage)[lead]; e.kernel.isCut(bound))
    DL_CHECK(e.kernel.tileSizes()[*bound.grid] % width == 0,
             "a tile is whole panels");
  KPart part;
  part.sumStride = scratch.sumStride;
  part.scalarSteps = {form.scalar.coefficients[form.kDims.front()]};
  emitLoop(b, begin, end, kStreamedLanes, [&](Value *from) {
    Value *to = b.CreateBinaryIntrinsic(
        llvm::Intrinsic::smin, b.CreateAdd(from, b.getInt64(kStreamedLanes)),
        end);
    Value *all = b.CreateSub(to, from);
    Value *full = b.CreateSub(to, b.CreateURem(all, b.getInt64(width)));
    forEachKBlock(
        form.kCount(), form.kBlock, part, [&](Value *k, const KPart &part) {
          auto panel = [&](Value *lane, int64_t lanes) {
            emitStreamedPanel(lane, lanes, b.CreateSub(lane, from), k, part);
          };
          emitLoop(b, from, full, width,
                   [&](Value *lane) { panel(lane, width); });
          // Tiles are whole panels but for the last one.
          if (int64_t rest = form.laneCount() % width)
            emitIf(b, b.CreateICmpSLT(full, to), [&] { panel(full, rest); });
        });
  });
}

void ContractStage::emitStreamedPanel(Value *lane, int64_t lanes,
                                      Value *waiting, Value *k,
                                      const KPart &part) {
  Value *row = tileOrigin(form.rowDim);
  Value *relative = b.CreateSub(lane, tileOrigin(form.laneDims.front()));
  MicroArguments arguments = microArguments(
      sidePointer(form.scalar, row, k),
      b.CreateGEP(laneType(), sidePointer(form.lane, row, k), relative));
  arguments.row = row, arguments.lane = lane;
  arguments.sums = b.CreateGEP(element, scratchAt(scratch.sumsAt), waiting);
  arguments.call(b, microKernel(1, panelAt(0, lanes), part));
}

} // namespace dl::cpu
