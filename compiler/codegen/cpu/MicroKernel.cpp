#include "compiler/codegen/cpu/MicroKernel.h"
#include "compiler/codegen/cpu/ContractLimits.h"
#include "compiler/codegen/cpu/Packing.h"
#include "compiler/codegen/cpu/PayloadCode.h"
#include "dialects/graph/Check.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicsX86.h"
#include <numeric>

using namespace mlir;

namespace dl::cpu {

using llvm::Value;

/// An innermost k dim of at most this extent is unrolled: filter taps.
static constexpr int64_t kMaxUnrolledTaps = 8;
/// So many k a turn of a long loop: fewer instructions matter where another
/// thread of the core takes its share of them.
static constexpr int64_t kTurn = 2;
/// A vector of more runs than this is gathered.
static constexpr int kMaxRuns = 6;

MicroKernel::MicroKernel(const TiledKernel &kernel, PayloadCache &payloads,
                         const Stage &stage, const ContractForm &form, int rows,
                         const Panel &panel, const KPart &part)
    : kernel(kernel), payloads(payloads), stage(stage), form(form), rows(rows),
      vectors(form.is<DotProduct>() && !part.onlyFinishes
                  ? panel.lanes
                  : (panel.lanes + kernel.lanes() - 1) / kernel.lanes()),
      panel(panel), part(part) {}

static constexpr llvm::Value *MicroArguments::*kArguments[] = {
    &MicroArguments::bindings, &MicroArguments::scratch, &MicroArguments::frame,
    &MicroArguments::scalarAt, &MicroArguments::laneAt,  &MicroArguments::row,
    &MicroArguments::lane,     &MicroArguments::sums,    &MicroArguments::ahead,
    &MicroArguments::packed};

llvm::FunctionType *MicroArguments::type(llvm::LLVMContext &context) {
  auto *ptr = llvm::PointerType::get(context, 0);
  auto *i64 = llvm::Type::getInt64Ty(context);
  SmallVector<llvm::Type *> types;
  for (auto member : kArguments)
    types.push_back(member == &MicroArguments::row ||
                            member == &MicroArguments::lane
                        ? static_cast<llvm::Type *>(i64)
                        : ptr);
  return llvm::FunctionType::get(llvm::Type::getVoidTy(context), types, false);
}

MicroArguments MicroArguments::of(llvm::Function *function) {
  MicroArguments arguments;
  for (auto [i, member] : llvm::enumerate(kArguments))
    arguments.*member = function->getArg(i);
  return arguments;
}

void MicroArguments::call(llvm::IRBuilder<> &b,
                          llvm::Function *function) const {
  SmallVector<Value *> values;
  for (auto member : kArguments)
    values.push_back(this->*member);
  b.CreateCall(function, values);
}

llvm::Function *MicroKernel::emit(llvm::Module &module, StringRef name) {
  llvm::LLVMContext &context = module.getContext();
  auto *function =
      llvm::Function::Create(MicroArguments::type(context),
                             llvm::GlobalValue::InternalLinkage, name, module);
  function->addFnAttr(llvm::Attribute::NoInline);
  llvm::IRBuilder<> builder(
      llvm::BasicBlock::Create(context, "entry", function));
  b = &builder;
  arguments = MicroArguments::of(function);
  // What it holds is loaded once, not behind each store.
  auto *frame = cast<llvm::Argument>(arguments.frame);
  frame->addAttr(llvm::Attribute::NoAlias);
  frame->addAttr(llvm::Attribute::ReadOnly);
  Type scalar =
      cast<RankedTensorType>(stage.op->getResult(0).getType()).getElementType();
  vectorTy = vectorType(context, scalar, kernel.lanes());
  element = vectorTy->getScalarType();
  laneElement = form.widensLanes() ? builder.getInt16Ty() : element;

  // Of pixels each block of k is a chain of its own: there are very many.
  bool apart = form.sumsPixels && !part.first;
  Values sums = initialSums(apart ? nullptr : arguments.sums);
  if (part.last && !part.onlyFinishes && form.is<LaneProduct>() &&
      form.rowDim >= 0 && form.kCount() >= kFetchingK)
    fetchResults();
  if (part.blocked)
    sums = accumulateBlocked(sums);
  else if (!part.onlyFinishes)
    sums = accumulate(0, arguments.scalarAt, arguments.laneAt, sums);
  if (apart)
    for (auto [sum, before] : llvm::zip(sums, initialSums(arguments.sums)))
      sum = builder.CreateFAdd(before, sum);
  if (!part.last) {
    keepSums(arguments.sums, sums);
    builder.CreateRetVoid();
    return function;
  }

  RegionEmitter e(kernel, payloads, builder, arguments.bindings, constants(),
                  arguments.scratch);
  for (int r = 0; r < rows; ++r) {
    ArrayRef<Value *> row = ArrayRef(sums).slice(r * vectors, vectors);
    if (form.is<DotProduct>() && !part.onlyFinishes) {
      finishRow(e, r, 0, sumEach(row), panel.lanes);
      continue;
    }
    for (int v = 0; v < vectors; ++v)
      finishRow(
          e, r, v * kernel.lanes(), row[v],
          std::min<int64_t>(kernel.lanes(), panel.lanes - v * kernel.lanes()));
  }
  builder.CreateRetVoid();
  return function;
}

/// What the frame says last.
Value *MicroKernel::constants() {
  if (kernel.numConstants() == 0)
    return nullptr;
  return b->CreateLoad(b->getPtrTy(),
                       b->CreateConstInBoundsGEP1_64(
                           b->getInt64Ty(), arguments.frame,
                           kernel.grid().size() + form.extents.size()));
}

Values MicroKernel::initialSums(Value *sums) {
  Values state(rows * vectors, llvm::Constant::getNullValue(vectorTy));
  if (part.first || !sums)
    return state;
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < vectors; ++v)
      state[r * vectors + v] = loadVector(
          advance(sums, r * part.sumStride + v * kernel.lanes()), nullptr);
  return state;
}

