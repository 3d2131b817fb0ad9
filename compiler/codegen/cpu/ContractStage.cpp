#include "compiler/codegen/cpu/ContractStage.h"
#include "compiler/codegen/cpu/AmxTiles.h"
#include "compiler/codegen/cpu/MicroKernel.h"
#include "compiler/codegen/cpu/Packing.h"
#include "compiler/codegen/cpu/PayloadCode.h"

using namespace mlir;

namespace dl::cpu {

using llvm::Value;

/// More panel shapes than this are not worth their code.
static constexpr int64_t kMaxPanelShapes = 16;

ContractStage::ContractStage(RegionEmitter &emitter, PayloadCache &payloads,
                             const Stage &stage, const TileBounds &tile,
                             const TargetVariant &variant, int64_t packOffset,
                             StringRef prefix)
    : e(emitter), payloads(payloads), b(emitter.builder), stage(stage),
      tile(tile), form(ContractForm::of(emitter.kernel, stage)),
      registers{variant.vectorRegisters, 64 / variant.vectorBytes},
      tiles(variant.hasBf16Tiles() && form.tilesBf16()),
      pairs(tiles || (variant.hasBf16Dots() && form.dotsBf16())),
      packOffset(packOffset), scratch(tiles ? form.tileScratch(emitter.kernel)
                                            : form.scratch(emitter.kernel)),
      prefix(prefix) {
  Type scalar =
      cast<RankedTensorType>(stage.op->getResult(0).getType()).getElementType();
  element =
      vectorType(b.getContext(), scalar, e.kernel.lanes())->getScalarType();
  dims.resize(form.extents.size(),
              getAffineConstantExpr(0, stage.op->getContext()));
}

void ContractStage::emit() {
  unsigned size = e.scope.size();
  // The frame hands indices to the micro-kernels.
  unsigned slots = e.kernel.grid().size() + form.extents.size() + 1;
  llvm::BasicBlock &entry = b.GetInsertBlock()->getParent()->getEntryBlock();
  llvm::IRBuilder<> atEntry(&entry, entry.begin());
  frame =
      atEntry.CreateAlloca(b.getInt64Ty(), atEntry.getInt64(slots), "frame");
  for (auto [g, origin] : llvm::enumerate(tile.origin))
    b.CreateStore(origin,
                  b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), frame, g));
  if (e.kernel.numConstants() != 0)
    b.CreateStore(
        b.GetInsertBlock()->getParent()->getArg(1),
        b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), frame, slots - 1));
  if (tiles)
    configureTiles(b);
  if (tiles && form.tilesTaps())
    packTapRows(), packPlanes();
  else if (!tiles && pairs && form.pairsOuterK)
    packTileRows();
  if (form.hasPixelRows) {
    Span lanes = span(form.laneDims.front(), 1);
    emitIf(
        b, lanes.isLast, [&] { packPixelLanes(lanes.last); },
        [&] { packPixelLanes(lanes.usual); });
    if (pairs)
      packPixels();
  }
  emitBatch(0);
  if (tiles)
    releaseTiles(b);
  e.enterBody();
  e.scope.truncate(size);
}

void ContractStage::emitBatch(size_t next) {
  if (next == form.batchDims.size()) {
    if (form.is<NarrowProduct>())
      return emitNarrow();
    if (form.is<StreamedProduct>())
      return emitStreamed();
    unsigned lead = form.laneDims.front();
    int64_t inner = form.laneCount() / form.extents[lead];
    Span rows =
        form.rowDim < 0 ? Span{1, 1, b.getFalse()} : span(form.rowDim, 1);
    if (form.is<BlockedProduct>()) {
      emitIf(
          b, rows.isLast, [&] { emitCacheBlocks(rows.last); },
          [&] { emitCacheBlocks(rows.usual); });
      return;
    }
    Span lanes = span(lead, inner);
    auto withRows = [&](int64_t count) {
      emitIf(
          b, lanes.isLast, [&] { emitTile(count, lanes.last); },
          [&] { emitTile(count, lanes.usual); });
    };
    emitBordered([&] {
      emitIf(
          b, rows.isLast, [&] { withRows(rows.last); },
          [&] { withRows(rows.usual); });
    });
    return;
  }
  unsigned d = form.batchDims[next];
  GridPart bound = e.kernel.parts(stage)[d];
  Value *lo = b.getInt64(0), *hi = b.getInt64(form.extents[d]);
  if (e.kernel.isCut(bound))
    lo = tile.origin[*bound.grid], hi = tile.end[*bound.grid];
  emitLoop(b, lo, hi, 1, [&](Value *iv) {
    unsigned size = e.scope.size();
    dims[d] = e.scope.addDim(iv, 0, form.extents[d] - 1);
    b.CreateStore(iv, b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), frame,
                                                   e.kernel.grid().size() + d));
    emitBatch(next + 1);
    e.scope.truncate(size);
  });
}

