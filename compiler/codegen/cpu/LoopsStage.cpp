#include "compiler/codegen/cpu/LoopsStage.h"
#include "compiler/codegen/cpu/PayloadCode.h"
#include "llvm/Support/SaveAndRestore.h"
#include <numeric>

using namespace mlir;

namespace dl::cpu {

using llvm::Value;

/// A sum along the lanes is as many sums as keep the adders busy: one would
/// wait for the one before.
static constexpr int64_t kSumChains = 4;
/// So many vectors of each row are added to sums over rows in one loop: of one,
/// a cache line would be all that is read before the next row, often on another
/// page.
static constexpr int64_t kWideRow = 4;
/// From so many points on a sum is added up row by row, if its rows and their
/// number are not very short.
static constexpr int64_t kLongChain = 256, kShortestRow = 4;
/// Reductions over at most this many points are unrolled: pooling windows.
static constexpr int64_t kMaxUnrolled = 32;

std::pair<Value *, Value *> indicesInTile(const RegionEmitter &e,
                                          const TileBounds &tile,
                                          GridPart bound, int64_t extent) {
  llvm::IRBuilder<> &b = e.builder;
  if (!e.kernel.isCut(bound))
    return {b.getInt64(0), b.getInt64(extent)};
  Value *lo = tile.origin[*bound.grid], *hi = tile.end[*bound.grid];
  if (bound.step == 1)
    return {lo, hi};
  // The last tile may have the rest of a block, which has no window.
  Value *step = b.getInt64(bound.step);
  lo = b.CreateUDiv(lo, step);
  hi = b.CreateUDiv(b.CreateAdd(hi, b.getInt64(bound.step - 1)), step);
  return {lo, b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, hi,
                                      b.getInt64(extent))};
}

LoopsStage::LoopsStage(RegionEmitter &emitter, const Stage &stage,
                       const TileBounds &tile)
    : e(emitter), b(emitter.builder), stage(stage),
      nest(emitter.kernel.nest(stage.op)), results(stage.results()),
      reductions({stage.op}) {
  llvm::append_range(reductions, stage.sumsBeside);
  for (auto [extent, bound] : llvm::zip(nest.extents, e.kernel.parts(stage))) {
    auto [lo, hi] = indicesInTile(e, tile, bound, extent);
    Range range{lo, hi, extent};
    if (e.kernel.isCut(bound)) {
      range.cut = bound;
      range.single = e.kernel.tileSizes()[*bound.grid] == bound.step;
    }
    if (bound.step != 1 && e.kernel.isCut(bound)) {
      int64_t last = e.kernel.grid()[*bound.grid].extent - 1;
      range.single &= extent > last / bound.step;
    }
    ranges.push_back(range);
  }
  dims.resize(ranges.size());
}

void LoopsStage::emit() {
  unsigned size = e.scope.size();
  e.kernel.forEachRead(
      stage, [&](mlir::Value, ArrayRef<AffineExpr>, bool g) { guarded |= g; });
  findPhases();
  chooseLanes();
  across = findAcross();
  for (unsigned d = 0; d < nest.numParallel; ++d)
    if ((lanesReduce || !llvm::is_contained(laneDims, d)) &&
        !(across && across->dim == d))
      outerDims.push_back(d);
  emitOuter(0);
  e.enterBody();
  e.scope.truncate(size);
}

AffineExpr LoopsStage::constant(int64_t value) const {
  return getAffineConstantExpr(value, stage.op->getContext());
}

Value *LoopsStage::constantTail(int64_t count) const {
  SmallVector<llvm::Constant *> bits;
  for (int64_t l = 0; l < e.kernel.lanes(); ++l)
    bits.push_back(b.getInt1(l < count));
  return llvm::ConstantVector::get(bits);
}

Value *LoopsStage::lanesBefore(Value *count) const {
  return dl::cpu::lanesBefore(b, e.kernel.lanes(), count);
}

/// The flat index of a vector, behind guards as a number that LLVM does not
/// know. With known lanes a guard is "a condition for all of them, and this
/// constant"; for AVX2, LLVM 22 then loads the lanes that the constant leaves
/// out where nothing behind them is stored (kernels/loops.mlir, @pad_tail).
Value *LoopsStage::flatIndex(int64_t value) const {
  Value *known = b.getInt64(value);
  return guarded ? hidden(b, known) : known;
}

Combiner LoopsStage::makeCombiner() const {
  return Combiner(b, nest,
                  vectorType(b.getContext(), e.payloadResultType(stage.op),
                             e.kernel.lanes()));
}