void MicroKernel::keepSums(Value *sums, ArrayRef<Value *> state) {
  llvm::Align align(element->getScalarSizeInBits() / 8);
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < vectors; ++v)
      b->CreateAlignedStore(
          state[r * vectors + v],
          advance(sums, r * part.sumStride + v * kernel.lanes()), align);
}

Value *MicroKernel::advance(Value *pointer, int64_t elements, bool isLane) {
  if (elements == 0)
    return pointer;
  return b->CreateConstGEP1_64(isLane ? laneElement : element, pointer,
                               elements);
}

Value *MicroKernel::advance(Value *pointer, int64_t step, Value *count,
                            bool isLane) {
  if (step == 0)
    return pointer;
  return b->CreateGEP(isLane ? laneElement : element, pointer,
                      b->CreateMul(count, b->getInt64(step), "", true, true));
}

Value *MicroKernel::clippedCount(unsigned k) {
  return b->CreateLoad(b->getInt64Ty(), b->CreateConstInBoundsGEP1_64(
                                            b->getInt64Ty(), arguments.frame,
                                            kernel.grid().size() + k));
}

/// The k dims from `next` on, outermost first.
Values MicroKernel::accumulate(size_t next, Value *scalarAt, Value *laneAt,
                               ArrayRef<Value *> state) {
  if (next == form.kDims.size())
    return form.pairsOuterK ? multiplyBoth(scalarAt, laneAt, state)
                            : multiply(scalarAt, loadPanel(laneAt), state);
  int64_t extent = next == 0 ? part.extent : form.extents[form.kDims[next]];
  int64_t scalarStep = part.scalarSteps[next];
  int64_t laneStep = panel.kSteps[next];
  bool innermost = next + 1 == form.kDims.size();
  if (innermost && part.pairs && (form.hasPixelRows || form.sumsPixels))
    extent /= 2;
  if (form.is<DotProduct>() && innermost)
    return accumulateDot(extent, scalarAt, laneAt, state);
  unsigned k = form.kDims[next];
  bool clipped = part.clipped && llvm::any_of(form.borders, [&](auto &border) {
                   return border.k == k;
                 });
  if (innermost && extent <= kMaxUnrolledTaps && !clipped) {
    Values sums(state.begin(), state.end());
    for (int64_t k = 0; k < extent; ++k)
      sums = accumulate(next + 1, advance(scalarAt, k * scalarStep),
                        advanceLane(laneAt, k * laneStep), sums);
    return sums;
  }
  Value *count = clipped ? clippedCount(k) : b->getInt64(extent);
  if (form.kDims.size() == 1 && !clipped)
    return accumulateFetching(scalarAt, laneAt, state);
  if (form.pairsOuterK && next == 0) {
    laneStep *= 2;
    scalarStep *= part.pairs ? 1 : 2;
    count = b->getInt64(extent / 2);
  }
  return emitLoop(*b, b->getInt64(0), count, 1, state,
                  [&](Value *k, ArrayRef<Value *> carried) {
                    if (form.pairsOuterK && next == 0)
                      fetchWindow(advance(arguments.ahead, laneStep, k));
                    return accumulate(
                        next + 1, advance(scalarAt, scalarStep, k),
                        advanceLane(laneAt, laneStep, k), carried);
                  });
}

