#include "compiler/codegen/cpu/ContractStage.h"
#include "compiler/codegen/cpu/MicroKernel.h"
#include "compiler/codegen/cpu/Payload.h"

using namespace mlir;

namespace dl::codegen {

using llvm::Value;

/// More panel shapes than this are not worth their code.
static constexpr int64_t kMaxPanelShapes = 16;

ContractStage::ContractStage(RegionEmitter &emitter, PayloadCache &payloads,
                             const Stage &stage, const TileBounds &tile,
                             int maxAccumulators, int64_t packOffset,
                             StringRef prefix)
    : e(emitter), payloads(payloads), b(emitter.builder), stage(stage),
      tile(tile), form(ContractForm::create(emitter.plan, stage)),
      maxAccumulators(maxAccumulators), packOffset(packOffset), prefix(prefix) {
  Type scalar =
      cast<RankedTensorType>(stage.op->getResult(0).getType()).getElementType();
  element = vectorType(b.getContext(), scalar, e.plan.lanes)->getScalarType();
  dims.resize(form.extents.size(),
              getAffineConstantExpr(0, stage.op->getContext()));
}

void ContractStage::emit() {
  unsigned size = e.scope.size();
  // The frame hands indices to the micro-kernels.
  unsigned slots = e.plan.gridExtents.size() + form.extents.size();
  llvm::BasicBlock &entry = b.GetInsertBlock()->getParent()->getEntryBlock();
  llvm::IRBuilder<> atEntry(&entry, entry.begin());
  frame = atEntry.CreateAlloca(b.getInt64Ty(), atEntry.getInt64(slots), "frame");
  for (auto [g, origin] : llvm::enumerate(tile.origin))
    b.CreateStore(origin, b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), frame, g));
  emitBatch(0);
  e.enterBody();
  e.scope.truncate(size);
}

static bool isCut(const KernelPlan &plan, int grid) {
  return grid >= 0 && plan.tileSizes[grid] < plan.gridExtents[grid];
}

void ContractStage::emitBatch(size_t next) {
  if (next == form.batchDims.size()) {
    unsigned lead = form.laneDims.front();
    int64_t inner = form.laneCount() / form.extents[lead];
    Span rows = form.rowDim < 0 ? Span{1, 1, b.getFalse()} : span(form.rowDim, 1);
    Span lanes = span(lead, inner);
    auto withRows = [&](int64_t count) {
      emitIf(b, lanes.isLast, [&] { emitTile(count, lanes.last); },
             [&] { emitTile(count, lanes.usual); });
    };
    emitIf(b, rows.isLast, [&] { withRows(rows.last); },
           [&] { withRows(rows.usual); });
    return;
  }
  unsigned d = form.batchDims[next];
  int grid = stage.binding[d];
  Value *lo = b.getInt64(0), *hi = b.getInt64(form.extents[d]);
  if (isCut(e.plan, grid))
    lo = tile.origin[grid], hi = tile.end[grid];
  emitLoop(b, lo, hi, 1, [&](Value *iv) {
    unsigned size = e.scope.size();
    dims[d] = e.scope.addDim(iv, 0, form.extents[d] - 1);
    b.CreateStore(iv, b.CreateConstInBoundsGEP1_64(
                          b.getInt64Ty(), frame, e.plan.gridExtents.size() + d));
    emitBatch(next + 1);
    e.scope.truncate(size);
  });
}

ContractStage::Span ContractStage::span(unsigned dim, int64_t inner) const {
  int grid = stage.binding[dim];
  int64_t extent = form.extents[dim];
  if (!isCut(e.plan, grid))
    return {extent * inner, extent * inner, b.getFalse()};
  int64_t size = e.plan.tileSizes[grid];
  int64_t last = extent - (extent - 1) / size * size;
  if (last == size)
    return {size * inner, size * inner, b.getFalse()};
  Value *isLast =
      b.CreateICmpEQ(tile.origin[grid], b.getInt64(extent - last));
  return {size * inner, last * inner, isLast};
}