Values LoopsStage::initialState(const Combiner &combiner) const {
  Values state;
  for (size_t i = 0; i < reductions.size(); ++i)
    state.append(combiner.init());
  return state;
}

Values LoopsStage::combine(ArrayRef<Value *> state, const Combiner &combiner,
                           Value *mask) {
  if (vectors > 1) {
    llvm::SaveAndRestore<int64_t> one(vectors, 1);
    AffineExpr &lane = dims[laneDims.front()], first = lane;
    size_t each = reductions.size();
    Values all;
    for (size_t at = 0; at < state.size(); at += each) {
      lane = first + int64_t(at / each) * e.kernel.lanes();
      all.append(combine(state.slice(at, each), combiner, mask));
    }
    lane = first;
    return all;
  }
  size_t size = state.size() / reductions.size();
  Values next;
  for (auto [i, op] : llvm::enumerate(reductions)) {
    Value *content = e.widen(e.evaluatePayload(op, dims)[0]);
    next.append(combiner.step(state.slice(i * size, size), content,
                              reductionPosition(), mask));
  }
  return next;
}

Values LoopsStage::finish(ArrayRef<Value *> state, const Combiner &combiner) {
  if (reductions.size() > 1)
    return Values(state);
  SmallVector<llvm::Type *> types;
  for (Type type : stage.op->getResultTypes()) {
    unsigned bits =
        cast<RankedTensorType>(type).getElementType().getIntOrFloatBitWidth();
    types.push_back(
        llvm::FixedVectorType::get(b.getIntNTy(bits), e.kernel.lanes()));
  }
  return combiner.results(state, types);
}

void LoopsStage::emitOuter(size_t next) {
  if (next == outerDims.size())
    return lanesReduce ? emitAcrossLanes()
           : across    ? emitSquares()
                       : emitLaneLoop();
  unsigned d = outerDims[next];
  const Range &range = ranges[d];
  unsigned size = e.scope.size();
  if (range.single) {
    dims[d] = e.originOf(range.cut);
    return emitOuter(next + 1);
  }
  // (A tile without any index of a dim that is cut has an empty loop.)
  if (range.extent == 1 && !range.isCut()) {
    dims[d] = constant(0);
    return emitOuter(next + 1);
  }
  int64_t s = range.phases, count = (range.extent + s - 1) / s;
  Value *lo = s == 1 ? range.lo : b.getInt64(0);
  Value *hi = s == 1 ? range.hi : b.getInt64(count);
  emitLoop(b, lo, hi, 1, [&](Value *iv) {
    AffineExpr outer = e.scope.addDim(iv, 0, count - 1);
    for (int64_t phase = 0; phase < s; ++phase) {
      dims[d] = outer * s + phase;
      bool beyond = range.extent % s != 0 && phase >= range.extent % s;
      if (beyond)
        emitIf(b, b.CreateICmpSLT(iv, b.getInt64(count - 1)),
               [&] { emitOuter(next + 1); });
      else
        emitOuter(next + 1);
    }
  });
  e.scope.truncate(size);
}

void LoopsStage::emitLaneLoop() {
  int64_t width = e.kernel.lanes(), inner = 1;
  if (laneDims.empty()) {
    // A scalar: lane 0 of a vector.
    llvm::SaveAndRestore<Value *> one(e.tail, constantTail(1));
    return emitLaneBody(b.getInt64(0), width);
  }
  for (unsigned d : ArrayRef(laneDims).drop_front())
    inner *= ranges[d].extent;
  const Range &first = ranges[laneDims.front()];
  if (!first.isCut()) {
    int64_t s = first.phases;
    int64_t count = (first.extent + s - 1) / s * inner;
    int64_t full = count / width * width, done = 0;
    for (int64_t wide : wideRows(count)) {
      int64_t row = wide * width, end = full / row * row;
      if (end > done)
        emitLoop(b, flatIndex(done), b.getInt64(end), row,
                 [&](Value *flat) { emitWideBody(flat, width, wide); });
      done = end;
    }
    if (full > done)
      emitLoop(b, flatIndex(done), b.getInt64(full), width,
               [&](Value *flat) { emitLaneBody(flat, width); });
    if (full < count) {
      llvm::SaveAndRestore<Value *> rest(e.tail, constantTail(count - full));
      emitLaneBody(flatIndex(full), width);
    }
    return;
  }
  Value *lo = b.CreateMul(first.lo, b.getInt64(inner));
  Value *hi = b.CreateMul(first.hi, b.getInt64(inner));
  Value *count = b.CreateSub(hi, lo);
  Value *full = b.CreateAdd(lo, b.CreateAnd(count, b.getInt64(-width)));
  int64_t multiple =
      std::gcd(width, e.kernel.originMultiple(first.cut) * inner);
  Value *begin = lo;
  for (int64_t wide : wideRows(first.extent * inner)) {
    int64_t row = wide * width;
    Value *end = b.CreateAdd(begin, b.CreateAnd(count, b.getInt64(-row)));
    emitLoop(b, lo, end, row,
             [&](Value *flat) { emitWideBody(flat, multiple, wide); });
    lo = end;
  }
  emitLoop(b, lo, full, width,
           [&](Value *flat) { emitLaneBody(flat, multiple); });
  emitIf(b, b.CreateICmpSLT(full, hi), [&] {
    llvm::SaveAndRestore<Value *> tail(e.tail,
                                       lanesBefore(b.CreateSub(hi, full)));
    emitLaneBody(full, multiple);
  });
}

