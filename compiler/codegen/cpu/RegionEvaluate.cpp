// Inlined evaluation: the elementwise ops between a stage and the values it
// reads.

#include "compiler/codegen/cpu/PayloadCode.h"
#include "compiler/codegen/cpu/RandomWords.h"
#include "compiler/codegen/cpu/RegionEmitter.h"
#include "compiler/codegen/kernel/PayloadIndex.h"
#include "dialects/graph/Bf16.h"
#include "dialects/graph/Check.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace dl::cpu {

using llvm::Value;

Value *RegionEmitter::evaluate(mlir::Value value, ArrayRef<AffineExpr> index) {
  if (Value *content = seeds.lookup(value))
    return content;
  AffineMap at = AffineMap::get(64, 0, index, scope.getContext());
  auto key = std::make_tuple(value.getAsOpaquePointer(),
                             at.getAsOpaquePointer(), guard);
  if (auto it = cache.find(key); it != cache.end())
    return it->second;
  // What is there without a guard is so with it.
  if (auto it = cache.find({std::get<0>(key), std::get<1>(key), nullptr});
      it != cache.end())
    return it->second;
  Value *content =
      kernel.isPlaced(value)
          ? load(value, index)
          : evaluatePayload(value.getDefiningOp(),
                            index)[cast<OpResult>(value).getResultNumber()];
  return cache[key] = content;
}

void RegionEmitter::preload(mlir::Value value, ArrayRef<AffineExpr> index,
                            Value *content) {
  AffineMap at = AffineMap::get(64, 0, index, scope.getContext());
  cache[std::make_tuple(value.getAsOpaquePointer(), at.getAsOpaquePointer(),
                        guard)] = content;
}

Value *RegionEmitter::loadInside(mlir::Value placed,
                                 ArrayRef<AffineExpr> index) {
  Value *inside = guard;
  for (auto [expr, extent] : llvm::zip(index, kernel.shapeOf(placed)))
    if (Value *condition = isInRange(expr, extent)) {
      condition = widen(condition);
      inside = inside ? builder.CreateAnd(inside, condition) : condition;
    }
  llvm::SaveAndRestore<Value *> both(guard, inside);
  return load(placed, index);
}

/// The i64 scalars of the step (seed, step, ...), the same for all lanes.
Value *RegionEmitter::scalarOperand(Operation *op, int64_t index) {
  for (mlir::Value operand : op->getOperands()) {
    auto type = cast<RankedTensorType>(operand.getType());
    if (type.getElementType().isInteger(64) && type.getRank() == 1) {
      // No store changes them: loops need not load them again.
      Value *loaded = withAlias(
          builder.CreateLoad(builder.getInt64Ty(),
                             elementPointer(operand, builder.getInt64(index))),
          operand);
      return builder.CreateVectorSplat(1, loaded);
    }
  }
  DL_UNREACHABLE("an op with graph.scalar in its payload has the scalars");
}

unsigned RegionEmitter::unifyWidths(MutableArrayRef<Value *> contents) {
  auto isWide = [](Value *content) {
    return cast<llvm::FixedVectorType>(content->getType())->getNumElements() !=
           1;
  };
  if (llvm::none_of(contents, isWide))
    return 1;
  for (Value *&content : contents)
    content = widen(content);
  return kernel.lanes();
}

/// The words of elements that are neighbours along the lanes; nothing where
/// they are not.
SmallVector<Value *, 2>
RegionEmitter::drawAlongLanes(graph::PhiloxOp draw, ArrayRef<Value *> operands,
                              ArrayRef<AffineExpr> indices) {
  AffineExpr element = kernel::payloadIndex(draw.getIndex(), indices);
  auto isUniform = [](Value *content) {
    return cast<llvm::FixedVectorType>(content->getType())->getNumElements() ==
           1;
  };
  if (!element || scope.laneStride(element) != 1 ||
      !llvm::all_of(operands.drop_front(), isUniform))
    return {};
  unsigned count = draw.getNumResults();
  Value *first = builder.CreateExtractElement(operands[0], uint64_t(0));
  return emitNeighboursWords(builder, first,
                             scope.startsAtMultiple(element, 4 / count),
                             operands.drop_front(), scope.numLanes(), count);
}

SmallVector<Value *> RegionEmitter::evaluatePayload(Operation *op,
                                                    ArrayRef<AffineExpr> dims) {
  const graph::PayloadBlock &payload =
      payloads.get(cast<graph::LoopNestOpInterface>(op));
  unsigned numOperands = op->getNumOperands();
  auto indices =
      kernel.payloadIndices(cast<graph::LoopNestOpInterface>(op), dims);
  llvm::DenseMap<mlir::Value, Value *> values;
  auto get = [&](mlir::Value v) -> Value * {
    if (Value *known = values.lookup(v))
      return known;
    unsigned number = cast<BlockArgument>(v).getArgNumber();
    if (number < numOperands)
      return values[v] = evaluateOperand(op, number, dims);
    AffineExpr index = indices[number - numOperands];
    return values[v] = scope.laneStride(index) == 0
                           ? builder.CreateVectorSplat(1, scope.scalar(index))
                           : scope.vector(index);
  };
  for (Operation &inner : const_cast<Block &>(payload.block)) {
    if (auto scalar = dyn_cast<graph::ScalarOp>(inner)) {
      values[scalar] =
          scalarOperand(op, static_cast<int64_t>(scalar.getWhich()));
      continue;
    }
    if (auto number = dyn_cast<graph::LaunchConstantOp>(inner)) {
      values[number] =
          builder.CreateVectorSplat(1, launchConstant(number.getNumber()));
      continue;
    }
    SmallVector<Value *> operands;
    for (mlir::Value operand : inner.getOperands())
      operands.push_back(get(operand));
    if (auto draw = dyn_cast<graph::PhiloxOp>(inner))
      if (auto words = drawAlongLanes(draw, operands, indices);
          !words.empty()) {
        for (auto [word, content] : llvm::zip(draw.getWords(), words))
          values[word] = content;
        continue;
      }
    unsigned width = unifyWidths(operands);
    auto results = emitPayloadOp(builder, &inner, operands, width);
    if (results.empty()) {
      payloads.error =
          ("there is no code for " + inner.getName().getStringRef() +
           " in the payload of " + op->getName().getStringRef())
              .str();
      for (Type type : inner.getResultTypes())
        results.push_back(llvm::PoisonValue::get(
            vectorType(builder.getContext(), type, width)));
    }
    for (auto [mlirResult, content] : llvm::zip(inner.getResults(), results))
      values[mlirResult] = content;
  }
  SmallVector<Value *> results;
  for (mlir::Value result : payload.results)
    results.push_back(get(result));
  return results;
}

