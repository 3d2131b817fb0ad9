#include "compiler/codegen/cpu/SequentialStage.h"
#include "compiler/codegen/cpu/Combiner.h"
#include "dialects/graph/TensorBytes.h"
#include "llvm/Support/SaveAndRestore.h"
#include <numeric>

using namespace mlir;

namespace dl::cpu {

using llvm::Value;

SequentialStage::SequentialStage(RegionEmitter &emitter, const Stage &stage,
                                 const TileBounds &tile)
    : e(emitter), b(emitter.builder), stage(stage),
      nest(emitter.kernel.nest(stage.op)), tile(tile),
      result(stage.op->getResult(0)), at(nest.replace   ? nest.replace->at
                                         : nest.scatter ? nest.scatter->at
                                         : nest.scan    ? nest.scan->at
                                                        : nest.ordered->at),
      over(nest.replace   ? at
           : nest.scatter ? nest.scatter->over
           : nest.scan    ? nest.scan->over
                          : nest.ordered->over) {
  for (unsigned d = 0; d < nest.numParallel; ++d)
    if (d != at)
      (d < at ? outer : inner).push_back(d);
  dims.assign(nest.extents.size(),
              getAffineConstantExpr(0, stage.op->getContext()));
  e.kernel.forEachRead(
      stage, [&](mlir::Value, ArrayRef<AffineExpr>, bool g) { guarded |= g; });
}

void SequentialStage::emit() {
  unsigned size = e.scope.size();
  e.enterBody();
  if (nest.replace)
    emitReplace();
  else if (nest.ordered)
    emitSort();
  else if (nest.scatter)
    emitScatter();
  else
    emitScan();
  e.enterBody();
  e.scope.truncate(size);
}

void SequentialStage::loopOver(ArrayRef<unsigned> loops, Body body) {
  if (loops.empty())
    return body();
  unsigned d = loops.front(), size = e.scope.size();
  auto [lo, hi] =
      indicesInTile(e, tile, e.kernel.parts(stage)[d], nest.extents[d]);
  emitLoop(b, lo, hi, 1, [&](Value *iv) {
    e.enterBody();
    dims[d] = e.scope.addDim(iv, 0, nest.extents[d] - 1);
    loopOver(loops.drop_front(), body);
  });
  e.enterBody();
  e.scope.truncate(size);
}

/// Neighbours in the result, which all take part in the same way.
bool SequentialStage::canHaveLanes(unsigned dim) const {
  if (nest.extents[dim] == 1 || e.kernel.strides(result)[dim] != 1)
    return false;
  // Where to add must be one place for all lanes.
  return !nest.scatter || !nest.accesses[0].map.isFunctionOfDim(dim);
}

void SequentialStage::loopWithLanes(ArrayRef<unsigned> loops, Body body) {
  if (loops.empty() || !canHaveLanes(loops.back()))
    return loopOver(loops, body);
  loopOver(loops.drop_back(), [&] { lanesAlong(loops.back(), body); });
}

void SequentialStage::lanesAlong(unsigned dim, Body body) {
  int64_t width = e.kernel.lanes();
  llvm::SaveAndRestore<bool> lanes(hasLanes, true);
  GridPart part = e.kernel.parts(stage)[dim];
  auto [lo, hi] = indicesInTile(e, tile, part, nest.extents[dim]);
  int64_t multiple = std::gcd(width, e.kernel.originMultiple(part));
  auto emitBody = [&](Value *flat) {
    e.enterBody();
    unsigned size = e.scope.size();
    dims[dim] =
        e.scope.addLaneGroup(flat, {nest.extents[dim]}, multiple).front();
    body();
    e.enterBody();
    e.scope.endLaneGroup();
    e.scope.truncate(size);
  };
  Value *count = b.CreateSub(hi, lo);
  Value *full = b.CreateAdd(lo, b.CreateAnd(count, b.getInt64(-width)));
  emitLoop(b, lo, full, width, emitBody);
  emitIf(b, b.CreateICmpSLT(full, hi), [&] {
    Value *rest = b.CreateVectorSplat(width, b.CreateSub(hi, full));
    SmallVector<llvm::Constant *> steps;
    for (int64_t l = 0; l < width; ++l)
      steps.push_back(b.getInt64(l));
    llvm::SaveAndRestore<Value *> tail(
        e.tail, b.CreateICmpSLT(llvm::ConstantVector::get(steps), rest));
    emitBody(guarded ? hidden(b, full) : full);
  });
}

Values SequentialStage::loopAlong(unsigned dim, bool backwards,
                                  ArrayRef<Value *> init, Step body) {
  return loopBetween(dim, 0, nest.extents[dim], backwards, init, body);
}

Values SequentialStage::loopBetween(unsigned dim, int64_t from, int64_t to,
                                    bool backwards, ArrayRef<Value *> init,
                                    Step body) {
  unsigned size = e.scope.size();
  int64_t extent = nest.extents[dim];
  Values carried =
      emitLoop(b, b.getInt64(from), b.getInt64(to), 1, init,
               [&](Value *iv, ArrayRef<Value *> values) {
                 e.enterBody();
                 Value *index =
                     backwards ? b.CreateSub(b.getInt64(extent - 1), iv) : iv;
                 dims[dim] = e.scope.addDim(index, 0, extent - 1);
                 Values next = body(values);
                 e.enterBody();
                 return next;
               });
  e.scope.truncate(size);
  return carried;
}

Value *SequentialStage::read(unsigned operand) {
  Value *content = e.evaluateOperand(stage.op, operand, dims);
  if (hasLanes)
    return e.widen(content);
  return b.CreateShuffleVector(content, ArrayRef<int>{0});
}

void SequentialStage::write(Value *content) {
  auto index = ArrayRef(dims).take_front(nest.numParallel);
  if (hasLanes)
    e.store(result, index, content);
  else
    e.storeScalar(result, index, content);
}

void SequentialStage::begin() {
  llvm::Type *type = llvm::FixedVectorType::get(
      e.memoryType(result), hasLanes ? e.kernel.lanes() : 1);
  write(Combiner(b, nest, type).init()[0]);
}

/// One after the other along x: who gets what, and in which order, does not
/// depend on the tiles.
void SequentialStage::emitScatter() {
  const graph::Access &index = nest.accesses[0];
  bool same = llvm::none_of(
      inner, [&](unsigned d) { return index.map.isFunctionOfDim(d); });
  SmallVector<unsigned> begun{at};
  llvm::append_range(begun, inner);
  loopOver(outer, [&] {
    loopWithLanes(begun, [&] { begin(); });
    loopAlong(over, /*backwards=*/false, {}, [&](ArrayRef<Value *>) -> Values {
      if (same)
        combineAt(inner);
      else
        loopOver(inner, [&] { combineAt({}); });
      return {};
    });
  });
}

/// Of what is there already, the slice that the index says.
void SequentialStage::emitReplace() {
  SmallVector<unsigned> others(outer);
  llvm::append_range(others, inner);
  loopAt(others, [&] { write(read(1)); });
}

/// Puts the elements of these loops where the index says, if that is in the
/// tile.
void SequentialStage::combineAt(ArrayRef<unsigned> loops) {
  loopAt(loops, [&] {
    auto to = ArrayRef(dims).take_front(nest.numParallel);
    Value *before = e.load(result, to);
    if (hasLanes)
      before = e.widen(before);
    Combiner combiner(b, nest, before->getType());
    Values state = combiner.init(); // with a position, which is not asked for
    state[0] = before;
    Value *more = read(nest.scatter->operand);
    write(combiner.step(state, more, /*position=*/nullptr, nullptr)[0]);
  });
}

/// These loops, at the index of `at` that operand 0 says, if that is in the
/// tile.
void SequentialStage::loopAt(ArrayRef<unsigned> loops, Body body) {
  Value *content = read(0);
  auto [lo, hi] =
      indicesInTile(e, tile, e.kernel.parts(stage)[at], nest.extents[at]);
  Value *chosen = b.CreateExtractElement(content, uint64_t(0));
  Value *inside = b.CreateICmpULT(b.CreateSub(chosen, lo), b.CreateSub(hi, lo));
  unsigned size = e.scope.size();
  AffineExpr before = dims[at];
  emitIf(b, inside, [&] {
    e.enterBody();
    dims[at] = e.scope.addContent(content, 0, nest.extents[at] - 1);
    loopWithLanes(loops, body);
  });
  e.enterBody();
  dims[at] = before;
  e.scope.truncate(size);
}

void SequentialStage::emitScan() {
  SmallVector<unsigned> loops(outer);
  llvm::append_range(loops, inner);
  loopWithLanes(loops, [&] {
    loopAlong(at, nest.scan->reverse, scanBegin(),
              [&](ArrayRef<Value *> before) -> Values {
                dims[over] = dims[at];
                Values now = scanStep(before);
                write(stored(now.back()));
                return now;
              });
  });
}

/// What is carried on, the result last.
Values SequentialStage::scanBegin() const {
  auto zero = [&](llvm::Type *type) {
    return llvm::Constant::getNullValue(
        llvm::FixedVectorType::get(type, hasLanes ? e.kernel.lanes() : 1));
  };
  llvm::Type *type = e.memoryType(result);
  if (nest.scan->kind != graph::Scan::Argmax)
    return {zero(type->isFloatingPointTy() ? b.getDoubleTy() : type)};
  mlir::Value x = stage.op->getOperand(0);
  llvm::Constant *best = zero(e.memoryType(x));
  Type element = cast<RankedTensorType>(x.getType()).getElementType();
  double least = graph::identityOf(graph::Combine::Max, element);
  return {best->getType()->isFPOrFPVectorTy()
              ? llvm::ConstantFP::get(best->getType(), least)
              : llvm::ConstantInt::getSigned(best->getType(),
                                             static_cast<int64_t>(least)),
          zero(type)};
}

static llvm::Type *withElement(Value *vector, llvm::Type *element) {
  auto *type = cast<llvm::FixedVectorType>(vector->getType());
  return llvm::FixedVectorType::get(element, type->getNumElements());
}

/// Floats go on in f64, and are stored as what they are.
Value *SequentialStage::widened(Value *content) const {
  return content->getType()->isFPOrFPVectorTy()
             ? b.CreateFPExt(content, withElement(content, b.getDoubleTy()))
             : content;
}
Value *SequentialStage::stored(Value *content) const {
  return content->getType()->isFPOrFPVectorTy()
             ? b.CreateFPTrunc(content,
                               withElement(content, e.memoryType(result)))
             : content;
}

Values SequentialStage::scanStep(ArrayRef<Value *> before) {
  Value *x = read(0);
  bool isFloat = x->getType()->isFPOrFPVectorTy();
  auto add = [&](Value *left, Value *right) {
    return isFloat ? b.CreateFAdd(left, right) : b.CreateAdd(left, right);
  };
  switch (nest.scan->kind) {
  case graph::Scan::Sum:
    return {add(before[0], widened(x))};
  case graph::Scan::Linear: {
    Value *more = widened(read(1));
    x = widened(x);
    return {
        add(isFloat ? b.CreateFMul(x, before[0]) : b.CreateMul(x, before[0]),
            more)};
  }
  case graph::Scan::Argmax:
    break;
  }
  Value *isBest =
      isFloat ? b.CreateOr(b.CreateFCmpOGE(x, before[0]), b.CreateFCmpUNO(x, x))
              : b.CreateICmpSGE(x, before[0]);
  auto *places = cast<llvm::FixedVectorType>(before[1]->getType());
  Value *place =
      b.CreateVectorSplat(places->getNumElements(), e.scope.scalar(dims[at]));
  return {b.CreateSelect(isBest, x, before[0]),
          b.CreateSelect(isBest, place, before[1])};
}

} // namespace dl::cpu