/// Of so many lanes: how many vectors are added up in one loop, first and then
/// of what that leaves. Two of them read whole memory where one of each pair of
/// lines would be left for another loop.
SmallVector<int64_t> LoopsStage::wideRows(int64_t lanes) const {
  SmallVector<int64_t> rows;
  for (int64_t row : {kWideRow, kWideRow / 2})
    if (takesWideRows() && lanes / e.kernel.lanes() >= row &&
        (rows.empty() || lanes / e.kernel.lanes() % rows.back() >= row))
      rows.push_back(row);
  return rows;
}

/// Sums over many points, beside one another.
bool LoopsStage::takesWideRows() const {
  int64_t points = 1;
  for (unsigned d = nest.numParallel; d < nest.extents.size(); ++d)
    points *= nest.extents[d];
  return nest.combine == graph::Combine::Sum && points > kMaxUnrolled &&
         laneDims.size() == 1 && ranges[laneDims.front()].phases == 1 &&
         reductions.size() <= 2 && !guarded && !e.usesIndices(stage);
}

/// Each sum has the order that it has by itself.
void LoopsStage::emitWideBody(Value *flat, int64_t multiple, int64_t wide) {
  e.enterBody();
  unsigned size = e.scope.size(), d = laneDims.front();
  AffineExpr first =
      e.scope.addLaneGroup(flat, {ranges[d].extent}, multiple).front();
  dims[d] = first;
  Combiner combiner = makeCombiner();
  Values state;
  for (int64_t v = 0; v < wide; ++v)
    state.append(initialState(combiner));
  vectors = wide;
  state = reduceWindow(nest.numParallel, state, combiner);
  vectors = 1;
  for (int64_t v = 0; v < wide; ++v) {
    e.enterBody();
    dims[d] = first + v * e.kernel.lanes();
    size_t each = reductions.size();
    Values contents = withFollowers(
        finish(ArrayRef(state).slice(size_t(v) * each, each), combiner));
    for (auto [result, content] : llvm::zip(results, contents))
      if (e.kernel.isPlaced(result))
        e.store(result, resultIndex(), content);
  }
  e.scope.endLaneGroup();
  e.scope.truncate(size);
}

void LoopsStage::emitLaneBody(Value *flat, int64_t multiple) {
  e.enterBody();
  unsigned size = e.scope.size();
  SmallVector<int64_t> extents;
  for (unsigned d : laneDims)
    extents.push_back((ranges[d].extent + ranges[d].phases - 1) /
                      ranges[d].phases);
  auto exprs = e.scope.addLaneGroup(flat, extents, multiple);
  for (auto [d, expr] : llvm::zip(laneDims, exprs))
    dims[d] = expr;
  int64_t s = laneDims.empty() ? 1 : ranges[laneDims.back()].phases;
  if (s == 1) {
    storeResults();
  } else {
    const Range &range = ranges[laneDims.back()];
    SmallVector<Values> byPhase;
    SmallVector<SmallVector<AffineExpr>> indices;
    SmallVector<Value *> masks;
    for (int64_t phase = 0; phase < s; ++phase) {
      dims[laneDims.back()] = exprs.back() * s + phase;
      Value *mask = e.tail;
      if (range.extent % s != 0 && phase >= range.extent % s) {
        Value *inside = b.CreateICmpSLT(
            e.scope.vector(dims[laneDims.back()]),
            b.CreateVectorSplat(e.kernel.lanes(), b.getInt64(range.extent)));
        mask = mask ? b.CreateAnd(mask, inside) : inside;
      }
      // (What lies behind the last element may be far away, and no memory.)
      llvm::SaveAndRestore<Value *> masked(e.tail, mask);
      byPhase.push_back(evaluatePoint());
      indices.push_back(SmallVector<AffineExpr>(resultIndex()));
      masks.push_back(mask);
    }
    for (auto [r, result] : llvm::enumerate(results)) {
      if (!e.kernel.isPlaced(result))
        continue;
      // (Of several results one may be stored in another order.)
      if (s == 2 && e.kernel.strides(result)[laneDims.back()] == 1) {
        llvm::SaveAndRestore<Value *> byMasks(e.tail, nullptr);
        e.storeInterleaved(result, indices[0], {byPhase[0][r], byPhase[1][r]},
                           masks);
        continue;
      }
      for (int64_t phase = 0; phase < s; ++phase) {
        llvm::SaveAndRestore<Value *> masked(e.tail, masks[phase]);
        e.store(result, indices[phase], byPhase[phase][r]);
      }
    }
  }
  e.scope.endLaneGroup();
  e.scope.truncate(size);
}