/// What both k of a pair have of the next panel: see KPart::ahead.
void MicroKernel::fetchWindow(Value *from) {
  int64_t line = 64 * 8 / element->getScalarSizeInBits();
  for (int64_t i = 0; i < part.ahead.count; ++i)
    for (int64_t k : {0, 1})
      for (int64_t l = 0; l < panel.lanes; l += line)
        emitFetch(*b,
                  advance(from, i * part.ahead.stride + k * panel.kSteps[0] +
                                    panel.offsets[l]),
                  3);
}

/// Two k of the outermost dim.
Values MicroKernel::multiplyBoth(Value *scalarAt, Value *laneAt,
                                 ArrayRef<Value *> state) {
  if (part.pairs)
    return multiply(scalarAt, loadPairs(laneAt, true), state);
  Values sums = multiply(scalarAt, loadPanel(laneAt), state);
  return multiply(advance(scalarAt, part.scalarSteps[0]),
                  loadPanel(advance(laneAt, panel.kSteps[0])), sums);
}

/// The one k loop over operands where they are. It fetches lanes that lie far
/// apart, and of rows along k those that the next call reads.
Values MicroKernel::accumulateFetching(Value *scalarAt, Value *laneAt,
                                       ArrayRef<Value *> state) {
  int64_t line = 64 * 8 / element->getScalarSizeInBits();
  int64_t laneLine = 64 * 8 / laneElement->getScalarSizeInBits();
  int64_t laneStep = panel.kSteps[0], scalarStep = part.scalarSteps[0];
  bool far = form.fetchesLanes(kernel.lanes());
  auto step = [&](Value *k, ArrayRef<Value *> carried) {
    Value *lanes = advanceLane(laneAt, laneStep, k);
    for (int64_t l = 0; far && l < panel.lanes; l += laneLine)
      emitFetch(*b, advanceLane(lanes, kFarAhead * laneStep + l), 3);
    return multiply(advance(scalarAt, scalarStep, k), loadPanel(lanes),
                    carried);
  };
  auto loop = [&](int64_t from, ArrayRef<Value *> state) {
    int64_t turns = (part.extent - from) / kTurn * kTurn;
    Values sums = emitTurns(b->getInt64(from), b->getInt64(turns), state, step);
    for (int64_t k = from + turns; k < part.extent; ++k)
      sums = step(b->getInt64(k), sums);
    return sums;
  };
  int64_t full = part.extent / line * line;
  if (scalarStep != 1 || part.extent < 2 * line || form.rows() < 2 * rows)
    return loop(0, state);
  Values sums =
      emitLoop(*b, b->getInt64(0), b->getInt64(full), line, state,
               [&](Value *k, ArrayRef<Value *> carried) {
                 Value *below =
                     advance(advance(scalarAt, rows * part.rowStep), 1, k);
                 for (int r = 0; r < rows; ++r)
                   emitFetch(*b, advance(below, r * part.rowStep), 3);
                 return emitTurns(k, b->getInt64(line), carried, step);
               });
  return loop(full, sums);
}