/// Emits the code for all k, which is unrolled, and for results near a border,
/// where fewer k count.
void ContractStage::emitBordered(llvm::function_ref<void()> emit) {
  if (form.borders.empty())
    return emit();
  Value *whole = b.getTrue();
  SmallVector<Value *, 2> lows;
  for (const ContractForm::Border &border : form.borders) {
    // 0 <= at + kStep * k < extent
    Value *at =
        e.scope.scalar(dims[border.parallel] * border.step + border.constant);
    Value *step = b.getInt64(border.kStep), *zero = b.getInt64(0);
    int64_t all = form.extents[border.k];
    auto clamp = [&](Value *value, Value *least) {
      value = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, value, least);
      return b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, value,
                                     b.getInt64(all));
    };
    Value *low =
        clamp(b.CreateSDiv(b.CreateSub(b.getInt64(border.kStep - 1), at), step),
              zero);
    Value *end =
        clamp(b.CreateSDiv(
                  b.CreateSub(b.getInt64(border.extent + border.kStep - 1), at),
                  step),
              low);
    Value *count = b.CreateSub(end, low);
    b.CreateStore(
        count, b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), frame,
                                            e.kernel.grid().size() + border.k));
    whole = b.CreateAnd(whole, b.CreateICmpEQ(count, b.getInt64(all)));
    lows.push_back(low);
  }
  emitIf(b, whole, emit, [&] {
    clippedFrom = lows;
    emit();
    clippedFrom.clear();
  });
}

ContractStage::Span ContractStage::span(unsigned dim, int64_t inner) const {
  GridPart bound = e.kernel.parts(stage)[dim];
  int64_t extent = form.extents[dim];
  if (!e.kernel.isCut(bound))
    return {extent * inner, extent * inner, b.getFalse()};
  int64_t size = e.kernel.tileSizes()[*bound.grid];
  int64_t last = extent - (extent - 1) / size * size;
  if (last == size)
    return {size * inner, size * inner, b.getFalse()};
  Value *isLast =
      b.CreateICmpEQ(tile.origin[*bound.grid], b.getInt64(extent - last));
  return {size * inner, last * inner, isLast};
}

Value *ContractStage::tileOrigin(int dim) const {
  Value *origin = b.getInt64(0);
  if (dim >= 0)
    if (GridPart bound = e.kernel.parts(stage)[dim]; e.kernel.isCut(bound))
      origin = tile.origin[*bound.grid];
  bool isRow = dim >= 0 && dim == form.rowDim && rowInTile;
  return isRow ? b.CreateAdd(origin, rowInTile) : origin;
}

Value *ContractStage::scratchAt(int64_t offset) {
  return b.CreateConstInBoundsGEP1_64(
      b.getInt8Ty(), b.GetInsertBlock()->getParent()->getArg(2),
      packOffset + offset);
}

/// Address of an operand at the current batch indices, the first lane of the
/// tile, the given row and the given k of the outermost k dim.
Value *ContractStage::sidePointer(const ContractForm::Side &side, Value *row,
                                  Value *k) {
  unsigned size = e.scope.size();
  SmallVector<AffineExpr> at(dims);
  unsigned lead = form.laneDims.front();
  if (GridPart bound = e.kernel.parts(stage)[lead]; e.kernel.isCut(bound))
    at[lead] = e.tileOrigin[*bound.grid];
  if (form.rowDim >= 0)
    at[form.rowDim] = e.scope.addDim(row, 0, form.extents[form.rowDim] - 1);
  unsigned outer = form.kDims.front();
  at[outer] = e.scope.addDim(k, 0, form.extents[outer] - 1);
  // (Bordered k loops are not cut into blocks.)
  for (auto [border, low] : llvm::zip(form.borders, clippedFrom))
    at[border.k] = e.scope.addDim(low, 0, form.extents[border.k] - 1);
  SmallVector<AffineExpr> index;
  for (AffineExpr expr : side.index)
    index.push_back(simplified(expr.replaceDims(at)));
  Value *pointer =
      e.elementPointer(side.leaf, e.scope.scalar(e.address(side.leaf, index)));
  e.scope.truncate(size);
  return pointer;
}

