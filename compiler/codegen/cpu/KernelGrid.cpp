// Which part of each value a tile computes: binding of dims to the grid, and tile sizes.

#include "compiler/codegen/cpu/ContractForm.h"
#include "compiler/codegen/cpu/KernelPlan.h"

using namespace mlir;

namespace dl::codegen {

static int64_t numElements(Value value) {
  return cast<RankedTensorType>(value.getType()).getNumElements();
}

/// The stage whose result dims are the grid: the contraction, else the largest result.
static const Stage *rootStage(const KernelPlan &plan) {
  const Stage *root = nullptr;
  int64_t largest = -1;
  for (const Stage &stage : plan.stages) {
    if (stage.contraction)
      return &stage;
    for (Value result : stage.op->getResults()) {
      auto it = plan.placements.find(result);
      if (it == plan.placements.end() ||
          it->second.kind != ValuePlacement::Result)
        continue;
      if (numElements(result) > largest)
        root = &stage, largest = numElements(result);
    }
  }
  return root;
}

/// Propagates bindings from the root through identity accesses, both to what a
/// stage reads and to the stages that read it.
void KernelPlan::bindGrid() {
  Stage *root = const_cast<Stage *>(rootStage(*this));
  llvm::DenseSet<Stage *> bound;
  auto bind = [&](Stage &stage, ArrayRef<int> dims) {
    const graph::LoopNest &loops = nest(stage.op);
    stage.binding.assign(loops.extents.size(), -1);
    std::copy(dims.begin(), dims.end(), stage.binding.begin());
    for (Value result : stage.storedOp()->getResults())
      if (auto it = placements.find(result); it != placements.end())
        it->second.binding.assign(dims.begin(), dims.end());
    bound.insert(&stage);
  };
  auto producer = [&](Value value) -> Stage * {
    for (Stage &stage : stages)
      if (value.getDefiningOp() == stage.storedOp())
        return &stage;
    return nullptr;
  };

  const graph::LoopNest &loops = nest(root->op);
  SmallVector<int> identity;
  for (unsigned d = 0; d < loops.numParallel; ++d) {
    identity.push_back(d);
    gridExtents.push_back(loops.extents[d]);
  }
  bind(*root, identity);

  for (bool changed = true; changed;) {
    changed = false;
    for (Stage &stage : stages)
      forEachRead(stage, [&](Value leaf, ArrayRef<AffineExpr> index, bool) {
        Stage *from = producer(leaf);
        if (!from || bound.contains(&stage) == bound.contains(from))
          return;
        bool down = bound.contains(&stage);
        const graph::LoopNest &own = nest(stage.op);
        SmallVector<int> dims(down ? index.size() : own.numParallel, -1);
        for (auto [e, expr] : llvm::enumerate(index)) {
          auto dim = dyn_cast<AffineDimExpr>(expr);
          if (!dim || dim.getPosition() >= own.numParallel ||
              cast<RankedTensorType>(leaf.getType()).getDimSize(e) !=
                  own.extents[dim.getPosition()]) // a slice, or a part of a cat
            continue;
          if (down)
            dims[e] = stage.binding[dim.getPosition()];
          else
            dims[dim.getPosition()] = from->binding[e];
        }
        bind(down ? *from : stage, dims);
        changed = true;
      });
  }
  // A stage that shares nothing with the rest, but has the grid's shape.
  for (Stage &stage : stages)
    if (!bound.contains(&stage)) {
      const graph::LoopNest &own = nest(stage.op);
      auto extents = ArrayRef(own.extents).take_front(own.numParallel);
      bind(stage, extents == ArrayRef(gridExtents)
                      ? ArrayRef(identity)
                      : ArrayRef<int>(SmallVector<int>(own.numParallel, -1)));
    }
}

/// A grid dim can be cut only where every reader needs just its own part and
/// every result is cut with it. Tile size 0 marks a dim that may be cut.
void KernelPlan::untileConflicts() {
  tileSizes.assign(gridExtents.size(), 0);
  auto untile = [&](int grid) {
    if (grid >= 0)
      tileSizes[grid] = gridExtents[grid];
  };
  for (const Stage &stage : stages)
    forEachRead(stage, [&](Value leaf, ArrayRef<AffineExpr> index, bool) {
      const ValuePlacement &placement = placements.find(leaf)->second;
      if (placement.kind == ValuePlacement::Operand)
        return;
      for (auto [e, expr] : llvm::enumerate(index)) {
        int grid = placement.binding[e];
        auto dim = dyn_cast<AffineDimExpr>(expr);
        if (grid >= 0 && (!dim || stage.binding[dim.getPosition()] != grid))
          untile(grid);
      }
    });
  for (auto &[value, placement] : placements)
    if (placement.kind == ValuePlacement::Result)
      for (int grid = 0; grid < int(gridExtents.size()); ++grid)
        if (!llvm::is_contained(placement.binding, grid))
          untile(grid);
}

/// One tile of about this many floating-point operations is worth handing to a
/// thread: ~2 us of a core at its peak, ~20 us of scalar-heavy code.
static constexpr int64_t kTileWork = 1 << 17;
static constexpr int64_t kMaxTiles = 256;

/// The grid's dims as they lie in memory, outermost first.
SmallVector<unsigned> KernelPlan::gridOrder() const {
  auto dims = llvm::to_vector(llvm::seq<unsigned>(0, gridExtents.size()));
  DenseI64ArrayAttr order =
      orderOf(rootStage(*this)->storedOp()->getResult(0));
  if (order)
    for (auto [d, from] : llvm::zip(dims, order.asArrayRef()))
      d = from;
  return dims;
}

void KernelPlan::chooseTiles() {
  SmallVector<int64_t> steps(gridExtents.size(), 1);
  int64_t work = 0;
  for (const Stage &stage : stages) {
    const graph::LoopNest &loops = nest(stage.op);
    int64_t points = 1;
    for (int64_t extent : loops.extents)
      points *= extent;
    work += 2 * points;
    if (stage.contraction)
      steps = ContractForm::create(*this, stage).tileSteps(*this);
  }
  bool elementwise = strategy() == "loops";
  if (elementwise)
    work *= 4; // memory-bound: a point costs more than an FMA
  int64_t most = kMaxTiles;
  if (auto limit = kernel->getAttrOfType<IntegerAttr>("max_tiles"))
    most = std::min(most, limit.getInt());
  // From the outermost dim: cut into single steps while tiles stay worth it.
  int64_t tiles = 1;
  for (unsigned d : gridOrder()) {
    if (tileSizes[d] != 0)
      continue;
    int64_t units = (gridExtents[d] + steps[d] - 1) / steps[d];
    int64_t wanted = std::min(work / (tiles * kTileWork), most / tiles);
    int64_t parts = std::clamp<int64_t>(wanted, 1, units);
    int64_t size = (units + parts - 1) / parts * steps[d];
    tileSizes[d] = std::min(size, gridExtents[d]);
    tiles *= (gridExtents[d] + tileSizes[d] - 1) / tileSizes[d];
  }
}

} // namespace dl::codegen