/// `count` steps of the k loop, a multiple of kTurn.
Values MicroKernel::emitTurns(Value *from, Value *count,
                              ArrayRef<Value *> state, Step step) {
  return emitLoop(*b, from, b->CreateAdd(from, count), kTurn, state,
                  [&](Value *k, ArrayRef<Value *> carried) {
                    Values sums(carried.begin(), carried.end());
                    for (int64_t i = 0; i < kTurn; ++i)
                      sums = step(b->CreateAdd(k, b->getInt64(i)), sums);
                    return sums;
                  });
}

/// The same pointer; LLVM cannot tell.
Value *MicroKernel::opaqueCopy(Value *pointer) {
  auto *type =
      llvm::FunctionType::get(pointer->getType(), {pointer->getType()}, false);
  return b->CreateCall(llvm::InlineAsm::get(type, "", "=r,0", false),
                       {pointer});
}

/// The stored value, and what the epilogue reads at the same place and does not
/// replace.
SmallVector<mlir::Value> MicroKernel::valuesAtResult() const {
  SmallVector<mlir::Value> values{stored()};
  const Placement &placement = kernel.placement(stored());
  std::optional<ArrayRef<int64_t>> inplace = kernel.op().getInplace();
  int64_t replaced = placement.kind == Placement::Result && inplace
                         ? (*inplace)[placement.number]
                         : -1;
  kernel.forEachRead(stage, [&](mlir::Value leaf, ArrayRef<AffineExpr> index,
                                bool guarded) {
    const Placement &read = kernel.placement(leaf);
    bool same =
        read.kind == Placement::Operand && int64_t(read.number) == replaced;
    if (!guarded && !same && kernel.shapeOf(leaf) == kernel.shapeOf(stored()) &&
        AffineMap::get(index.size(), 0, index, kernel.op()->getContext())
            .isIdentity() &&
        !llvm::is_contained(values, leaf))
      values.push_back(leaf);
  });
  return values;
}

/// Fetches `lines` lines of the row so many rows below the first result, and of
/// what the epilogue reads there, not into the first-level cache: rows may all
/// share a set there.
void MicroKernel::fetchResult(RegionEmitter &e, Value *below, int64_t lines) {
  for (mlir::Value value : valuesAtResult()) {
    auto dims = resultDims(e, 0, 0);
    Value *at = e.scope.scalar(e.address(value, dims));
    e.scope.endLaneGroup();
    int64_t step = kernel.strides(value)[form.rowDim];
    at = b->CreateAdd(at, b->CreateMul(below, b->getInt64(step)));
    llvm::Type *type = e.memoryType(value);
    Value *row = e.elementPointer(value, at);
    int64_t line = 64 * 8 / type->getScalarSizeInBits();
    for (int64_t l = 0; l < lines; ++l)
      emitFetch(*b, b->CreateConstGEP1_64(type, row, l * line), 2);
  }
}

/// Of all rows of this call.
void MicroKernel::fetchResults() {
  RegionEmitter e(kernel, payloads, *b, arguments.bindings, constants(),
                  arguments.scratch);
  int64_t line = 64 * 8 / element->getScalarSizeInBits();
  for (int64_t r = 0; r < rows; ++r)
    fetchResult(e, b->getInt64(r), llvm::divideCeil(panel.lanes, line));
}

