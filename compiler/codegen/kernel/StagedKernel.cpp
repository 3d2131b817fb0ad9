#include "compiler/codegen/kernel/StagedKernel.h"
#include "dialects/graph/Inference.h"
#include "dialects/graph/PayloadFacts.h"
#include "dialects/graph/TensorBytes.h"
#include "llvm/ADT/STLExtras.h"
#include <functional>

using namespace mlir;

namespace dl::kernel {

/// Sums that are added up together: their parts stay in registers.
static constexpr size_t kMostSums = 4;

StagedKernel::StagedKernel(KernelBody body, ProductReaders readers,
                           Columns columns)
    : KernelBody(std::move(body)), readers(readers), columns(columns) {
  placeOperandsAndResults();
  collectStages();
  if (readers == ProductReaders::Together) {
    gatherAroundProduct();
    delayProducts();
  }
  foldEpilogues();
  mergeSums();
  mergeFollowers();
}

bool StagedKernel::hasContraction() const {
  return llvm::any_of(stages(), [](const Stage &s) { return s.contraction; });
}

int64_t StagedKernel::bytes() const {
  int64_t sum = 0;
  llvm::SmallPtrSet<void *, 8> seen; // an operand may be bound several times
  for (auto &[value, placement] : placements())
    if (placement.kind == Placement::Result ||
        (placement.kind == Placement::Operand &&
         seen.insert(op()->getOperand(placement.number).getAsOpaquePointer())
             .second))
      sum += graph::tensorBytes(value.getType());
  return sum;
}

void StagedKernel::placeOperandsAndResults() {
  auto layout = [](std::optional<ArrayAttr> layouts, unsigned i) {
    return layouts ? dyn_cast<DenseI64ArrayAttr>((*layouts)[i])
                   : DenseI64ArrayAttr();
  };
  auto place = [&](Value value, Placement::Kind kind, unsigned number,
                   DenseI64ArrayAttr order) {
    Placement placement{kind, number,
                        stridesOf(shapeOf(value), orderOf(value, order))};
    if (auto operand = dyn_cast<BlockArgument>(value))
      findOffsets(operand, order, placement);
    allPlacements.insert({value, placement});
  };
  for (BlockArgument arg : block().getArguments())
    place(arg, Placement::Operand, arg.getArgNumber(),
          layout(op().getOperandLayouts(), arg.getArgNumber()));
  for (auto [i, value] :
       llvm::enumerate(block().getTerminator()->getOperands()))
    place(value, Placement::Result, i, layout(op().getResultLayouts(), i));
}

/// The reader of an operand at an offset that only the launch knows is its only
/// one: see graph::liftConstants.
void StagedKernel::findOffsets(BlockArgument operand, DenseI64ArrayAttr order,
                               Placement &placement) const {
  if (!operand.hasOneUse())
    return;
  OpOperand &use = *operand.use_begin();
  auto reader = dyn_cast<graph::LaunchConstantsOpInterface>(use.getOwner());
  if (!reader)
    return;
  // Constants count along the operand's own dims, joined or not.
  auto strides = stridesOf(cast<RankedTensorType>(operand.getType()).getShape(),
                           order ? order.asArrayRef() : ArrayRef<int64_t>());
  for (const graph::LaunchConstant &constant : reader.getLaunchConstants())
    if (constant.operand == int(use.getOperandNumber()))
      if (auto number =
              graph::constantOf(reader, constant.attribute, constant.element))
        placement.offsets.push_back({*number, strides[constant.element]});
}

/// Elementwise, of a contraction's result and its shape.
bool StagedKernel::readsProduct(Operation *op, const Ops &onProduct) const {
  const graph::LoopNest &loops = nest(op);
  if (loops.combine != graph::Combine::None)
    return false;
  for (auto [operand, access] : llvm::zip(op->getOperands(), loops.accesses))
    if (Operation *def = operand.getDefiningOp();
        def && access.map.isIdentity() && onProduct.contains(def))
      return true;
  return false;
}

static bool isNegative(AffineExpr factor) {
  auto constant = dyn_cast<AffineConstantExpr>(factor);
  return constant && constant.getValue() < 0;
}

static bool areLinear(ArrayRef<AffineExpr> index) {
  bool linear = true;
  for (AffineExpr expr : index)
    expr.walk([&](AffineExpr part) {
      linear &= part.getKind() != AffineExprKind::FloorDiv &&
                part.getKind() != AffineExprKind::CeilDiv &&
                part.getKind() != AffineExprKind::Mod;
      if (part.getKind() == AffineExprKind::Mul) // backwards
        linear &= !isNegative(cast<AffineBinaryOpExpr>(part).getRHS());
    });
  return linear;
}

/// It is a product, or widens what one reads: that takes half of the memory.
bool StagedKernel::readsForProduct(Operation *user) const {
  auto loops = dyn_cast<graph::LoopNestOpInterface>(user);
  if (!loops)
    return false;
  if (nest(user).contraction)
    return true;
  return readers == ProductReaders::Together &&
         graph::payloadFacts(loops).isWidening &&
         llvm::any_of(user->getUsers(), [&](Operation *reader) {
           return isa<graph::LoopNestOpInterface>(reader) &&
                  nest(reader).contraction;
         });
}

bool StagedKernel::mustPlace(Operation *op, const Ops &onProduct) const {
  const graph::LoopNest &loops = nest(op);
  if (loops.combine != graph::Combine::None)
    return true;
  for (Value result : op->getResults())
    if (isPlaced(result))
      return true;
  // A contraction reads each operand many times, at linear indices: anything
  // but such a view of a placed value is computed once beforehand.
  for (Operation *user : op->getUsers())
    if (readsForProduct(user)) {
      SmallVector<AffineExpr> index;
      for (unsigned d = 0; d < loops.extents.size(); ++d)
        index.push_back(getAffineDimExpr(d, op->getContext()));
      if (!viewedLeaf(op->getResult(0), index, seenByProducts()) ||
          !areLinear(index))
        return true;
    }
  // Rows of a chain are kept rounded, where they are rounded.
  if (isChain && graph::elementOf(op->getResult(0)).isBF16())
    return true;
  // What is elementwise on a product is computed once, before it leaves the
  // registers, and not again in each window that reads it. (Rows of a chain of
  // products are read as a whole, and their memory is short.)
  auto readsAgain = [&](Operation *user) {
    return isa<graph::LoopNestOpInterface>(user) &&
           nest(user).combine != graph::Combine::None &&
           (readers != ProductReaders::Together ||
            nest(user).points() != graph::numElements(op->getResult(0)));
  };
  bool isWidened =
      graph::payloadFacts(cast<graph::LoopNestOpInterface>(op)).isWidening &&
      isPlaced(op->getOperand(0)); // by whoever reads it
  if (onProduct.contains(op) && !isWidened &&
      llvm::any_of(op->getUsers(), readsAgain))
    return true;
  // Inlined where it is broadcast, it would be computed again and again.
  auto isRepeated = [&](Operation *user) {
    auto reader = dyn_cast<graph::LoopNestOpInterface>(user);
    return reader && cast<RankedTensorType>(user->getResult(0).getType())
                             .getNumElements() >
                         cast<RankedTensorType>(op->getResult(0).getType())
                             .getNumElements();
  };
  if ((op->hasOneUse() || op->use_empty()) &&
      llvm::none_of(op->getUsers(), isRepeated))
    return false;
  return graph::payloadFacts(cast<graph::LoopNestOpInterface>(op)).isExpensive;
}

void StagedKernel::collectStages() {
  isChain = readers == ProductReaders::Together &&
            llvm::count_if(ops(), [&](Operation &op) {
              return nest(&op).contraction;
            }) > 1;
  Ops onProduct; // contractions and what is elementwise on their results
  for (Operation &op : ops()) {
    if (nest(&op).contraction || readsProduct(&op, onProduct))
      onProduct.insert(&op);
    if (mustPlace(&op, onProduct))
      addStage(&op);
  }
}

void StagedKernel::addStage(Operation *op) {
  Stage stage;
  stage.op = op;
  stage.contraction = nest(op).contraction;
  stage.sequential = nest(op).isSequential();
  for (Value result : op->getResults())
    if (!isPlaced(result) && !result.use_empty())
      allPlacements.insert({result, Placement()});
  allStages.push_back(stage);
}

StagedKernel::Seen StagedKernel::seenByProducts() const {
  switch (readers) {
  case ProductReaders::Apart:
    return Seen::Views;
  case ProductReaders::Rounding:
    return Seen::Rounded;
  case ProductReaders::Widening:
    return Seen::Stored;
  case ProductReaders::Together:
    return Seen::Padded;
  }
}

/// What is rounded to bf16 and widened again, if it is f32; else null.
static Value roundedBy(Operation *op) {
  auto loops = dyn_cast<graph::LoopNestOpInterface>(op);
  if (!loops || !graph::payloadFacts(loops).isWidening)
    return {};
  auto rounding = op->getOperand(0).getDefiningOp<graph::LoopNestOpInterface>();
  return rounding && graph::payloadFacts(rounding).isRounding
             ? rounding->getOperand(0)
             : Value();
}

Value StagedKernel::viewedLeaf(Value value, SmallVectorImpl<AffineExpr> &index,
                               Seen seen) const {
  if (isPlaced(value))
    return value;
  auto op = value.getDefiningOp<graph::LoopNestOpInterface>();
  if (!op)
    return {};
  graph::PayloadFacts facts = graph::payloadFacts(op);
  if (seen == Seen::Rounded)
    if (Value whole = roundedBy(op);
        whole && !isPlaced(op->getOperand(0))) // both at the same place
      return viewedLeaf(whole, index, seen);
  bool isStored = facts.isWidening && isa<BlockArgument>(op->getOperand(0));
  if (!facts.isView && !(seen == Seen::Stored && isStored) &&
      !(seen >= Seen::Widened && facts.isWidening) &&
      !(seen == Seen::Padded && facts.isZeroPaddedView))
    return {};
  const graph::LoopNest &loops = nest(op);
  auto inner = accessAt(loops.accesses[0], index);
  index.assign(inner.begin(), inner.end());
  return viewedLeaf(op->getOperand(0), index, seen);
}

bool Stage::makes(Value value) const {
  Operation *def = value.getDefiningOp();
  return def &&
         (def == op || def == epilogue || llvm::is_contained(sumsBeside, def) ||
          llvm::is_contained(followers, def));
}

SmallVector<OpResult> Stage::results() const {
  SmallVector<OpResult> list(storedOp()->getResults());
  for (Operation *sum : sumsBeside)
    list.append(sum->result_begin(), sum->result_end());
  for (Operation *follower : followers)
    list.append(follower->result_begin(), follower->result_end());
  return list;
}

void StagedKernel::forEachLeaf(Value value, ArrayRef<AffineExpr> index,
                               llvm::function_ref<bool(Value)> isMade,
                               LeafFn fn) const {
  llvm::DenseSet<std::pair<Value, const void *>> seen;
  std::function<void(Value, ArrayRef<AffineExpr>, bool)> visit =
      [&](Value v, ArrayRef<AffineExpr> at, bool guarded) {
        AffineMap key = AffineMap::get(64, 0, at, v.getContext());
        if (isMade(v) || !seen.insert({v, key.getAsOpaquePointer()}).second)
          return;
        if (isPlaced(v))
          return fn(v, at, guarded);
        Operation *op = v.getDefiningOp();
        const graph::LoopNest &loops = nest(op);
        for (auto [operand, access] :
             llvm::zip(op->getOperands(), loops.accesses))
          visit(operand, accessAt(access, at),
                guarded || access.outside.has_value());
      };
  visit(value, index, false);
}

void StagedKernel::forEachRead(const Stage &stage, LeafFn fn) const {
  auto isMade = [&](Value value) { return stage.makes(value); };
  auto read = [&](Operation *op) {
    const graph::LoopNest &loops = nest(op);
    SmallVector<AffineExpr> dims;
    for (unsigned d = 0; d < loops.extents.size(); ++d)
      dims.push_back(getAffineDimExpr(d, op->getContext()));
    for (auto [operand, access] : llvm::zip(op->getOperands(), loops.accesses))
      forEachLeaf(operand, accessAt(access, dims), isMade,
                  [&](Value leaf, ArrayRef<AffineExpr> index, bool guarded) {
                    fn(leaf, index, guarded || access.outside.has_value());
                  });
  };
  read(stage.op);
  if (stage.epilogue)
    read(stage.epilogue);
  for (Operation *sum : stage.sumsBeside)
    read(sum);
  for (Operation *follower : stage.followers)
    read(follower);
}

/// A later stage would store a new value where a stage in between still reads
/// the old one, if it ran with an earlier one: w - lr * gradient, and w * mask
/// that the next product reads.
bool StagedKernel::overwritesForOthers(size_t earlier, size_t later) const {
  std::optional<ArrayRef<int64_t>> inplace = op().getInplace();
  if (!inplace)
    return false;
  llvm::SmallPtrSet<void *, 2> old;
  for (OpResult result : allStages[later].results())
    if (isPlaced(result) && placement(result).kind == Placement::Result)
      if (int64_t operand = (*inplace)[placement(result).number]; operand >= 0)
        old.insert(op()->getOperand(operand).getAsOpaquePointer());
  bool isRead = false;
  for (size_t i = earlier + 1; i < later; ++i)
    forEachRead(allStages[i], [&](Value leaf, ArrayRef<AffineExpr>, bool) {
      if (placement(leaf).kind == Placement::Operand)
        isRead |= old.contains(
            op()->getOperand(placement(leaf).number).getAsOpaquePointer());
    });
  return isRead;
}

/// It sums up what has the shape of the first product, whose columns come one
/// block after the other.
bool StagedKernel::waitsForColumns(const Stage &stage) const {
  if (!streamsColumns() || nest(stage.op).combine == graph::Combine::None)
    return false;
  const Stage *first = llvm::find_if(
      allStages, [](const Stage &other) { return other.contraction; });
  auto shape = shapeOf(first->op->getResult(0));
  bool waits = false;
  forEachRead(stage, [&](Value leaf, ArrayRef<AffineExpr>, bool) {
    waits |=
        placement(leaf).kind != Placement::Operand && shapeOf(leaf) == shape;
  });
  return waits;
}

/// A contraction whose only reader is an elementwise stage of the same shape
/// hands its accumulators over in registers.
bool StagedKernel::foldEpilogue(size_t number) {
  Stage &stage = allStages[number];
  Value result = stage.op->getResult(0);
  if (!stage.contraction || !isPlaced(result) || !isInScratch(result) ||
      waitsForColumns(stage))
    return false;
  std::optional<size_t> reader;
  bool foldable = true;
  for (size_t j = number + 1; j < allStages.size(); ++j)
    forEachRead(
        allStages[j], [&](Value leaf, ArrayRef<AffineExpr> index, bool) {
          if (leaf != result)
            return;
          foldable &= reader.value_or(j) == j &&
                      AffineMap::get(index.size(), 0, index, op()->getContext())
                          .isIdentity();
          reader = j;
        });
  if (!reader || !foldable)
    return false;
  Stage &user = allStages[*reader];
  const graph::LoopNest &loops = nest(user.op);
  bool sameShape = loops.combine == graph::Combine::None &&
                   user.op->getNumResults() == 1 &&
                   shapeOf(user.op->getResult(0)) == shapeOf(result);
  // Whatever else the epilogue reads must exist before the contraction runs.
  bool ready = true;
  forEachRead(user, [&](Value leaf, ArrayRef<AffineExpr>, bool) {
    for (size_t j = number + 1; j < allStages.size(); ++j)
      for (Value late : allStages[j].op->getResults())
        ready &= leaf != late;
  });
  if (!sameShape || !ready || overwritesForOthers(number, *reader))
    return false;
  stage.epilogue = user.op;
  allPlacements.erase(result);
  allStages.erase(allStages.begin() + *reader);
  return true;
}

void StagedKernel::foldEpilogues() {
  for (size_t i = 0; i < allStages.size(); ++i)
    foldEpilogue(i);
}

/// First what the product needs and what has other points, then the product,
/// then what is elementwise on its points.
void StagedKernel::gatherAroundProduct() {
  auto product = llvm::find_if(
      allStages, [](const Stage &stage) { return stage.contraction; });
  if (product == allStages.end())
    return;
  const graph::LoopNest &loops = nest(product->op);
  auto points = ArrayRef(loops.extents).take_front(loops.numParallel);
  // From the last one on: whoever an earlier stage needs is earlier.
  llvm::DenseSet<Value> needed;
  auto need = [&](const Stage &stage) {
    forEachRead(stage, [&](Value leaf, ArrayRef<AffineExpr>, bool) {
      needed.insert(leaf);
    });
  };
  need(*product);
  SmallVector<bool> isLate(allStages.size());
  for (size_t i = allStages.size(); i-- > 0;) {
    const Stage &stage = allStages[i];
    const graph::LoopNest &own = nest(stage.op);
    bool isNeeded = llvm::any_of(stage.results(), [&](OpResult result) {
      return needed.contains(result);
    });
    isLate[i] = !isNeeded && !stage.contraction &&
                own.combine == graph::Combine::None &&
                ArrayRef(own.extents) == points;
    if (!isLate[i] && !stage.contraction)
      need(stage);
  }
  Stages before, after;
  for (auto [stage, late] : llvm::zip(allStages, isLate))
    if (!stage.contraction)
      (late ? after : before).push_back(stage);
  before.push_back(*product);
  before.append(after);
  // Others read the product as a whole, or there are two.
  bool isPossible = before.size() == allStages.size();
  llvm::DenseSet<Value> made;
  for (const Stage &stage : before) {
    for (OpResult result : stage.results())
      made.insert(result);
    forEachRead(stage, [&](Value leaf, ArrayRef<AffineExpr>, bool) {
      isPossible &=
          placement(leaf).kind == Placement::Operand || made.contains(leaf);
    });
  }
  if (isPossible)
    allStages = std::move(before);
}

/// A product of operands alone is computed right before what reads it: what
/// waits for others is short-lived then. Example, the backward of attention:
/// the gradient of probabilities, once these are there.
void StagedKernel::delayProducts() {
  if (op().getInplace())
    return; // what it reads may be overwritten in between
  if (llvm::count_if(allStages, [](const Stage &s) { return s.contraction; }) <
      2)
    return; // what is elementwise on a single one stands behind it
  for (size_t i = allStages.size(); i-- > 0;) {
    if (!allStages[i].contraction)
      continue;
    Value product = allStages[i].op->getResult(0);
    size_t reader = i + 1;
    auto reads = [&](const Stage &stage) {
      bool found = false;
      forEachRead(stage, [&](Value leaf, ArrayRef<AffineExpr>, bool) {
        found |= leaf == product;
      });
      return found;
    };
    while (reader < allStages.size() && !reads(allStages[reader]))
      ++reader;
    if (reader < allStages.size())
      std::rotate(allStages.begin() + i, allStages.begin() + i + 1,
                  allStages.begin() + reader);
  }
}

/// Of one kind, over the same points, and the later one needs nothing that is
/// made in between.
bool StagedKernel::canAddUpTogether(size_t first, size_t later) const {
  const Stage &stage = allStages[first], &other = allStages[later];
  auto isSum = [&](const Stage &s) {
    return nest(s.op).combine == graph::Combine::Sum && !s.contraction &&
           !s.sequential;
  };
  auto elementOf = [](const Stage &s) {
    return cast<RankedTensorType>(s.op->getResult(0).getType())
        .getElementType();
  };
  if (!isSum(stage) || !isSum(other) ||
      nest(stage.op).extents != nest(other.op).extents ||
      nest(stage.op).numParallel != nest(other.op).numParallel ||
      elementOf(stage) != elementOf(other))
    return false;
  bool isReady = true;
  forEachRead(other, [&](Value leaf, ArrayRef<AffineExpr>, bool) {
    for (size_t i = first; i < later; ++i)
      isReady &= !allStages[i].makes(leaf);
  });
  return isReady;
}

/// What several sums read is loaded once for all of them.
void StagedKernel::mergeSums() {
  for (size_t i = 0; i < allStages.size(); ++i)
    for (size_t j = i + 1; j < allStages.size() &&
                           allStages[i].sumsBeside.size() + 1 < kMostSums;)
      if (canAddUpTogether(i, j)) {
        allStages[i].sumsBeside.push_back(allStages[j].op);
        allStages.erase(allStages.begin() + j);
      } else {
        ++j;
      }
}

/// Stages that go over the same points one after the other become one: what is
/// elementwise on a pooled value or a sum, the two new values of an optimizer.
void StagedKernel::mergeFollowers() {
  for (size_t i = 0; i + 1 < allStages.size();) {
    Stage &stage = allStages[i];
    const Stage &next = allStages[i + 1];
    const graph::LoopNest &loops = nest(stage.op), &own = nest(next.op);
    bool isApart = (stage.contraction && readers != ProductReaders::Together) ||
                   waitsForColumns(stage);
    bool merge = !isApart && !next.contraction && !stage.sequential &&
                 own.combine == graph::Combine::None &&
                 ArrayRef(loops.extents).take_front(loops.numParallel) ==
                     ArrayRef(own.extents);
    bool reads = false;
    forEachRead(next,
                [&](Value leaf, ArrayRef<AffineExpr> index, bool guarded) {
                  if (!stage.makes(leaf))
                    return;
                  reads = true;
                  merge &= !guarded && AffineMap::get(index.size(), 0, index,
                                                      op()->getContext())
                                           .isIdentity();
                });
    // What stands behind a product was put there for its points; several
    // updates need no loops of their own.
    bool isMap = loops.combine == graph::Combine::None;
    if (!merge || (!reads && !stage.contraction && !isMap)) {
      ++i;
      continue;
    }
    stage.followers.push_back(next.op);
    allStages.erase(allStages.begin() + i + 1);
  }
  // What only followers read stays in registers.
  llvm::DenseSet<Value> read;
  for (const Stage &stage : allStages) {
    forEachRead(stage, [&](Value leaf, ArrayRef<AffineExpr>, bool) {
      read.insert(leaf);
    });
    // A product stores what it makes.
    if (stage.contraction && readers != ProductReaders::Together)
      for (OpResult result : stage.results())
        read.insert(result);
  }
  allPlacements.remove_if([&](const auto &placed) {
    return placed.second.kind == Placement::Scratch &&
           !read.contains(placed.first);
  });
}

} // namespace dl::kernel