void LoopsStage::storeResults() {
  for (auto [result, content] : llvm::zip(results, evaluatePoint()))
    if (e.kernel.isPlaced(result))
      e.store(result, resultIndex(), content);
}

Values LoopsStage::evaluatePoint() {
  if (nest.combine == graph::Combine::None) {
    auto contents = e.evaluatePayload(stage.op, dims);
    return withFollowers(Values(contents.begin(), contents.end()));
  }
  Combiner combiner = makeCombiner();
  return withFollowers(
      finish(reduceWindow(nest.numParallel, initialState(combiner), combiner),
             combiner));
}

/// The stage's own results at a point, and what its followers make of them.
Values LoopsStage::withFollowers(Values contents) {
  if (stage.followers.empty())
    return contents;
  for (auto [result, content] : llvm::zip(results, contents))
    e.seed(result, content);
  for (Operation *follower : stage.followers)
    for (auto [result, content] :
         llvm::zip(follower->getResults(),
                   e.evaluatePayload(follower, resultIndex()))) {
      e.seed(result, content);
      contents.push_back(content);
    }
  return contents;
}

Value *LoopsStage::reductionPosition() {
  if (!nest.yieldsIndex)
    return nullptr;
  AffineExpr position = constant(0);
  for (unsigned d = nest.numParallel; d < dims.size(); ++d)
    position = position * nest.extents[d] + dims[d];
  return e.scope.vector(position);
}

static Values zerosLike(ArrayRef<Value *> values) {
  Values zeros;
  for (Value *value : values)
    zeros.push_back(llvm::Constant::getNullValue(value->getType()));
  return zeros;
}

/// A long sum beside others, of one chain a lane: its rows are added up first,
/// each by itself, so that errors grow with the length of two short chains.
/// (The statistics of channels that lie next to one another.)
bool LoopsStage::sumsRowByRow(unsigned dim, const Combiner &combiner) const {
  int64_t points = 1, inner = 1;
  for (unsigned d = nest.numParallel; d < nest.extents.size(); ++d)
    points *= nest.extents[d], inner *= d > dim ? nest.extents[d] : 1;
  return combiner.isSum() && points >= kLongChain && inner >= kShortestRow &&
         nest.extents[dim] >= kShortestRow;
}

/// All reduction dims from `dim` on, in row-major order, at one result point a
/// lane.
Values LoopsStage::reduceWindow(unsigned dim, Values state,
                                const Combiner &combiner) {
  if (dim == nest.extents.size())
    return combine(state, combiner, nullptr);
  int64_t points = 1;
  for (unsigned d = dim; d < nest.extents.size(); ++d)
    points *= nest.extents[d];
  if (points <= kMaxUnrolled) {
    for (int64_t i = 0; i < nest.extents[dim]; ++i) {
      dims[dim] = constant(i);
      state = reduceWindow(dim + 1, state, combiner);
    }
    return state;
  }
  unsigned size = e.scope.size();
  Values result =
      emitLoop(b, b.getInt64(0), b.getInt64(nest.extents[dim]), 1, state,
               [&](Value *iv, ArrayRef<Value *> carried) {
                 e.enterBody();
                 dims[dim] = e.scope.addDim(iv, 0, nest.extents[dim] - 1);
                 Values before(carried.begin(), carried.end());
                 bool apart = sumsRowByRow(dim, combiner);
                 Values next = reduceWindow(
                     dim + 1, apart ? zerosLike(before) : before, combiner);
                 for (size_t i = 0; i < next.size() && apart; ++i)
                   next[i] = combiner.merge(before[i], next[i])[0];
                 e.enterBody();
                 return next;
               });
  e.scope.truncate(size);
  return result;
}