llvm::Type *ContractStage::laneType() {
  return form.widensLanes() ? e.memoryType(form.lane.leaf) : element;
}

Panel ContractStage::panelAt(int64_t relative, int64_t lanes) const {
  Panel panel;
  panel.lanes = lanes;
  int64_t origin = form.laneOffset(relative);
  for (int64_t l = 0; l < lanes; ++l)
    panel.offsets.push_back(form.laneOffset(relative + l) - origin);
  for (unsigned k : form.kDims)
    panel.kSteps.push_back(form.lane.coefficients[k]);
  panel.rounds = form.lane.rounds;
  return panel;
}

/// The same lanes in a packed panel.
Panel ContractStage::packedPanel(int64_t lanes) const {
  Panel panel;
  panel.lanes = lanes;
  for (int64_t l = 0; l < lanes; ++l)
    panel.offsets.push_back(l);
  int64_t step = llvm::alignTo(lanes, e.kernel.lanes());
  panel.kSteps.resize(form.kDims.size());
  for (size_t k = form.kDims.size(); k-- > 0;) {
    panel.kSteps[k] = step;
    bool halved = pairs && (form.hasPixelRows || form.sumsPixels) &&
                  k + 1 == form.kDims.size();
    step *= form.extents[form.kDims[k]] / (halved ? 2 : 1);
  }
  return panel;
}

/// Behind the last row of the tile.
Value *ContractStage::rowEnd() const {
  GridPart bound = e.kernel.parts(stage)[form.rowDim];
  return e.kernel.isCut(bound) ? tile.end[*bound.grid]
                               : b.getInt64(form.rows());
}

void ContractStage::emitTile(int64_t rows, int64_t lanes) {
  if (tiles)
    return form.tilesTaps() ? emitTapTile(rows, lanes)
                            : emitDotTile(rows, lanes);
  // What is packed of so many rows is for the first-level cache.
  int64_t most = form.dotRows(e.kernel);
  if (!form.is<DotProduct>() || rows <= most)
    return emitRowsOfTile(rows, lanes);
  int64_t blocks = llvm::divideCeil(rows, most);
  int64_t low = rows / blocks, border = rows % blocks * (low + 1);
  auto some = [&](int64_t from, int64_t to, int64_t height) {
    emitLoop(b, b.getInt64(from), b.getInt64(to), height, [&](Value *row) {
      rowInTile = row;
      emitRowsOfTile(height, lanes);
      rowInTile = nullptr;
    });
  };
  some(0, border, low + 1);
  some(border, rows, low);
}

void ContractStage::emitRowsOfTile(int64_t rows, int64_t lanes) {
  auto choose =
      form.is<DotProduct>() ? RegisterTile::chooseDot : RegisterTile::choose;
  Registers free = registers;
  if (pairs && !form.is<DotProduct>()) // which are joined on the way
    free.count -= 2 * free.perVector;
  if (form.sumsPixels)
    free = registers;
  RegisterTile block = form.hasPixelRows
                           ? pixelBlock(rows, lanes)
                           : choose(form, rows, lanes, e.kernel.lanes(), free);
  KPart part;
  part.clipped = !clippedFrom.empty();
  part.sumStride = scratch.sumStride;
  part.rowStep = form.rowDim < 0 ? 0 : form.scalar.coefficients[form.rowDim];
  for (unsigned k : form.kDims)
    part.scalarSteps.push_back(form.scalar.coefficients[k]);
  part.pairs = pairs;
  if (pairs && form.pairsOuterK) {
    part.rowStep = form.kCount() / 2;
    part.scalarSteps = packedSteps(form);
  }
  if (pairs && form.hasPixelRows) {
    part.rowStep /= 2;
    for (int64_t &step : part.scalarSteps)
      step = std::max<int64_t>(step / 2, 1);
  }
  int64_t extent = form.extents[form.kDims.front()];
  int64_t size = form.kBlock / (form.kCount() / extent);
  forEachKBlock(extent, size, part, [&](Value *k, const KPart &part) {
    emitKBlock(rows, lanes, block, k, part);
  });
}

void ContractStage::forEachKBlock(
    int64_t extent, int64_t depth, KPart part,
    llvm::function_ref<void(Value *, const KPart &)> emit) {
  int64_t blocks = llvm::divideCeil(extent, depth);
  int64_t lastAt = (blocks - 1) * depth;
  part.first = true, part.last = blocks == 1;
  part.extent = blocks == 1 ? extent : depth;
  emit(b.getInt64(0), part);
  if (blocks == 1)
    return;
  part.first = false;
  emitLoop(b, b.getInt64(depth), b.getInt64(lastAt), depth,
           [&](Value *k) { emit(k, part); });
  part.last = true, part.extent = extent - lastAt;
  emit(b.getInt64(lastAt), part);
}