/// Address of an operand at the current batch indices, the first lane of the
/// tile, k = 0 and the given row.
Value *ContractStage::sidePointer(const ContractForm::Side &side, Value *row) {
  unsigned size = e.scope.size();
  SmallVector<AffineExpr> at(dims);
  unsigned lead = form.laneDims.front();
  if (int grid = stage.binding[lead]; isCut(e.plan, grid))
    at[lead] = e.tileOrigin[grid];
  if (form.rowDim >= 0 && row)
    at[form.rowDim] = e.scope.addDim(row, 0, form.extents[form.rowDim] - 1);
  SmallVector<AffineExpr> index;
  for (AffineExpr expr : side.index)
    index.push_back(simplifyAffineExpr(expr.replaceDims(at), 64, 0));
  Value *pointer =
      e.elementPointer(side.leaf, e.scope.scalar(e.address(side.leaf, index)));
  e.scope.truncate(size);
  return pointer;
}

Panel ContractStage::panelAt(int64_t relative, int64_t lanes) const {
  Panel panel;
  panel.lanes = lanes;
  int64_t origin = form.laneOffset(relative);
  for (int64_t l = 0; l < lanes; ++l)
    panel.offsets.push_back(form.laneOffset(relative + l) - origin);
  for (unsigned k : form.kDims)
    panel.kSteps.push_back(form.lane.coefficients[k]);
  return panel;
}

void ContractStage::emitTile(int64_t rows, int64_t lanes) {
  if (form.dot) {
    RegisterTile block{int(std::min<int64_t>(rows, 4)), 1};
    if (maxAccumulators < 16)
      block.rows = std::min(block.rows, 2);
    block.vectors = std::clamp<int64_t>(maxAccumulators / block.rows, 1,
                                        std::min<int64_t>(lanes, 6));
    return emitPanels(rows, lanes, block);
  }
  emitPanels(rows, lanes,
             RegisterTile::choose(form, rows, lanes, e.plan.lanes,
                                  maxAccumulators));
}

void ContractStage::emitPanels(int64_t rows, int64_t lanes, RegisterTile block) {
  int64_t width = form.dot ? block.vectors : block.vectors * e.plan.lanes;
  unsigned lead = form.laneDims.front();
  int64_t inner = form.laneCount() / form.extents[lead];
  Value *origin = b.getInt64(0);
  if (int grid = stage.binding[lead]; isCut(e.plan, grid))
    origin = b.CreateMul(tile.origin[grid], b.getInt64(inner));
  Value *base = sidePointer(form.lane, nullptr);
  if (form.pack)
    emitPack(lanes, width);

  auto emitAt = [&](Value *relative, int64_t at, int64_t count, Value *pointer) {
    Panel panel = panelAt(at, count);
    if (form.pack) {
      int64_t padded = llvm::alignTo(count, e.plan.lanes);
      int64_t step = padded;
      for (size_t k = form.kDims.size(); k-- > 0;) {
        panel.kSteps[k] = step;
        step *= form.extents[form.kDims[k]];
      }
      for (auto [l, offset] : llvm::enumerate(panel.offsets))
        offset = l;
    }
    emitRows(panel, pointer, b.CreateAdd(origin, relative), rows, block.rows);
  };
  // Panels repeat with the inner lane dims: one shape for each panel of a period.
  int64_t full = lanes / width;
  int64_t period = 1;
  if (!form.pack && !form.dot) {
    while (period <= full && period <= kMaxPanelShapes) {
      bool repeats = true;
      for (int64_t p = 0; p + period < full && repeats; ++p)
        repeats = panelAt(p * width, width) == panelAt((p + period) * width, width);
      int64_t stride = form.laneOffset(period * width);
      for (int64_t p = 0; p < full && repeats; ++p)
        repeats = form.laneOffset((p + period) * width) -
                      form.laneOffset(p * width) == stride;
      if (repeats)
        break;
      ++period;
    }
  }
  Value *packed = b.CreateConstInBoundsGEP1_64(
      b.getInt8Ty(), b.GetInsertBlock()->getParent()->getArg(1), packOffset);
  auto pointerAt = [&](Value *relative, Value *dynamicOffset, int64_t offset) {
    if (form.pack)
      return b.CreateGEP(element, packed,
                         b.CreateMul(relative, b.getInt64(form.kCount())));
    Value *start = b.CreateGEP(element, base, dynamicOffset);
    return b.CreateConstGEP1_64(element, start, offset);
  };
  int64_t rounds = full / period;
  int64_t stride = form.laneOffset(period * width);
  emitLoop(b, b.getInt64(0), b.getInt64(rounds), 1, [&](Value *round) {
    Value *start = b.CreateMul(round, b.getInt64(period * width));
    Value *offset = b.CreateMul(round, b.getInt64(stride));
    for (int64_t p = 0; p < period; ++p) {
      Value *relative = b.CreateAdd(start, b.getInt64(p * width));
      emitAt(relative, p * width, width,
             pointerAt(relative, offset, form.laneOffset(p * width)));
    }
  });
  for (int64_t at = rounds * period * width; at < lanes; at += width) {
    int64_t count = std::min(width, lanes - at);
    emitAt(b.getInt64(at), at, count,
           pointerAt(b.getInt64(at), b.getInt64(0), form.laneOffset(at)));
  }
}

