#include "compiler/codegen/cpu/RegionEmitter.h"
#include "compiler/codegen/cpu/Control.h"
#include "compiler/codegen/cpu/PayloadCode.h"
#include "dialects/graph/Check.h"
#include "llvm/IR/MDBuilder.h"
#include <numeric>

using namespace mlir;

namespace dl::cpu {

using llvm::Value;

static RankedTensorType tensorType(mlir::Value value) {
  return cast<RankedTensorType>(value.getType());
}

RegionEmitter::RegionEmitter(const TiledKernel &kernel, PayloadCache &payloads,
                             llvm::IRBuilder<> &builder, Value *bindings,
                             Value *constants, Value *scratch)
    : kernel(kernel), builder(builder),
      scope(builder, kernel.op()->getContext(), kernel.lanes()),
      payloads(payloads), bindings(bindings), constants(constants),
      scratch(scratch) {
  llvm::MDBuilder metadata(builder.getContext());
  llvm::MDNode *domain = metadata.createAnonymousAliasScopeDomain();
  for (size_t i = 0; i < kernel.placements().size(); ++i)
    aliasScopes.push_back(metadata.createAnonymousAliasScope(domain));
  // All in the entry block.
  for (unsigned number = 0; number < kernel.numConstants(); ++number)
    launchConstant(number);
  for (auto &[value, placement] : kernel.placements())
    pointer(value);
}

bool RegionEmitter::usesIndices(const Stage &stage) {
  SmallVector<Operation *> open{stage.op};
  llvm::append_range(open, stage.sumsBeside);
  llvm::append_range(open, stage.followers);
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!open.empty()) {
    Operation *op = open.pop_back_val();
    if (!seen.insert(op).second)
      continue;
    const auto &payload = payloads.get(cast<graph::LoopNestOpInterface>(op));
    if (llvm::any_of(const_cast<Block &>(payload.block)
                         .getArguments()
                         .drop_front(op->getNumOperands()),
                     [](BlockArgument arg) { return !arg.use_empty(); }))
      return true;
    for (mlir::Value operand : op->getOperands())
      if (Operation *def = operand.getDefiningOp();
          def && !kernel.isPlaced(operand))
        open.push_back(def);
  }
  return false;
}

Value *RegionEmitter::pointer(mlir::Value placed) {
  Value *&slot = pointers[placed];
  if (slot)
    return slot;
  const Placement &placement = kernel.placement(placed);
  if (placement.kind == Placement::Scratch)
    return slot = scratchAt(kernel.scratchOffset(placed));
  unsigned number = placement.number;
  if (placement.kind == Placement::Result)
    number += kernel.op().getNumOperands();
  slot = invariantLoad(
      builder.getPtrTy(),
      builder.CreateConstInBoundsGEP1_64(builder.getPtrTy(), bindings, number));
  for (auto [constant, stride] : placement.offsets)
    slot = builder.CreateInBoundsGEP(
        memoryType(placed), slot,
        builder.CreateMul(launchConstant(constant), builder.getInt64(stride)));
  return slot;
}

Value *RegionEmitter::scratchAt(int64_t offset) {
  return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), scratch,
                                            offset);
}

Value *RegionEmitter::invariantLoad(llvm::Type *type, Value *from) {
  auto *load = builder.CreateLoad(type, from);
  load->setMetadata(llvm::LLVMContext::MD_invariant_load,
                    llvm::MDNode::get(builder.getContext(), {}));
  return load;
}

Value *RegionEmitter::launchConstant(unsigned number) {
  if (launchConstants.size() <= number)
    launchConstants.push_back(invariantLoad(
        builder.getInt64Ty(), builder.CreateConstInBoundsGEP1_64(
                                  builder.getInt64Ty(), constants, number)));
  return launchConstants[number];
}

unsigned RegionEmitter::aliasGroup(mlir::Value placed) const {
  auto it = kernel.placements().find(placed);
  if (it->second.kind == Placement::Result)
    if (auto inplace = kernel.op().getInplace())
      if (int64_t operand = (*inplace)[it->second.number]; operand >= 0) {
        mlir::Value arg = kernel.op().getBody().front().getArgument(operand);
        return kernel.placements().find(arg) - kernel.placements().begin();
      }
  return it - kernel.placements().begin();
}

void RegionEmitter::annotate(llvm::Instruction *inst, mlir::Value placed) {
  llvm::LLVMContext &context = builder.getContext();
  unsigned own = aliasGroup(placed);
  SmallVector<llvm::Metadata *> others;
  for (auto [i, node] : llvm::enumerate(aliasScopes))
    if (i != own)
      others.push_back(node);
  inst->setMetadata(llvm::LLVMContext::MD_alias_scope,
                    llvm::MDNode::get(context, {aliasScopes[own]}));
  inst->setMetadata(llvm::LLVMContext::MD_noalias,
                    llvm::MDNode::get(context, others));
}