void ContractStage::emitKBlock(int64_t rows, int64_t lanes, RegisterTile block,
                               Value *k, KPart part) {
  SmallVector<int64_t> extents{part.extent};
  for (unsigned d : ArrayRef(form.kDims).drop_front())
    extents.push_back(form.extents[d]);
  if (pairs && form.pairsRowsOfTaps()) {
    part.rowsArePairs = true;
    part.rowStep = 1;
    for (size_t d = extents.size(); d-- > 0;) {
      part.scalarSteps[d] = part.rowStep;
      part.rowStep *= d + 1 == extents.size() ? extents[d] / 2 : extents[d];
    }
    pairRows(rows, extents, k, part);
  }
  if (form.sumsPixels && form.hasBf16)
    packPixelSums(rows, lanes, block.vectors * e.kernel.lanes(), extents, k,
                  part);
  else if (form.packsPanels() && !form.hasPixelRows)
    emitPack(b, element, panelAt(0, lanes), extents,
             sidePointer(form.lane, tileOrigin(form.rowDim), k), scratchAt(0),
             {block.vectors * e.kernel.lanes(), e.kernel.lanes(), 0});
  emitPanels(rows, lanes, block, k, part);
}

/// After how many panels their shapes repeat, a fixed distance further.
int64_t ContractStage::panelPeriod(int64_t full, int64_t width) const {
  if (form.packsPanels())
    return 1;
  int64_t period = 1;
  for (; period <= full && period <= kMaxPanelShapes; ++period) {
    bool repeats = true;
    int64_t stride = form.laneOffset(period * width);
    for (int64_t p = 0; p + period < full && repeats; ++p)
      repeats =
          panelAt(p * width, width) == panelAt((p + period) * width, width) &&
          form.laneOffset((p + period) * width) - form.laneOffset(p * width) ==
              stride;
    if (repeats)
      return period;
  }
  return full + 1; // every panel on its own
}

void ContractStage::emitPanels(int64_t rows, int64_t lanes, RegisterTile block,
                               Value *k, const KPart &part) {
  int64_t width =
      form.is<DotProduct>() ? block.vectors : block.vectors * e.kernel.lanes();
  int64_t count = part.extent;
  for (unsigned d : ArrayRef(form.kDims).drop_front())
    count *= form.extents[d];
  if (form.hasPixelRows || form.sumsPixels)
    count = packedCount(count, pairs);
  Value *base = form.packsPanels()
                    ? scratchAt(0)
                    : sidePointer(form.lane, tileOrigin(form.rowDim), k);
  auto emitAt = [&](Value *relative, int64_t at, int64_t used, Value *pointer) {
    emitRows(form.packsPanels() ? packedPanel(used) : panelAt(at, used),
             pointer, form.laneOffset(at + used) - form.laneOffset(at),
             relative, rows, block.rows, k, part);
  };
  auto pointerAt = [&](Value *relative, Value *dynamic, int64_t at) {
    if (form.packsPanels())
      return b.CreateGEP(element, base,
                         b.CreateMul(relative, b.getInt64(count)));
    return b.CreateConstGEP1_64(laneType(),
                                b.CreateGEP(laneType(), base, dynamic),
                                form.laneOffset(at));
  };
  int64_t full = lanes / width, period = panelPeriod(full, width);
  int64_t rounds = full / period, stride = form.laneOffset(period * width);
  emitLoop(b, b.getInt64(0), b.getInt64(rounds), 1, [&](Value *round) {
    Value *start = b.CreateMul(round, b.getInt64(period * width));
    Value *offset = b.CreateMul(round, b.getInt64(stride));
    for (int64_t p = 0; p < period; ++p) {
      Value *relative = b.CreateAdd(start, b.getInt64(p * width));
      emitAt(relative, p * width, width,
             pointerAt(relative, offset, p * width));
    }
  });
  for (int64_t at = rounds * period * width; at < lanes; at += width)
    emitAt(b.getInt64(at), at, std::min(width, lanes - at),
           pointerAt(b.getInt64(at), b.getInt64(0), at));
}