/// The rows in blocks whose heights differ by at most one: no runt block.
void ContractStage::emitRows(const Panel &panel, Value *lanePointer, Value *flat,
                             int64_t rows, int64_t blockRows) {
  int64_t blocks = (rows + blockRows - 1) / blockRows;
  int64_t low = rows / blocks, tall = rows % blocks;
  Value *first = b.getInt64(0);
  if (form.rowDim >= 0)
    if (int grid = stage.binding[form.rowDim]; isCut(e.plan, grid))
      first = tile.origin[grid];
  auto call = [&](Value *relative, int64_t height) {
    Value *row = b.CreateAdd(first, relative);
    b.CreateCall(microKernel(height, panel),
                 {b.GetInsertBlock()->getParent()->getArg(0),
                  b.GetInsertBlock()->getParent()->getArg(1), frame,
                  sidePointer(form.scalar, row), lanePointer, row, flat});
  };
  emitLoop(b, b.getInt64(0), b.getInt64(tall * (low + 1)), low + 1,
           [&](Value *r) { call(r, low + 1); });
  emitLoop(b, b.getInt64(tall * (low + 1)), b.getInt64(rows), low,
           [&](Value *r) { call(r, low); });
}

llvm::Function *ContractStage::microKernel(int rows, const Panel &panel) {
  std::string key = std::to_string(rows) + "/" + std::to_string(panel.lanes);
  for (int64_t offset : panel.offsets)
    key += "," + std::to_string(offset);
  for (int64_t step : panel.kSteps)
    key += ";" + std::to_string(step);
  llvm::Function *&slot = microKernels[key];
  if (!slot)
    slot = MicroKernel(e.plan, payloads, stage, form, rows, panel)
               .emit(*b.GetInsertBlock()->getModule(),
                     prefix + ".micro" + std::to_string(microKernels.size()));
  return slot;
}

void ContractStage::emitPack(int64_t lanes, int64_t panelLanes) {
  Value *base = sidePointer(form.lane, nullptr);
  Value *packed = b.CreateConstInBoundsGEP1_64(
      b.getInt8Ty(), b.GetInsertBlock()->getParent()->getArg(1), packOffset);
  int64_t full = lanes / panelLanes, k = form.kCount();
  bool uniform = form.laneDims.size() == 1;
  auto pack = [&](Value *relative, Value *source, int64_t at, int64_t count) {
    Value *to = b.CreateGEP(element, packed, b.CreateMul(relative, b.getInt64(k)));
    packPanel(panelAt(at, count), source, to, llvm::alignTo(count, e.plan.lanes));
  };
  int64_t looped = uniform ? full : 0;
  int64_t step = uniform ? form.lane.coefficients[form.laneDims[0]] : 0;
  emitLoop(b, b.getInt64(0), b.getInt64(looped), 1, [&](Value *p) {
    Value *relative = b.CreateMul(p, b.getInt64(panelLanes));
    pack(relative,
         b.CreateGEP(element, base, b.CreateMul(relative, b.getInt64(step))), 0,
         panelLanes);
  });
  for (int64_t at = looped * panelLanes; at < lanes; at += panelLanes)
    pack(b.getInt64(at),
         b.CreateConstGEP1_64(element, base, form.laneOffset(at)), at,
         std::min(panelLanes, lanes - at));
}

