#include "compiler/codegen/cpu/KernelPlan.h"
#include "compiler/codegen/cpu/ContractForm.h"
#include "compiler/codegen/cpu/IndexScope.h"
#include "compiler/codegen/cpu/SequentialStage.h"
#include "dialects/graph/PayloadFacts.h"
#include "dialects/graph/StorageOrder.h"
#include "dialects/graph/TensorBytes.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace dl::cpu {

SmallVector<AffineExpr> accessAt(const graph::Access &access,
                                 ArrayRef<AffineExpr> dims) {
  SmallVector<AffineExpr> index;
  for (AffineExpr result : access.map.getResults())
    index.push_back(simplified(result.replaceDims(dims)));
  return index;
}

SmallVector<int64_t, 6> stridesOf(ArrayRef<int64_t> shape,
                                  ArrayRef<int64_t> order) {
  SmallVector<int64_t, 6> strides(shape.size(), 1);
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    size_t dim = order.empty() ? i : order[i];
    strides[dim] = stride;
    stride *= shape[dim];
  }
  return strides;
}

int64_t bytesOf(Value value) { return graph::tensorBytes(value.getType()); }

/// Vectors hold elements that are f64. A single number that is computed in f64
/// and rounded, as an optimizer's, does not matter: it is the same in all
/// lanes.
static bool hasWideDoubles(graph::KernelOp kernel) {
  auto isDouble = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getElementType().isF64();
  };
  if (llvm::any_of(kernel.getResults(), isDouble))
    return true;
  for (Operation &op : kernel.getBody().front().without_terminator())
    for (Value result : op.getResults())
      if (cast<RankedTensorType>(result.getType()).getNumElements() != 1 &&
          (isDouble(result) || llvm::any_of(op.getOperands(), isDouble)))
        return true;
  return false;
}

FailureOr<KernelPlan> KernelPlan::create(graph::KernelOp kernel,
                                         const plan::MachineModel &machine) {
  KernelPlan plan;
  plan.machine = &machine;
  plan.kernel = kernel;
  plan.joined = JoinedDims(kernel);
  if (hasWideDoubles(kernel))
    plan.lanes = 8;
  plan.placeOperandsAndResults();
  if (failed(plan.collectStages()))
    return failure();
  plan.foldEpilogues();
  plan.mergeFollowers();
  for (const Stage &stage : plan.stages)
    if (stage.contraction && failed(ContractForm::create(plan, stage)))
      return failure();
  plan.bindGrid();
  plan.untileConflicts();
  plan.chooseTiles();
  plan.placeScratch();
  plan.countCost();
  return plan;
}

const graph::LoopNest &KernelPlan::nest(Operation *op) const {
  auto it = nests.find(op);
  if (it == nests.end()) {
    it = nests
             .try_emplace(op,
                          joined.nestOf(cast<graph::LoopNestOpInterface>(op)))
             .first;
    putMemoryOrder(op, it->second);
  }
  return it->second;
}

/// In which order the dims of a value are stored; empty is row-major.
SmallVector<int64_t, 6> KernelPlan::orderOf(Value value) const {
  if (auto result = dyn_cast<OpResult>(value))
    return joined.orderOf(value, graph::storageOrder(result));
  std::optional<ArrayAttr> orders = kernel.getOperandLayouts();
  if (!orders)
    return {};
  unsigned number = cast<BlockArgument>(value).getArgNumber();
  return joined.orderOf(value, dyn_cast<DenseI64ArrayAttr>((*orders)[number]));
}

SmallVector<int64_t, 6> KernelPlan::orderedStrides(Value value) const {
  return stridesOf(shapeOf(value), orderOf(value));
}

/// A sum runs fastest along the dim whose elements lie next to each other.
void KernelPlan::putMemoryOrder(Operation *op, graph::LoopNest &loops) const {
  unsigned numDims = loops.extents.size();
  if (loops.combine != graph::Combine::Sum)
    return;
  std::optional<unsigned> inner;
  for (auto [operand, access] : llvm::zip(op->getOperands(), loops.accesses))
    if (auto order = orderOf(operand); !order.empty())
      if (auto dim =
              dyn_cast<AffineDimExpr>(access.map.getResult(order.back()));
          dim && dim.getPosition() >= loops.numParallel)
        inner = dim.getPosition();
  if (!inner)
    return;
  // Dim `inner` goes last; what was behind it moves up.
  MLIRContext *context = op->getContext();
  SmallVector<AffineExpr> dims;
  for (unsigned d = 0; d < numDims; ++d)
    dims.push_back(getAffineDimExpr(d == *inner  ? numDims - 1
                                    : d > *inner ? d - 1
                                                 : d,
                                    context));
  int64_t extent = loops.extents[*inner];
  loops.extents.erase(loops.extents.begin() + *inner);
  loops.extents.push_back(extent);
  for (graph::Access &access : loops.accesses) {
    access.map = access.map.replaceDimsAndSymbols(dims, {}, numDims, 0);
    for (AffineExpr &guard : access.guards)
      guard = guard.replaceDims(dims);
  }
}