Value *RegionEmitter::isInRange(AffineExpr expr, int64_t extent) {
  auto [lo, hi] = scope.range(expr);
  if (lo >= 0 && hi < extent)
    return nullptr;
  bool uniform = scope.laneStride(expr) == 0;
  Value *index = uniform ? scope.scalar(expr) : scope.vector(expr);
  // One unsigned comparison covers both ends.
  Value *inside = builder.CreateICmpULT(
      index, llvm::ConstantInt::get(index->getType(), extent));
  return uniform ? builder.CreateVectorSplat(1, inside) : inside;
}

Value *RegionEmitter::insideMask(const graph::Access &access,
                                 ArrayRef<AffineExpr> dims,
                                 ArrayRef<AffineExpr> index,
                                 ArrayRef<int64_t> shape, bool &never) {
  Value *mask = nullptr;
  auto require = [&](Value *condition) {
    if (!condition)
      return;
    condition = widen(condition);
    mask = mask ? builder.CreateAnd(mask, condition) : condition;
  };
  for (AffineExpr guardExpr : access.guards) {
    AffineExpr expr = simplified(guardExpr.replaceDims(dims));
    auto [lo, hi] = scope.range(expr);
    if (lo > 0 || hi < 0)
      never = true;
    if (never || (lo == 0 && hi == 0))
      continue;
    bool uniform = scope.laneStride(expr) == 0;
    Value *content = uniform ? scope.scalar(expr) : scope.vector(expr);
    Value *zero = builder.CreateICmpEQ(
        content, llvm::Constant::getNullValue(content->getType()));
    require(uniform ? builder.CreateVectorSplat(1, zero) : zero);
  }
  for (auto [expr, extent] : llvm::zip(index, shape)) {
    auto [lo, hi] = scope.range(expr);
    if (hi < 0 || lo >= extent)
      never = true;
    if (!never)
      require(isInRange(expr, extent));
  }
  return mask;
}

/// A vector of one constant.
static Value *constantOf(llvm::Type *element, double value) {
  auto *vector = llvm::FixedVectorType::get(element, 1);
  if (element->isIntegerTy(16)) // bf16
    return llvm::ConstantInt::get(vector,
                                  graph::nearestBf16(value).bitcastToAPInt());
  return element->isFloatingPointTy()
             ? llvm::ConstantFP::get(vector, value)
             : llvm::ConstantInt::get(vector, int64_t(value));
}

/// The index that another operand says, moved into the dim: what is read with a
/// wrong one does not matter, but has to be there.
AffineExpr RegionEmitter::indirectIndex(Operation *op,
                                        const graph::Access &access,
                                        int64_t extent,
                                        ArrayRef<AffineExpr> dims) {
  Value *content = evaluateOperand(op, access.indirect->operand, dims);
  Value *last = llvm::ConstantInt::get(content->getType(), extent - 1);
  return scope.addContent(
      builder.CreateBinaryIntrinsic(llvm::Intrinsic::umin, content, last), 0,
      extent - 1);
}

Value *RegionEmitter::evaluateOperand(Operation *op, unsigned operand,
                                      ArrayRef<AffineExpr> dims) {
  const graph::Access &access = kernel.nest(op).accesses[operand];
  mlir::Value value = op->getOperand(operand);
  SmallVector<AffineExpr> index = accessAt(access, dims);
  if (access.indirect) {
    unsigned dim = access.indirect->dim;
    index[dim] = indirectIndex(op, access, kernel.shapeOf(value)[dim], dims);
  }
  if (!access.outside)
    return evaluate(value, index);
  auto type = cast<RankedTensorType>(value.getType());
  llvm::Type *element =
      vectorType(builder.getContext(), type.getElementType(), 1)
          ->getScalarType();
  bool never = false;
  Value *inside = insideMask(access, dims, index, kernel.shapeOf(value), never);
  if (never)
    return constantOf(element, *access.outside);
  if (!inside)
    return evaluate(value, index);
  auto evaluateInside = [&] {
    llvm::SaveAndRestore<Value *> both(
        guard, guard ? builder.CreateAnd(guard, inside) : inside);
    return evaluate(value, index);
  };
  Value *content = evaluateInside();
  Value *outside = constantOf(element, *access.outside);
  return builder.CreateSelect(inside, widen(content), widen(outside));
}

} // namespace dl::cpu