void ContractStage::packPanel(const Panel &from, Value *source, Value *to,
                              int64_t width) {
  unsigned k = form.kDims.back();
  if (form.kDims.size() == 1 && form.lane.coefficients[k] == 1)
    return packTransposed(from, source, to, width);
  int64_t lanes = e.plan.lanes;
  auto *type = llvm::FixedVectorType::get(element, lanes);
  llvm::Align align(element->getScalarSizeInBits() / 8);
  // k in row-major order, each followed by the panel's lanes.
  std::function<void(size_t, Value *, Value *)> copy = [&](size_t next,
                                                           Value *at, Value *out) {
    if (next < form.kDims.size()) {
      int64_t below = width;
      for (size_t i = next + 1; i < form.kDims.size(); ++i)
        below *= form.extents[form.kDims[i]];
      emitLoop(b, b.getInt64(0), b.getInt64(form.extents[form.kDims[next]]), 1,
               [&](Value *i) {
                 copy(next + 1,
                      b.CreateGEP(element, at,
                                  b.CreateMul(i, b.getInt64(from.kSteps[next]))),
                      b.CreateGEP(element, out,
                                  b.CreateMul(i, b.getInt64(below))));
               });
      return;
    }
    for (int64_t v = 0; v < width; v += lanes) {
      SmallVector<llvm::Constant *> offsets, bits;
      bool contiguous = true;
      for (int64_t l = 0; l < lanes; ++l) {
        bool used = v + l < from.lanes;
        offsets.push_back(b.getInt64(used ? from.offsets[v + l] : 0));
        bits.push_back(b.getInt1(used));
        contiguous &= !used || from.offsets[v + l] == from.offsets[v] + l;
      }
      llvm::Constant *mask = llvm::ConstantVector::get(bits);
      Value *zero = llvm::Constant::getNullValue(type);
      Value *content =
          contiguous
              ? static_cast<Value *>(b.CreateMaskedLoad(
                    type, b.CreateConstGEP1_64(element, at, from.offsets[v]),
                    align, mask, zero))
              : b.CreateMaskedGather(
                    type,
                    b.CreateGEP(element, at, llvm::ConstantVector::get(offsets)),
                    align, mask, zero);
      b.CreateAlignedStore(content, b.CreateConstGEP1_64(element, out, v), align);
    }
  };
  copy(0, source, to);
}

/// W vectors along k become W vectors along the lanes.
void ContractStage::packTransposed(const Panel &from, Value *source, Value *to,
                                   int64_t width) {
  int64_t lanes = e.plan.lanes, extent = form.kCount();
  auto *type = llvm::FixedVectorType::get(element, lanes);
  llvm::Align align(element->getScalarSizeInBits() / 8);
  Value *zero = llvm::Constant::getNullValue(type);
  SmallVector<int> low, high;
  for (int64_t l = 0; l < lanes / 2; ++l) {
    low.append({int(l), int(l + lanes)});
    high.append({int(l + lanes / 2), int(l + lanes + lanes / 2)});
  }
  auto block = [&](Value *k, int64_t valid) {
    SmallVector<llvm::Constant *> bits;
    for (int64_t l = 0; l < lanes; ++l)
      bits.push_back(b.getInt1(l < valid));
    llvm::Constant *mask = llvm::ConstantVector::get(bits);
    for (int64_t v = 0; v < width; v += lanes) {
      SmallVector<Value *> square;
      for (int64_t l = 0; l < lanes; ++l) {
        if (v + l >= from.lanes) {
          square.push_back(zero);
          continue;
        }
        Value *at = b.CreateConstGEP1_64(element, b.CreateGEP(element, source, k),
                                         from.offsets[v + l]);
        square.push_back(
            valid == lanes
                ? static_cast<Value *>(b.CreateAlignedLoad(type, at, align))
                : b.CreateMaskedLoad(type, at, align, mask, zero));
      }
      // log2(W) rounds of perfect shuffles transpose a W x W square.
      for (int64_t round = 1; round < lanes; round *= 2) {
        SmallVector<Value *> next(lanes);
        for (int64_t i = 0; i < lanes / 2; ++i) {
          next[2 * i] = b.CreateShuffleVector(square[i], square[i + lanes / 2], low);
          next[2 * i + 1] =
              b.CreateShuffleVector(square[i], square[i + lanes / 2], high);
        }
        square = next;
      }
      for (int64_t l = 0; l < valid; ++l) {
        Value *row = b.CreateMul(b.CreateAdd(k, b.getInt64(l)), b.getInt64(width));
        Value *out = b.CreateConstGEP1_64(element, b.CreateGEP(element, to, row), v);
        b.CreateAlignedStore(square[l], out, align);
      }
    }
  };
  int64_t full = extent / lanes * lanes;
  emitLoop(b, b.getInt64(0), b.getInt64(full), lanes,
           [&](Value *k) { block(k, lanes); });
  if (full < extent)
    block(b.getInt64(full), extent - full);
}

} // namespace dl::codegen