/// Of the next panel: each of so many blocks of rows fetches some of the rows
/// of windows, both channels of a pair in each step; blocks that are over the
/// last ones again.
void ContractStage::fetchAhead(int64_t blocks, KPart &part) const {
  part.ahead.rows = 1;
  if (form.kDims.size() > 2) {
    unsigned d = form.kDims[form.kDims.size() - 2];
    part.ahead.rows = form.extents[d];
    part.ahead.stride = form.lane.coefficients[d];
  }
  part.ahead.count = llvm::divideCeil(part.ahead.rows, blocks);
}

/// What this block fetches of the panel: at the last tap of a row, for that is
/// where no panel before has read.
Value *ContractStage::unreadWindow(Value *panel, Value *block,
                                   const KPart &part) {
  unsigned innermost = form.kDims.back();
  int64_t lastTap =
      (form.extents[innermost] - 1) * form.lane.coefficients[innermost];
  Value *first = b.CreateBinaryIntrinsic(
      llvm::Intrinsic::smin, b.CreateMul(block, b.getInt64(part.ahead.count)),
      b.getInt64(part.ahead.rows - part.ahead.count));
  return b.CreateGEP(element, b.CreateConstGEP1_64(element, panel, lastTap),
                     b.CreateMul(first, b.getInt64(part.ahead.stride)));
}

/// The rows in blocks whose heights differ by at most one: no runt block.
void ContractStage::emitRows(const Panel &panel, Value *lanePointer,
                             int64_t toNextPanel, Value *relativeLane,
                             int64_t rows, int64_t blockRows, Value *k,
                             const KPart &kPart) {
  KPart part = kPart;
  int64_t blocks = (rows + blockRows - 1) / blockRows;
  if (pairs && form.pairsOuterK && !form.packsPanels())
    fetchAhead(blocks, part);
  int64_t low = rows / blocks, border = rows % blocks * (low + 1);
  unsigned lead = form.laneDims.front();
  int64_t inner = form.laneCount() / form.extents[lead];
  Value *flat = b.CreateAdd(b.CreateMul(tileOrigin(lead), b.getInt64(inner)),
                            relativeLane);
  auto some = [&](int64_t from, int64_t to, int64_t height) {
    emitLoop(b, b.getInt64(from), b.getInt64(to), height, [&](Value *relative) {
      Value *row = b.CreateAdd(tileOrigin(form.rowDim), relative);
      Value *sumAt = b.CreateAdd(
          b.CreateMul(relative, b.getInt64(scratch.sumStride)),
          b.CreateMul(
              relativeLane,
              b.getInt64(form.is<DotProduct>() ? e.kernel.lanes() : 1)));
      MicroArguments arguments =
          microArguments(rowAt(relative, row, k, part), lanePointer);
      arguments.row = row, arguments.lane = flat;
      if (part.ahead.count)
        arguments.ahead = unreadWindow(
            b.CreateConstGEP1_64(element, lanePointer, toNextPanel),
            b.CreateUDiv(relative, b.getInt64(height)), part);
      arguments.sums = b.CreateGEP(element, scratchAt(scratch.sumsAt), sumAt);
      arguments.call(b, microKernel(height, panel, part));
    });
  };
  some(0, border, low + 1);
  some(border, rows, low);
}

MicroArguments ContractStage::microArguments(Value *scalarAt, Value *laneAt) {
  llvm::Function *function = b.GetInsertBlock()->getParent();
  MicroArguments arguments;
  arguments.bindings = function->getArg(0);
  arguments.scratch = function->getArg(2);
  arguments.frame = frame;
  arguments.scalarAt = scalarAt;
  arguments.laneAt = arguments.ahead = arguments.packed = laneAt;
  return arguments;
}

llvm::Function *ContractStage::microKernel(int rows, const Panel &panel,
                                           const KPart &part) {
  std::string key;
  auto add = [&](int64_t number) { key += std::to_string(number) + ","; };
  add(rows), add(panel.lanes), add(part.extent), add(part.first),
      add(part.last);
  add(part.clipped), add(part.packs), add(part.pairs), add(part.rowsArePairs);
  add(part.onlyFinishes), add(part.sumStride), add(panel.rounds);
  add(form.pairsOuterK ? part.ahead.count : 0); // else it follows from these
  for (int64_t offset : panel.offsets)
    add(offset);
  for (int64_t step : panel.kSteps)
    add(step);
  llvm::Function *&slot = microKernels[key];
  if (!slot)
    slot = MicroKernel(e.kernel, payloads, stage, form, rows, panel, part)
               .emit(*b.GetInsertBlock()->getModule(),
                     prefix + ".micro" + std::to_string(microKernels.size()));
  return slot;
}

} // namespace dl::cpu