int64_t KernelPlan::numTiles() const {
  auto limit = kernel->getAttrOfType<IntegerAttr>("max_tiles");
  return limit ? std::min(limit.getInt(), gridTiles()) : gridTiles();
}

int64_t KernelPlan::gridTiles() const {
  int64_t count = 1;
  for (auto [extent, tile] : llvm::zip(gridExtents, tileSizes))
    count *= (extent + tile - 1) / tile;
  return count;
}

StringRef KernelPlan::strategy() const {
  return llvm::any_of(stages, [](const Stage &s) { return s.contraction; })
             ? "contract"
             : "loops";
}

void KernelPlan::placeOperandsAndResults() {
  Block &body = kernel.getBody().front();
  auto layout = [](std::optional<ArrayAttr> layouts, unsigned i) {
    return layouts ? dyn_cast<DenseI64ArrayAttr>((*layouts)[i])
                   : DenseI64ArrayAttr();
  };
  auto place = [&](Value value, ValuePlacement::Kind kind, unsigned number,
                   DenseI64ArrayAttr order) {
    auto shape = shapeOf(value);
    ValuePlacement placement{
        kind, number, 0, {}, stridesOf(shape, joined.orderOf(value, order)),
        {}};
    placement.binding.resize(shape.size());
    if (auto operand = dyn_cast<BlockArgument>(value))
      findOffsets(operand, order, placement);
    placements.insert({value, placement});
  };
  for (BlockArgument arg : body.getArguments())
    place(arg, ValuePlacement::Operand, arg.getArgNumber(),
          layout(kernel.getOperandLayouts(), arg.getArgNumber()));
  for (auto [i, value] : llvm::enumerate(body.getTerminator()->getOperands()))
    place(value, ValuePlacement::Result, i,
          layout(kernel.getResultLayouts(), i));
}

/// The reader of an operand at an offset that only the launch knows is its only
/// one: see graph::liftConstants.
void KernelPlan::findOffsets(BlockArgument operand, DenseI64ArrayAttr order,
                             ValuePlacement &placement) {
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
bool KernelPlan::readsProduct(Operation *op) const {
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

bool KernelPlan::mustPlace(Operation *op) const {
  const graph::LoopNest &loops = nest(op);
  if (loops.combine != graph::Combine::None)
    return true;
  for (Value result : op->getResults())
    if (isPlaced(result))
      return true;
  // A contraction reads each operand many times, at linear indices: anything
  // but such a view of a placed value is computed once beforehand.
  for (Operation *user : op->getUsers())
    if (isa<graph::LoopNestOpInterface>(user) && nest(user).contraction) {
      SmallVector<AffineExpr> index;
      for (unsigned d = 0; d < loops.extents.size(); ++d)
        index.push_back(getAffineDimExpr(d, op->getContext()));
      if (!viewedLeaf(op->getResult(0), index) || !areLinear(index))
        return true;
    }
  // What is elementwise on a product is computed once, before it leaves the
  // registers, and not again in each window that reads it.
  if (onProduct.contains(op) &&
      llvm::any_of(op->getUsers(), [&](Operation *user) {
        return isa<graph::LoopNestOpInterface>(user) &&
               nest(user).combine != graph::Combine::None;
      }))
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

LogicalResult KernelPlan::collectStages() {
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (!isa<graph::LoopNestOpInterface>(op))
      return op.emitOpError("has no loop nest and cannot be part of a kernel");
    if (nest(&op).contraction || readsProduct(&op))
      onProduct.insert(&op);
    if (mustPlace(&op))
      addStage(&op);
  }
  return success();
}

void KernelPlan::addStage(Operation *op) {
  Stage stage;
  stage.op = op;
  stage.contraction = nest(op).contraction;
  stage.sequential = nest(op).isSequential();
  for (Value result : op->getResults())
    if (!isPlaced(result) && !result.use_empty()) {
      ValuePlacement placement{ValuePlacement::Scratch, 0, 0, {}, {}, {}};
      placement.binding.resize(shapeOf(result).size());
      placements.insert({result, placement});
    }
  stages.push_back(stage);
}

Value KernelPlan::viewedLeaf(Value value,
                             SmallVectorImpl<AffineExpr> &index) const {
  if (isPlaced(value))
    return value;
  auto op = value.getDefiningOp<graph::LoopNestOpInterface>();
  if (!op || !graph::payloadFacts(op).isView)
    return {};
  const graph::LoopNest &loops = nest(op);
  auto inner = accessAt(loops.accesses[0], index);
  index.assign(inner.begin(), inner.end());
  return viewedLeaf(op->getOperand(0), index);
}

bool Stage::makes(Value value) const {
  Operation *def = value.getDefiningOp();
  return def &&
         (def == op || def == epilogue || llvm::is_contained(followers, def));
}

SmallVector<OpResult> Stage::results() const {
  SmallVector<OpResult> list(storedOp()->getResults());
  for (Operation *follower : followers)
    list.append(follower->result_begin(), follower->result_end());
  return list;
}

void KernelPlan::forEachLeaf(Value value, ArrayRef<AffineExpr> index,
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

bool KernelPlan::hasIndirect() const {
  return llvm::any_of(kernel.getBody().front().without_terminator(),
                      [&](Operation &op) { return nest(&op).isIndirect(); });
}

void KernelPlan::forEachRead(const Stage &stage, LeafFn fn) const {
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
  for (Operation *follower : stage.followers)
    read(follower);
}

/// A contraction whose only reader is an elementwise stage of the same shape
/// hands its accumulators over in registers.
void KernelPlan::foldEpilogues() {
  for (size_t i = 0; i < stages.size(); ++i) {
    Stage &stage = stages[i];
    if (!stage.contraction)
      continue;
    Value result = stage.op->getResult(0);
    if (placements.lookup(result).kind != ValuePlacement::Scratch)
      continue;
    int reader = -1;
    bool foldable = true;
    for (size_t j = i + 1; j < stages.size(); ++j)
      forEachRead(stages[j], [&](Value leaf, ArrayRef<AffineExpr> index, bool) {
        if (leaf != result)
          return;
        foldable &= (reader == -1 || reader == int(j)) &&
                    AffineMap::get(index.size(), 0, index, kernel.getContext())
                        .isIdentity();
        reader = j;
      });
    if (reader < 0 || !foldable)
      continue;
    Stage &user = stages[reader];
    const graph::LoopNest &loops = nest(user.op);
    bool sameShape = loops.combine == graph::Combine::None &&
                     user.op->getNumResults() == 1 &&
                     shapeOf(user.op->getResult(0)) == shapeOf(result);
    // Whatever else the epilogue reads must exist before the contraction runs.
    bool ready = true;
    forEachRead(user, [&](Value leaf, ArrayRef<AffineExpr>, bool) {
      for (size_t j = i + 1; j < stages.size(); ++j)
        for (Value late : stages[j].op->getResults())
          ready &= leaf != late;
    });
    if (!sameShape || !ready)
      continue;
    stage.epilogue = user.op;
    placements.erase(result);
    stages.erase(stages.begin() + reader);
  }
}

/// Stages that go over the same points one after the other become one: what is
/// elementwise on a pooled value or a sum, the two new values of an optimizer.
void KernelPlan::mergeFollowers() {
  for (size_t i = 0; i + 1 < stages.size();) {
    Stage &stage = stages[i];
    const Stage &next = stages[i + 1];
    const graph::LoopNest &loops = nest(stage.op), &own = nest(next.op);
    bool merge = !stage.contraction && !next.contraction && !stage.sequential &&
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
                                                      kernel.getContext())
                                           .isIdentity();
                });
    if (!merge || !reads) {
      ++i;
      continue;
    }
    stage.followers.push_back(next.op);
    stages.erase(stages.begin() + i + 1);
  }
  // What only followers read stays in registers.
  llvm::DenseSet<Value> read;
  for (const Stage &stage : stages) {
    forEachRead(stage, [&](Value leaf, ArrayRef<AffineExpr>, bool) {
      read.insert(leaf);
    });
    if (stage.contraction) // stores what it makes
      for (OpResult result : stage.results())
        read.insert(result);
  }
  placements.remove_if([&](const auto &placed) {
    return placed.second.kind == ValuePlacement::Scratch &&
           !read.contains(placed.first);
  });
}