/// The one k loop in chunks: see KPart::blocked.
Values MicroKernel::accumulateBlocked(ArrayRef<Value *> state) {
  Value *rowsAt = arguments.scalarAt, *lanesAt = arguments.laneAt;
  Value *sums = arguments.sums, *ahead = arguments.ahead;
  Value *packed = arguments.packed;
  llvm::Align align(element->getScalarSizeInBits() / 8);
  int64_t line = 64 * 8 / element->getScalarSizeInBits();
  int64_t lines = llvm::divideCeil(panel.lanes, line);
  int64_t laneStep = panel.kSteps[0];
  RegionEmitter e(kernel, payloads, *b, arguments.bindings, constants(),
                  arguments.scratch);
  // Rows of lanes that a step reads where they are, to make pairs of them.
  int64_t apart = part.packs && part.pairs ? 2 : 1;
  auto makeStep = [&](Value *k, ArrayRef<Value *> carried, bool isWhole) {
    Value *scalarAt = advance(rowsAt, rows, k);
    Value *laneAt = advance(lanesAt, apart * laneStep, k);
    for (int64_t l = 0; l < rows; l += line)
      emitFetch(*b, advance(scalarAt, kAhead * rows + l), 3);
    // (A packed panel is read in order, which the hardware foresees.)
    for (int64_t i = 0; part.packs && i < apart; ++i)
      for (int64_t l = 0; l < lines; ++l)
        emitFetch(*b, advance(laneAt, (kFarAhead + i) * laneStep + l * line),
                  3);
    Values lanes = apart == 2 ? loadPairs(laneAt, isWhole) : loadPanel(laneAt);
    for (int v = 0; part.packs && v < vectors; ++v)
      b->CreateAlignedStore(
          lanes[v],
          advance(advance(packed, vectors * kernel.lanes(), k),
                  v * kernel.lanes()),
          align);
    return multiply(scalarAt, lanes, carried);
  };
  auto step = [&](Value *k, ArrayRef<Value *> carried) {
    return makeStep(k, carried, true);
  };
  int64_t whole = part.pairs ? part.extent / 2 : part.extent;
  int64_t turns = whole / kTurn * kTurn;
  int64_t chunk = turns / rows / kTurn * kTurn;
  Values turned = emitLoop(
      *b, b->getInt64(0), b->getInt64(rows), 1, state,
      [&](Value *c, ArrayRef<Value *> carried) {
        Value *below = b->CreateAdd(c, b->getInt64(rows));
        if (!part.first || !part.last) {
          Value *row = advance(sums, part.sumStride, below);
          for (int64_t l = 0; l < lines; ++l)
            emitFetch(*b, advance(row, l * line), 3);
        }
        if (part.last)
          fetchResult(e, below, lines);
        Value *from = advance(ahead, part.ahead.step, c);
        for (int64_t i = 0; i < part.ahead.count; ++i)
          for (int64_t l = 0; l < part.ahead.lines; ++l)
            emitFetch(*b, advance(from, i * part.ahead.stride + l * line), 2);
        Value *begin = b->CreateMul(c, b->getInt64(chunk));
        Value *isLast = b->CreateICmpEQ(c, b->getInt64(rows - 1));
        Value *count =
            b->CreateSelect(isLast, b->getInt64(turns - (rows - 1) * chunk),
                            b->getInt64(chunk));
        return emitTurns(begin, count, carried, step);
      });
  for (int64_t k = turns; k < packedCount(part.extent, part.pairs); ++k)
    turned = makeStep(b->getInt64(k), turned, k < whole);
  return turned;
}

Values MicroKernel::loadPanel(Value *from) {
  Values lanes;
  for (int v = 0; v < vectors; ++v) {
    lanes.push_back(loadLanes(from, v));
    if (panel.rounds)
      lanes.back() = emitNearestBf16(*b, lanes.back());
  }
  return lanes;
}