AffineExpr RegionEmitter::address(mlir::Value placed,
                                  ArrayRef<AffineExpr> index) const {
  bool inScratch = kernel.isInScratch(placed);
  ArrayRef<int64_t> strides = kernel.strides(placed);
  AffineExpr sum = getAffineConstantExpr(0, scope.getContext());
  for (auto [d, expr] : llvm::enumerate(index)) {
    AffineExpr at = expr;
    if (GridPart bound = kernel.parts(placed)[d]; inScratch && bound.grid)
      at = at - originOf(bound);
    sum = sum + at * strides[d];
  }
  return simplified(sum);
}

llvm::Type *RegionEmitter::memoryType(mlir::Value placed) const {
  Type element = tensorType(placed).getElementType();
  if (element.isInteger(1))
    return builder.getInt8Ty();
  return vectorType(builder.getContext(), graph::scalarType(element), 1)
      ->getScalarType();
}

Value *RegionEmitter::fromMemory(Value *content, Type element) {
  if (!element.isInteger(1))
    return content;
  return builder.CreateICmpNE(content,
                              llvm::Constant::getNullValue(content->getType()));
}

Value *RegionEmitter::toMemory(Value *content) {
  content = widen(content);
  if (!content->getType()->isIntOrIntVectorTy(1))
    return content;
  return builder.CreateZExt(
      content, llvm::FixedVectorType::get(builder.getInt8Ty(), kernel.lanes()));
}

Value *RegionEmitter::widen(Value *content) {
  if (cast<llvm::FixedVectorType>(content->getType())->getNumElements() != 1)
    return content;
  return builder.CreateShuffleVector(content,
                                     SmallVector<int>(kernel.lanes(), 0));
}

/// Of a constant mask, whose lanes in use come first.
static unsigned usedLanes(llvm::Constant *mask, unsigned lanes) {
  for (; lanes > 0; --lanes)
    if (!mask->getAggregateElement(lanes - 1)->isNullValue())
      break;
  return lanes;
}

/// Beside a guard LLVM is not to know the tail. Where half of a mask is known
/// to be zeros and the rest a condition for all lanes, LLVM 22 loads a half as
/// a whole, out of bounds: for AVX2 the upper one, for AVX-512 the lower one,
/// as what VINSERTF32X8 inserts under the condition.
Value *RegionEmitter::activeMask() {
  if (!tail || !guard)
    return tail ? tail : guard;
  Value *lanes = tail;
  if (auto *known = llvm::dyn_cast<llvm::Constant>(tail))
    lanes = lanesBefore(
        builder, kernel.lanes(),
        hidden(builder, builder.getInt64(usedLanes(known, kernel.lanes()))));
  return builder.CreateAnd(lanes, guard);
}

Value *RegionEmitter::elementPointer(mlir::Value placed, Value *offset) {
  // Lane 0 of a guarded access may lie outside of the value.
  return builder.CreateGEP(memoryType(placed), pointer(placed), offset, "",
                           guard ? llvm::GEPNoWrapFlags::none()
                                 : llvm::GEPNoWrapFlags::inBounds());
}

/// Wherever the guard is, too: a channel's number of what is padded.
bool RegionEmitter::isInMemory(mlir::Value placed, AffineExpr at) const {
  if (kernel.isInScratch(placed))
    return false;
  int64_t last = 0;
  for (auto [extent, stride] :
       llvm::zip(kernel.shapeOf(placed), kernel.strides(placed)))
    last += (extent - 1) * stride;
  auto [lo, hi] = scope.range(at);
  return lo >= 0 && hi <= last;
}