void KernelPlan::placeScratch() {
  for (auto &[value, placement] : placements) {
    if (placement.kind != ValuePlacement::Scratch)
      continue;
    SmallVector<int64_t> box(shapeOf(value));
    for (auto [extent, bound] : llvm::zip(box, placement.binding))
      if (bound.grid >= 0)
        extent = std::min<int64_t>(
            extent, llvm::divideCeil(tileSizes[bound.grid], bound.step));
    placement.strides = stridesOf(box, orderOf(value));
    int64_t elements = 1;
    for (int64_t extent : box)
      elements *= extent;
    auto type = cast<RankedTensorType>(value.getType()).getElementType();
    placement.scratchOffset = scratchBytes;
    // Room for whole vectors at the end.
    scratchBytes +=
        llvm::alignTo(elements * graph::elementBytes(type) + 64, 64);
  }
  packOffset = scratchBytes;
  int64_t panels = 0; // stages run one after the other and share this part
  for (const Stage &stage : stages)
    if (stage.contraction)
      panels =
          std::max(panels, ContractForm::of(*this, stage).scratch(*this).bytes);
    else if (stage.sequential)
      panels = std::max(panels, SequentialStage::scratchBytes(*this, stage));
  scratchBytes += panels;
}

void KernelPlan::countCost() {
  for (Operation &op : kernel.getBody().front().without_terminator())
    if (auto cost = dyn_cast<graph::CostOpInterface>(op))
      flops += cost.getFlops();
  llvm::SmallPtrSet<void *, 8> seen; // an operand may be bound several times
  for (auto &[value, placement] : placements)
    if (placement.kind == ValuePlacement::Result ||
        (placement.kind == ValuePlacement::Operand &&
         seen.insert(kernel->getOperand(placement.number).getAsOpaquePointer())
             .second))
      bytes += bytesOf(value);
}

} // namespace dl::cpu