/// Of a panel where it is; without a second k zeros stand for it.
Values MicroKernel::loadPairs(Value *from, bool isWhole) {
  Values first = loadPanel(from), pairs;
  Values second(vectors, llvm::Constant::getNullValue(vectorTy));
  if (isWhole)
    second = loadPanel(advance(from, panel.kSteps[0]));
  for (auto [early, late] : llvm::zip(first, second))
    pairs.push_back(joinPairs(*b, early, late));
  return pairs;
}

Value *MicroKernel::multiplyAdd(Value *row, Value *lanes, Value *sum,
                                bool pairs) {
  if (!pairs)
    return b->CreateIntrinsic(llvm::Intrinsic::fma, {vectorTy},
                              {row, lanes, sum});
  auto *halves =
      llvm::FixedVectorType::get(b->getBFloatTy(), 2 * kernel.lanes());
  return b->CreateIntrinsic(
      vectorTy, llvm::Intrinsic::x86_avx512bf16_dpbf16ps_512,
      {sum, b->CreateBitCast(row, halves), b->CreateBitCast(lanes, halves)});
}

Values MicroKernel::multiply(Value *scalarAt, ArrayRef<Value *> lanes,
                             ArrayRef<Value *> state) {
  Values sums(state.begin(), state.end());
  llvm::Align align(element->getScalarSizeInBits() / 8);
  int64_t rowStep = part.rowStep;
  // A broadcast that is read for each use is part of the multiplication and no
  // instruction of its own, but a load: half of them balance the two. LLVM
  // would make one of equal loads. (It has no such VDPBF16PS.)
  Value *againAt = part.blocked && !part.pairs ? opaqueCopy(scalarAt) : nullptr;
  for (int r = 0; r < rows; ++r) {
    bool embeds = againAt && r % 2;
    Value *scalar =
        b->CreateAlignedLoad(element, advance(scalarAt, r * rowStep), align);
    Value *splat = b->CreateVectorSplat(kernel.lanes(), scalar);
    for (int v = 0; v < vectors; ++v) {
      if (v > 0 && embeds) {
        Value *again =
            b->CreateAlignedLoad(element, advance(againAt, r * rowStep), align);
        splat = b->CreateVectorSplat(kernel.lanes(), again);
      }
      Value *&sum = sums[r * vectors + v];
      sum = multiplyAdd(splat, lanes[v], sum, part.pairs);
    }
  }
  return sums;
}

Value *MicroKernel::loadVector(Value *from, Value *mask) {
  llvm::Align align(element->getScalarSizeInBits() / 8);
  if (!mask)
    return b->CreateAlignedLoad(vectorTy, from, align);
  return b->CreateMaskedLoad(vectorTy, from, align, mask,
                             llvm::Constant::getNullValue(vectorTy));
}

/// Of the lane operand, where it is.
Value *MicroKernel::loadLane(Value *from, Value *mask) {
  if (laneElement == element)
    return loadVector(from, mask);
  auto *type = llvm::FixedVectorType::get(laneElement, kernel.lanes());
  llvm::Align align(laneElement->getScalarSizeInBits() / 8);
  Value *bits;
  if (mask)
    bits = b->CreateMaskedLoad(type, from, align, mask,
                               llvm::Constant::getNullValue(type));
  else
    bits = b->CreateAlignedLoad(type, from, align);
  return emitWidened(*b, bits, kernel.lanes());
}