Value *RegionEmitter::loadVector(mlir::Value placed, AffineExpr at) {
  llvm::Type *element = memoryType(placed);
  auto *type = llvm::FixedVectorType::get(element, kernel.lanes());
  llvm::Align align(element->getScalarSizeInBits() / 8);
  Value *zero = llvm::Constant::getNullValue(type);
  std::optional<int64_t> stride = scope.laneStride(at);
  if (stride == 0 && (!guard || isInMemory(placed, at))) {
    Value *scalar =
        withAlias(builder.CreateAlignedLoad(
                      element, elementPointer(placed, scope.scalar(at)), align),
                  placed);
    return builder.CreateVectorSplat(1, scalar);
  }
  Value *mask = activeMask();
  if (stride == 1) {
    Value *from = elementPointer(placed, scope.scalar(at));
    if (!mask)
      return withAlias(builder.CreateAlignedLoad(type, from, align), placed);
    return withAlias(builder.CreateMaskedLoad(type, from, align, mask, zero),
                     placed);
  }
  if (stride == 2) {
    // Every second element of two vectors. The last element of the second one
    // may lie behind the value: buffers may be over-read by 64 bytes.
    Value *from = elementPointer(placed, scope.scalar(at));
    Value *halves[2];
    for (unsigned half = 0; half < 2; ++half) {
      Value *start = builder.CreateConstInBoundsGEP1_64(element, from,
                                                        half * kernel.lanes());
      if (!mask) {
        halves[half] =
            withAlias(builder.CreateAlignedLoad(type, start, align), placed);
        continue;
      }
      Value *none = llvm::Constant::getNullValue(mask->getType());
      halves[half] =
          withAlias(builder.CreateMaskedLoad(
                        type, start, align, interleave(mask, none, half), zero),
                    placed);
    }
    SmallVector<int> even;
    for (unsigned l = 0; l < kernel.lanes(); ++l)
      even.push_back(2 * l);
    return builder.CreateShuffleVector(halves[0], halves[1], even);
  }
  Value *pointers = builder.CreateGEP(
      element, pointer(placed), scope.vector(at), "",
      mask ? llvm::GEPNoWrapFlags::none() : llvm::GEPNoWrapFlags::inBounds());
  if (!mask)
    mask = llvm::Constant::getAllOnesValue(
        llvm::FixedVectorType::get(builder.getInt1Ty(), kernel.lanes()));
  return withAlias(
      builder.CreateMaskedGather(type, pointers, align, mask, zero), placed);
}

Value *RegionEmitter::load(mlir::Value placed, ArrayRef<AffineExpr> index) {
  return fromMemory(loadVector(placed, address(placed, index)),
                    tensorType(placed).getElementType());
}

void RegionEmitter::store(mlir::Value placed, ArrayRef<AffineExpr> index,
                          Value *content) {
  Value *bits = toMemory(content);
  llvm::Type *element = memoryType(placed);
  llvm::Align align(element->getScalarSizeInBits() / 8);
  AffineExpr at = address(placed, index);
  if (scope.laneStride(at) == 1) {
    Value *to = elementPointer(placed, scope.scalar(at));
    if (tail)
      withAlias(builder.CreateMaskedStore(bits, to, align, tail), placed);
    else
      withAlias(builder.CreateAlignedStore(bits, to, align), placed);
    return;
  }
  Value *mask =
      tail ? tail
           : llvm::Constant::getAllOnesValue(llvm::FixedVectorType::get(
                 builder.getInt1Ty(), kernel.lanes()));
  Value *pointers =
      builder.CreateInBoundsGEP(element, pointer(placed), scope.vector(at));
  withAlias(builder.CreateMaskedScatter(bits, pointers, align, mask), placed);
}

void RegionEmitter::storeScalar(mlir::Value placed, ArrayRef<AffineExpr> index,
                                Value *content) {
  Value *lane = builder.CreateExtractElement(toMemory(content), uint64_t(0));
  llvm::Align align(lane->getType()->getScalarSizeInBits() / 8);
  Value *to = elementPointer(placed, scope.scalar(address(placed, index)));
  withAlias(builder.CreateAlignedStore(lane, to, align), placed);
}

/// The lower or upper half of x[0], y[0], x[1], y[1], ...
Value *RegionEmitter::interleave(Value *x, Value *y, unsigned half) {
  SmallVector<int> order;
  for (unsigned l = 0; l < kernel.lanes(); ++l)
    order.push_back(half * kernel.lanes() / 2 + l / 2 +
                    (l % 2) * kernel.lanes());
  return builder.CreateShuffleVector(x, y, order);
}

void RegionEmitter::storeInterleaved(mlir::Value placed,
                                     ArrayRef<AffineExpr> index,
                                     ArrayRef<Value *> contents,
                                     ArrayRef<Value *> masks) {
  DL_CHECK(contents.size() == 2 && !tail, "two whole vectors are interleaved");
  Value *a = toMemory(contents[0]), *b = toMemory(contents[1]);
  auto *every = llvm::Constant::getAllOnesValue(
      llvm::FixedVectorType::get(builder.getInt1Ty(), kernel.lanes()));
  llvm::Type *element = memoryType(placed);
  llvm::Align align(element->getScalarSizeInBits() / 8);
  Value *to = elementPointer(placed, scope.scalar(address(placed, index)));
  for (unsigned half = 0; half < 2; ++half) {
    Value *mixed = interleave(a, b, half);
    Value *at =
        builder.CreateConstInBoundsGEP1_64(element, to, half * kernel.lanes());
    if (!masks[0] && !masks[1]) {
      withAlias(builder.CreateAlignedStore(mixed, at, align), placed);
      continue;
    }
    Value *mask = interleave(masks[0] ? masks[0] : every,
                             masks[1] ? masks[1] : every, half);
    withAlias(builder.CreateMaskedStore(mixed, at, align, mask), placed);
  }
}

} // namespace dl::cpu
