// Operands that lie across the lanes, such as pixels [image][pixel] where
// results are stored [pixel][image]: squares of W x W elements are loaded along
// the operand, transposed, and computed and stored along the result. A gather
// loads each element by itself.

#include "compiler/codegen/cpu/LoopsStage.h"

using namespace mlir;

namespace dl::cpu {

using llvm::Value;

std::optional<LoopsStage::Across> LoopsStage::findAcross() const {
  if (lanesReduce || guarded || nest.combine != graph::Combine::None ||
      laneDims.size() != 1 || e.kernel.hasIndirect())
    return std::nullopt;
  unsigned lane = laneDims.front();
  const Range &range = ranges[lane];
  if (range.isCut() || range.phases != 1 || range.extent < e.kernel.lanes() / 2)
    return std::nullopt;
  std::optional<Across> found;
  bool squares = true;
  e.kernel.forEachRead(
      stage, [&](mlir::Value leaf, ArrayRef<AffineExpr> index, bool) {
        std::optional<int64_t> step = addressStep(leaf, index, lane);
        if (step == 0 || step == 1 || step == 2)
          return;
        Type element = cast<RankedTensorType>(leaf.getType()).getElementType();
        std::optional<unsigned> along;
        for (unsigned d = 0; d < nest.numParallel && step; ++d)
          if (d != lane && addressStep(leaf, index, d) == 1 &&
              ranges[d].phases == 1 && !ranges[d].single &&
              ranges[d].extent >= e.kernel.lanes() / 2)
            along = d;
        // (The last row is read up to 64 bytes beyond the operand's end.)
        unsigned bits = element.getIntOrFloatBitWidth();
        squares &= along && bits > 1 && bits * e.kernel.lanes() <= 64 * 8 &&
                   (!found || found->dim == *along);
        if (!squares)
          return;
        if (!found)
          found = Across{*along, {}};
        found->reads.push_back({leaf, SmallVector<AffineExpr>(index)});
      });
  return squares ? found : std::nullopt;
}

/// log2(W) rounds of perfect shuffles.
static Values transpose(llvm::IRBuilder<> &b, Values rows) {
  int width = rows.size();
  for (int round = 1; round < width; round *= 2) {
    Values next;
    for (int i = 0; i < width / 2; ++i)
      for (int half : {0, width / 2}) {
        SmallVector<int> mixed;
        for (int l = half; l < half + width / 2; ++l)
          mixed.append({l, l + width});
        next.push_back(
            b.CreateShuffleVector(rows[i], rows[i + width / 2], mixed));
      }
    rows = next;
  }
  return rows;
}

void LoopsStage::emitSquares() {
  int64_t width = e.kernel.lanes(), extent = ranges[laneDims.front()].extent;
  int64_t full = extent / width * width;
  emitLoop(b, ranges[across->dim].lo, ranges[across->dim].hi, width,
           [&](Value *first) {
             emitLoop(b, b.getInt64(0), b.getInt64(full), width,
                      [&](Value *lane) { emitSquare(lane, first, width); });
             if (full < extent)
               emitSquare(b.getInt64(full), first, extent - full);
           });
}

/// `lanes` lanes from `lane` on, at up to W places of the other dim from
/// `first` on.
void LoopsStage::emitSquare(Value *lane, Value *first, int64_t lanes) {
  int64_t width = e.kernel.lanes();
  unsigned laneDim = laneDims.front(), size = e.scope.size();
  auto indexOf = [&](ArrayRef<AffineExpr> index) {
    SmallVector<AffineExpr> at;
    for (AffineExpr expr : index)
      at.push_back(simplified(expr.replaceDims(dims)));
    return at;
  };
  e.enterBody();
  SmallVector<Value *> squares;
  for (auto &[leaf, index] : across->reads) {
    Values rows;
    AffineExpr start = e.scope.addDim(lane, 0, nest.extents[laneDim] - lanes);
    dims[across->dim] =
        e.scope.addLaneGroup(first, {nest.extents[across->dim]}).front();
    for (int64_t l = 0; l < width; ++l) {
      // (What a row has too much at its end is not used.)
      dims[laneDim] = start + std::min(l, lanes - 1);
      rows.push_back(e.widen(e.evaluate(leaf, indexOf(index))));
    }
    e.scope.endLaneGroup();
    e.scope.truncate(size);
    rows = transpose(b, rows);
    llvm::BasicBlock &entry = b.GetInsertBlock()->getParent()->getEntryBlock();
    llvm::IRBuilder<> atEntry(&entry, entry.begin());
    squares.push_back(atEntry.CreateAlloca(rows[0]->getType(),
                                           atEntry.getInt64(width), "square"));
    for (auto [l, row] : llvm::enumerate(rows))
      b.CreateStore(row,
                    b.CreateConstGEP1_64(row->getType(), squares.back(), l));
  }
  Value *count =
      b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.getInt64(width),
                              b.CreateSub(ranges[across->dim].hi, first));
  emitLoop(b, b.getInt64(0), count, 1, [&](Value *l) {
    e.enterBody();
    dims[across->dim] =
        e.scope.addDim(b.CreateAdd(first, l), 0, nest.extents[across->dim] - 1);
    dims[laneDim] =
        e.scope.addLaneGroup(lane, {nest.extents[laneDim]}, width).front();
    e.tail = lanes < width ? constantTail(lanes) : nullptr;
    for (auto [square, read] : llvm::zip(squares, across->reads)) {
      auto *type = llvm::FixedVectorType::get(e.memoryType(read.first), width);
      e.preload(read.first, indexOf(read.second),
                b.CreateLoad(type, b.CreateGEP(type, square, l)));
    }
    storeResults();
    e.tail = nullptr;
    e.scope.endLaneGroup();
    e.scope.truncate(size);
  });
  e.enterBody();
}

} // namespace dl::cpu
