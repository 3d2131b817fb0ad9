// Operands that lie across the lanes, such as pixels [image][pixel] where
// results are stored [pixel][image]: squares of W x W elements are loaded along
// the operand, transposed, and computed and stored along the result. A gather
// loads each element by itself.

#include "compiler/codegen/cpu/LoopsStage.h"
#include "llvm/Support/SaveAndRestore.h"
#include <numeric>

using namespace mlir;

namespace dl::cpu {

using llvm::Value;

std::optional<LoopsStage::Across> LoopsStage::findAcross() const {
  if (lanesReduce || nest.combine != graph::Combine::None || laneDims.empty() ||
      e.kernel.hasIndirect())
    return std::nullopt;
  int64_t count = 1;
  for (unsigned d : laneDims) {
    if (ranges[d].phases != 1)
      return std::nullopt;
    count *= ranges[d].extent;
  }
  if (count < e.kernel.lanes() / 2)
    return std::nullopt;
  unsigned lane = laneDims.back();
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
          if (!llvm::is_contained(laneDims, d) &&
              addressStep(leaf, index, d) == 1 && ranges[d].phases == 1 &&
              !ranges[d].single && ranges[d].extent >= e.kernel.lanes() / 2)
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
  const Range &front = ranges[laneDims.front()];
  int64_t width = e.kernel.lanes(), inner = 1, multiple = width;
  for (unsigned d : ArrayRef(laneDims).drop_front())
    inner *= ranges[d].extent;
  Value *lo = b.getInt64(0), *hi = b.getInt64(front.extent * inner);
  if (front.isCut()) {
    lo = b.CreateMul(front.lo, b.getInt64(inner));
    hi = b.CreateMul(front.hi, b.getInt64(inner));
    multiple = std::gcd(width, e.kernel.originMultiple(front.cut) * inner);
  }
  Value *full =
      b.CreateAdd(lo, b.CreateAnd(b.CreateSub(hi, lo), b.getInt64(-width)));
  emitLoop(b, ranges[across->dim].lo, ranges[across->dim].hi, width,
           [&](Value *first) {
             emitLoop(b, lo, full, width, [&](Value *lane) {
               emitSquare(lane, first, multiple, nullptr);
             });
             if (front.isCut() || front.extent * inner % width != 0)
               emitIf(b, b.CreateICmpSLT(full, hi),
                      [&] { emitSquare(full, first, multiple, hi); });
           });
}

/// Of the flat run of lanes those from `lane` on, a multiple of `multiple`, up
/// to `end` if there is one, at up to W places of the other dim from `first`
/// on.
void LoopsStage::emitSquare(Value *lane, Value *first, int64_t multiple,
                            Value *end) {
  int64_t width = e.kernel.lanes(), count = 1;
  unsigned size = e.scope.size();
  SmallVector<int64_t> extents;
  for (unsigned d : laneDims) {
    extents.push_back(ranges[d].extent);
    count *= ranges[d].extent;
  }
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
    // Addresses are linear in a run of lanes: its innermost dim goes on beyond
    // its end.
    for (unsigned d : laneDims)
      dims[d] = constant(0);
    AffineExpr start = end ? nullptr : e.scope.addDim(lane, 0, count - width);
    dims[across->dim] =
        e.scope.addLaneGroup(first, {nest.extents[across->dim]}).front();
    for (int64_t l = 0; l < width; ++l) {
      AffineExpr &at = dims[laneDims.back()];
      if (end) // what a row has too much at its end is not used
        at = e.scope.addDim(
            b.CreateBinaryIntrinsic(llvm::Intrinsic::smin,
                                    b.CreateAdd(lane, b.getInt64(l)),
                                    b.CreateSub(end, b.getInt64(1))),
            0, count - 1);
      else
        at = start + l;
      // (Of padded values lanes are one dim, which ends where it does.)
      rows.push_back(e.widen(guarded ? e.loadInside(leaf, indexOf(index))
                                     : e.evaluate(leaf, indexOf(index))));
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
  Value *places =
      b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.getInt64(width),
                              b.CreateSub(ranges[across->dim].hi, first));
  Value *mask = end ? lanesBefore(b.CreateSub(end, lane)) : nullptr;
  emitLoop(b, b.getInt64(0), places, 1, [&](Value *l) {
    e.enterBody();
    dims[across->dim] =
        e.scope.addDim(b.CreateAdd(first, l), 0, nest.extents[across->dim] - 1);
    auto exprs = e.scope.addLaneGroup(lane, extents, multiple);
    for (auto [d, expr] : llvm::zip(laneDims, exprs))
      dims[d] = expr;
    llvm::SaveAndRestore<Value *> tail(e.tail, mask);
    for (auto [square, read] : llvm::zip(squares, across->reads)) {
      auto *type = llvm::FixedVectorType::get(e.memoryType(read.first), width);
      e.preload(read.first, indexOf(read.second),
                b.CreateLoad(type, b.CreateGEP(type, square, l)));
    }
    storeResults();
    e.scope.endLaneGroup();
    e.scope.truncate(size);
  });
  e.enterBody();
}

} // namespace dl::cpu
