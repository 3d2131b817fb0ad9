// Which part of each value a tile computes: binding of dims to the grid, and
// tile sizes.

#include "compiler/codegen/cpu/ContractForm.h"
#include "compiler/codegen/cpu/KernelPlan.h"

using namespace mlir;

namespace dl::cpu {

static int64_t numElements(Value value) {
  return cast<RankedTensorType>(value.getType()).getNumElements();
}

/// The stage whose result dims are the grid: the contraction, else the largest
/// result.
static const Stage *rootStage(const KernelPlan &plan) {
  const Stage *root = nullptr;
  int64_t largest = -1;
  for (const Stage &stage : plan.stages) {
    if (stage.contraction)
      return &stage;
    for (OpResult result : stage.results()) {
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
  auto bind = [&](Stage &stage, ArrayRef<GridPart> dims) {
    const graph::LoopNest &loops = nest(stage.op);
    stage.binding.assign(loops.extents.size(), {});
    std::copy(dims.begin(), dims.end(), stage.binding.begin());
    for (OpResult result : stage.results())
      if (auto it = placements.find(result); it != placements.end())
        it->second.binding.assign(dims.begin(), dims.end());
    bound.insert(&stage);
  };
  auto producer = [&](Value value) -> Stage * {
    for (Stage &stage : stages)
      if (stage.makes(value))
        return &stage;
    return nullptr;
  };

  const graph::LoopNest &loops = nest(root->op);
  SmallVector<GridPart> identity;
  for (unsigned d = 0; d < loops.numParallel; ++d) {
    identity.push_back({int(d)});
    gridExtents.push_back(loops.extents[d]);
  }
  gridBlocks.assign(gridExtents.size(), 1);
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
        SmallVector<GridPart> dims(down ? index.size() : own.numParallel);
        for (auto [e, expr] : llvm::enumerate(index)) {
          auto block = graph::blockIndex(expr, own);
          int64_t extent = shapeOf(leaf)[e];
          if (!block || own.extents[block->dim] < extent / block->size ||
              own.extents[block->dim] > // a slice, or a part of a cat
                  int64_t(llvm::divideCeil(extent, block->size)))
            continue;
          if (down && block->size == 1)
            dims[e] = stage.binding[block->dim];
          if (down || from->binding[e].grid < 0)
            continue;
          GridPart bound = from->binding[e];
          int64_t &step = gridBlocks[bound.grid];
          bound.step *= block->size;
          if (step != 1 && bound.step != 1 && step != bound.step)
            continue; // windows of another size
          step = std::max(step, bound.step);
          dims[block->dim] = bound;
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
                      : ArrayRef(SmallVector<GridPart>(own.numParallel)));
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
        GridPart bound = placement.binding[e];
        auto block = graph::blockIndex(expr, nest(stage.op));
        if (block)
          bound.step *= block->size;
        if (bound.grid >= 0 &&
            (!block || !(stage.binding[block->dim] == bound)))
          untile(bound.grid);
      }
    });
  for (const Stage &stage : stages) {
    // (A tile can have some of the indices that are added to.)
    const graph::LoopNest &loops = nest(stage.op);
    if (loops.ordered)
      untile(stage.binding[loops.ordered->at].grid);
    if (loops.sparse && loops.sparse->kind != graph::Sparse::Scatter)
      untile(stage.binding[loops.sparse->at].grid);
  }
  for (auto &[value, placement] : placements)
    if (placement.kind == ValuePlacement::Result)
      for (int grid = 0; grid < int(gridExtents.size()); ++grid)
        if (llvm::none_of(placement.binding,
                          [&](GridPart bound) { return bound.grid == grid; }))
          untile(grid);
}

/// Which of the grid's dims is cut first: as they lie in memory, outermost
/// first. Of a product as they are numbered: tiles that run one after the other
/// then have the same images.
SmallVector<unsigned> KernelPlan::gridOrder() const {
  auto dims = llvm::to_vector(llvm::seq<unsigned>(0, gridExtents.size()));
  if (strategy() == "contract")
    return dims;
  const Stage *root = rootStage(*this);
  auto order = orderOf(root->storedOp()->getResult(0));
  if (!order.empty())
    dims.assign(order.begin(), order.end());
  // Each part of the indices that are added to reads all of them.
  if (const auto &sparse = nest(root->op).sparse) {
    llvm::erase(dims, sparse->at);
    dims.push_back(sparse->at);
  }
  return dims;
}

void KernelPlan::chooseTiles() {
  SmallVector<int64_t> steps(gridExtents.size(), 1);
  int64_t work = 0, scratch = 0;
  const Stage *root = rootStage(*this);
  for (const Stage &stage : stages) {
    const graph::LoopNest &loops = nest(stage.op);
    work += 2 * loops.points();
    if (&stage == root && stage.sequential && !steps.empty())
      steps.back() = 4 * lanes; // runs of a row
    for (Operation *follower : stage.followers)
      work += 2 * numElements(follower->getResult(0));
    if (!stage.contraction)
      continue;
    steps = ContractForm::of(*this, stage).tileSteps(*this);
    Value result = stage.storedOp()->getResult(0);
    if (placements.find(result)->second.kind == ValuePlacement::Scratch)
      scratch = bytesOf(result);
  }
  for (auto [step, block] : llvm::zip(steps, gridBlocks))
    step = std::lcm(step, block);
  bool elementwise = strategy() == "loops";
  if (elementwise)
    work *= 4; // memory-bound: a point costs more than an FMA
  // Tiles of less work are no loss to one thread, which runs many at a call.
  int64_t worth =
      std::max(work / machine->tileFlops, scratch / machine->tileScratchBytes);
  int64_t most = scratch > 0 ? machine->maxScratchTiles : machine->maxTiles;
  // From the outermost dim: cut into single steps while tiles stay worth it.
  int64_t tiles = 1;
  for (unsigned d : gridOrder()) {
    if (tileSizes[d] != 0)
      continue;
    int64_t units = (gridExtents[d] + steps[d] - 1) / steps[d];
    int64_t wanted = std::min(worth / tiles, most / tiles);
    int64_t parts = std::clamp<int64_t>(wanted, 1, units);
    int64_t size = (units + parts - 1) / parts * steps[d];
    tileSizes[d] = std::min(size, gridExtents[d]);
    tiles *= (gridExtents[d] + tileSizes[d] - 1) / tileSizes[d];
  }
}

} // namespace dl::cpu