/// A vector of the panel: one load for each run of neighbours. What the first
/// load over-reads is replaced or belongs to lanes that are not stored.
Value *MicroKernel::loadLanes(Value *from, int vector) {
  int64_t width = kernel.lanes(), first = vector * width;
  int64_t count = std::min(width, panel.lanes - first);
  auto offset = [&](int64_t lane) { return panel.offsets[first + lane]; };
  SmallVector<int64_t> starts{0};
  for (int64_t l = 1; l < count; ++l)
    if (offset(l) != offset(l - 1) + 1)
      starts.push_back(l);
  llvm::Align align(element->getScalarSizeInBits() / 8);
  DL_CHECK(laneElement == element || starts.size() == 1,
           "what is widened on the way is one run");
  if (starts.size() > kMaxRuns) {
    SmallVector<llvm::Constant *> indices, bits;
    for (int64_t l = 0; l < width; ++l) {
      indices.push_back(b->getInt64(l < count ? offset(l) : 0));
      bits.push_back(b->getInt1(l < count));
    }
    Value *pointers =
        b->CreateGEP(element, from, llvm::ConstantVector::get(indices));
    return b->CreateMaskedGather(vectorTy, pointers, align,
                                 llvm::ConstantVector::get(bits),
                                 llvm::Constant::getNullValue(vectorTy));
  }
  Value *lanes = loadLane(advanceLane(from, offset(0)), nullptr);
  for (size_t run = 1; run < starts.size(); ++run) {
    int64_t begin = starts[run];
    int64_t end = run + 1 < starts.size() ? starts[run + 1] : count;
    SmallVector<llvm::Constant *> bits;
    for (int64_t l = 0; l < width; ++l)
      bits.push_back(b->getInt1(l >= begin && l < end));
    lanes = b->CreateMaskedLoad(vectorTy, advance(from, offset(begin) - begin),
                                align, llvm::ConstantVector::get(bits), lanes);
  }
  return lanes;
}

/// The dims of the result at a row and at the lanes from `firstLane` on, which
/// become the scope's lane group.
SmallVector<AffineExpr> MicroKernel::resultDims(RegionEmitter &e, int row,
                                                int firstLane) {
  unsigned numGrid = kernel.grid().size();
  auto frameDim = [&](unsigned slot, int64_t extent) {
    Value *value = b->CreateLoad(
        b->getInt64Ty(),
        b->CreateConstInBoundsGEP1_64(b->getInt64Ty(), arguments.frame, slot));
    return e.scope.addDim(value, 0, extent - 1);
  };
  e.tileOrigin.clear();
  for (unsigned g = 0; g < numGrid; ++g)
    e.tileOrigin.push_back(frameDim(g, kernel.grid()[g].extent));
  SmallVector<AffineExpr> dims(kernel.nest(stage.op).numParallel);
  for (unsigned d : form.batchDims)
    dims[d] = frameDim(numGrid + d, form.extents[d]);
  if (form.rowDim >= 0)
    dims[form.rowDim] =
        e.scope.addDim(arguments.row, 0, form.extents[form.rowDim] - 1) + row;
  SmallVector<int64_t> extents;
  for (unsigned d : form.laneDims)
    extents.push_back(form.extents[d]);
  // Panels are whole vectors, unless they are sums of single lanes.
  int64_t inner = form.laneCount() / extents.front(), multiple = 1;
  if (!form.is<DotProduct>())
    multiple = std::gcd(
        std::gcd(kernel.lanes(), firstLane),
        kernel.originMultiple(kernel.parts(stage)[form.laneDims.front()]) *
            inner);
  auto exprs = e.scope.addLaneGroup(
      b->CreateAdd(arguments.lane, b->getInt64(firstLane)), extents, multiple);
  for (auto [d, expr] : llvm::zip(form.laneDims, exprs))
    dims[d] = expr;
  return dims;
}

/// Epilogue and store of `lanes` neighbours of a row.
void MicroKernel::finishRow(RegionEmitter &e, int row, int firstLane,
                            Value *content, int64_t lanes) {
  e.scope.truncate(0);
  e.enterBody();
  auto dims = resultDims(e, row, firstLane);
  if (lanes < kernel.lanes()) {
    SmallVector<llvm::Constant *> bits;
    for (int64_t l = 0; l < kernel.lanes(); ++l)
      bits.push_back(b->getInt1(l < lanes));
    e.tail = llvm::ConstantVector::get(bits);
  }
  e.seed(stage.op->getResult(0), content);
  if (stage.epilogue)
    content = e.evaluatePayload(stage.epilogue, dims)[0];
  e.store(stored(), dims, content);
  e.tail = nullptr;
  e.scope.endLaneGroup();
}

} // namespace dl::cpu