void LoopsStage::emitAcrossLanes() {
  e.enterBody();
  Combiner combiner = makeCombiner();
  Values chains = initialState(combiner);
  if (combiner.isSum() && lanesAcross() >= kSumChains * e.kernel.lanes())
    for (int64_t c = 1; c < kSumChains; ++c)
      chains.append(initialState(combiner));
  chains = reduceAlongLanes(nest.numParallel, chains, combiner);
  e.enterBody();
  Values contents =
      withFollowers(finish(addChains(chains, combiner), combiner));
  for (auto [result, content] : llvm::zip(results, contents))
    if (e.kernel.isPlaced(result))
      e.storeScalar(result, resultIndex(), content);
}

/// The chains of each sum become one, and its lanes.
Values LoopsStage::addChains(ArrayRef<Value *> chains,
                             const Combiner &combiner) {
  if (!combiner.isSum())
    return combiner.acrossLanes(chains);
  Values sums;
  for (size_t i = 0, n = reductions.size(); i < n; ++i) {
    Values own;
    for (size_t c = i; c < chains.size(); c += n)
      own.push_back(chains[c]);
    for (; own.size() > 1; own.truncate(own.size() / 2))
      for (size_t c = 0; c < own.size() / 2; ++c)
        own[c] = combiner.merge(own[c], own[c + own.size() / 2])[0];
    sums.append(combiner.acrossLanes(own));
  }
  return sums;
}

Values LoopsStage::stepAlongLanes(Value *flat, ArrayRef<Value *> state,
                                  const Combiner &combiner) {
  e.enterBody();
  unsigned size = e.scope.size();
  SmallVector<int64_t> extents;
  for (unsigned d : laneDims)
    extents.push_back(nest.extents[d]);
  auto exprs = e.scope.addLaneGroup(flat, extents, e.kernel.lanes());
  for (auto [d, expr] : llvm::zip(laneDims, exprs))
    dims[d] = expr;
  Values next = combine(state, combiner, e.tail);
  e.scope.endLaneGroup();
  e.scope.truncate(size);
  return next;
}

int64_t LoopsStage::lanesAcross() const {
  int64_t count = 1;
  for (unsigned d : laneDims)
    count *= nest.extents[d];
  return count;
}

/// `state` is that of each sum for each chain, or that of the maximum.
Values LoopsStage::reduceAlongLanes(unsigned dim, Values state,
                                    const Combiner &combiner) {
  if (dim < laneDims.front()) {
    unsigned size = e.scope.size();
    Values result = emitLoop(
        b, b.getInt64(0), b.getInt64(nest.extents[dim]), 1, state,
        [&](Value *iv, ArrayRef<Value *> carried) {
          dims[dim] = e.scope.addDim(iv, 0, nest.extents[dim] - 1);
          return reduceAlongLanes(
              dim + 1, Values(carried.begin(), carried.end()), combiner);
        });
    e.scope.truncate(size);
    return result;
  }
  int64_t count = lanesAcross(), width = e.kernel.lanes();
  int64_t each = reductions.size();
  int64_t chains = combiner.isSum() ? state.size() / each : 1;
  auto step = [&](Value *flat, Values all, int64_t chain) {
    if (chains == 1)
      return stepAlongLanes(flat, all, combiner);
    Values next =
        stepAlongLanes(flat, ArrayRef(all).slice(chain * each, each), combiner);
    llvm::copy(next, all.begin() + chain * each);
    return all;
  };
  int64_t full = count / width * width, round = chains * width;
  int64_t rounds = full / round * round;
  if (rounds > 0)
    state = emitLoop(b, flatIndex(0), b.getInt64(rounds), round, state,
                     [&](Value *flat, ArrayRef<Value *> carried) {
                       Values all(carried.begin(), carried.end());
                       for (int64_t c = 0; c < chains; ++c)
                         all = step(b.CreateAdd(flat, b.getInt64(c * width)),
                                    all, c);
                       return all;
                     });
  for (int64_t at = rounds, c = 0; at < full; at += width, ++c)
    state = step(flatIndex(at), state, c);
  if (full < count) {
    llvm::SaveAndRestore<Value *> rest(e.tail, constantTail(count - full));
    state = step(flatIndex(full), state, (full - rounds) / width % chains);
  }
  return state;
}

} // namespace dl::cpu
