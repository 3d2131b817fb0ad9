#include "compiler/codegen/kernel/BoundKernel.h"
#include "dialects/graph/Check.h"
#include "dialects/graph/Inference.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;

namespace dl::kernel {

BoundKernel::BoundKernel(StagedKernel staged)
    : StagedKernel(std::move(staged)), rootNumber(findRoot()) {
  for (const auto &[value, placement] : placements())
    valueParts[value].resize(shapeOf(value).size());
  bindStages();
  if (streamsColumns())
    bindTotals();
  findUncut();
}

size_t BoundKernel::findRoot() const {
  std::optional<size_t> root;
  int64_t largest = -1;
  for (auto [number, stage] : llvm::enumerate(stages())) {
    if (stage.contraction)
      return number;
    for (OpResult result : stage.results())
      if (isPlaced(result) && placement(result).kind == Placement::Result &&
          graph::numElements(result) > largest)
        root = number, largest = graph::numElements(result);
  }
  DL_CHECK(root, "a kernel has a result");
  return *root;
}

void BoundKernel::bind(size_t number, ArrayRef<GridPart> parts) {
  const Stage &stage = stages()[number];
  stageParts[number].assign(nest(stage.op).extents.size(), {});
  llvm::copy(parts, stageParts[number].begin());
  for (OpResult result : stage.results())
    if (isPlaced(result))
      valueParts[result].assign(parts.begin(), parts.end());
}

/// A stage reads it by each of its result's dims, and sums over none.
bool BoundKernel::saysAll(size_t stage, ArrayRef<AffineExpr> index) const {
  const graph::LoopNest &loops = nest(stages()[stage].op);
  llvm::SmallBitVector said(loops.extents.size());
  for (AffineExpr expr : index)
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      said.set(dim.getPosition());
  for (auto [d, extent] : llvm::enumerate(loops.extents))
    if (extent > 1 && said.test(d) != (d < loops.numParallel))
      return false;
  return true;
}

/// From the root through identity accesses, both to what a stage reads and to
/// the stages that read it.
void BoundKernel::bindStages() {
  stageParts.resize(stages().size());
  const graph::LoopNest &loops = nest(root().op);
  GridParts identity;
  for (unsigned d = 0; d < loops.numParallel; ++d) {
    identity.push_back({d});
    dims.push_back({loops.extents[d]});
  }
  bind(rootNumber, identity);
  std::vector<bool> isBound(stages().size());
  isBound[rootNumber] = true;
  // Columns are no dim of what adds them up, nor of the total: whoever goes
  // over them element by element says more.
  if (streamsColumns())
    spread(isBound, /*fully=*/true);
  spread(isBound, /*fully=*/false);
  // Stages that share nothing with the rest, but leading dims of the grid: a
  // sum of rows beside what is elementwise on them; an elementwise op on what
  // the root reads, and then what that one alone reads.
  while (llvm::is_contained(isBound, false)) {
    size_t nearest = 0;
    int most = -1;
    for (size_t number = 0; number < stages().size(); ++number)
      if (int shared = sharedDims(number); !isBound[number] && shared > most)
        nearest = number, most = shared;
    GridParts parts(nest(stages()[nearest].op).numParallel);
    std::copy_n(identity.begin(), most, parts.begin());
    bind(nearest, parts);
    isBound[nearest] = true;
    spread(isBound, /*fully=*/false);
  }
}

/// Leading dims of a stage's result that are those of the grid.
int BoundKernel::sharedDims(size_t stage) const {
  const graph::LoopNest &own = nest(stages()[stage].op);
  size_t shared = 0;
  while (shared < std::min<size_t>(own.numParallel, dims.size()) &&
         own.extents[shared] == dims[shared].extent)
    ++shared;
  return static_cast<int>(shared);
}

/// To what bound stages read, and to stages that read what is bound; `fully`:
/// where that binds all dims.
void BoundKernel::spread(std::vector<bool> &isBound, bool fully) {
  for (bool changed = true; changed;) {
    changed = false;
    for (auto [number, stage] : llvm::enumerate(stages()))
      forEachRead(stage, [&](Value leaf, ArrayRef<AffineExpr> index, bool) {
        const Stage *maker = llvm::find_if(
            stages(), [&](const Stage &other) { return other.makes(leaf); });
        if (maker == stages().end())
          return;
        size_t from = numberOf(*maker);
        if (isBound[number] == isBound[from] ||
            (fully && !saysAll(number, index)))
          return;
        bool down = isBound[number]; // to what is read
        bind(down ? from : number, down ? partsRead(number, leaf, index)
                                        : partsOfReader(number, leaf, index));
        isBound[from] = isBound[number] = changed = true;
      });
  }
}

/// The block of indices that a dim of the reader stands for, if it goes over
/// all of what is read: not over a slice, or a part of a cat.
static std::optional<graph::BlockIndex>
wholeBlock(AffineExpr expr, const graph::LoopNest &reader, int64_t extent) {
  auto block = graph::blockIndex(expr, reader);
  if (!block || reader.extents[block->dim] < extent / block->size ||
      reader.extents[block->dim] >
          int64_t(llvm::divideCeil(extent, block->size)))
    return std::nullopt;
  return block;
}

GridParts BoundKernel::partsRead(size_t reader, Value leaf,
                                 ArrayRef<AffineExpr> index) const {
  GridParts parts(index.size());
  auto shape = shapeOf(leaf);
  for (auto [e, expr] : llvm::enumerate(index)) {
    auto block = wholeBlock(expr, nest(stages()[reader].op), shape[e]);
    if (block && block->size == 1)
      parts[e] = stageParts[reader][block->dim];
  }
  return parts;
}

GridParts BoundKernel::partsOfReader(size_t reader, Value leaf,
                                     ArrayRef<AffineExpr> index) {
  const graph::LoopNest &own = nest(stages()[reader].op);
  GridParts result(own.numParallel);
  auto shape = shapeOf(leaf);
  for (auto [e, expr] : llvm::enumerate(index)) {
    auto block = wholeBlock(expr, own, shape[e]);
    GridPart part = parts(leaf)[e];
    if (!block || !part.grid)
      continue;
    int64_t &step = dims[*part.grid].block;
    part.step *= block->size;
    if (step != 1 && part.step != 1 && step != part.step)
      continue; // windows of another size
    step = std::max(step, part.step);
    result[block->dim] = part;
  }
  return result;
}

/// Sums over columns go over those of a block at a time.
void BoundKernel::bindTotals() {
  unsigned column = dims.size() - 1;
  for (auto [number, stage] : llvm::enumerate(stages()))
    forEachRead(stage, [&](Value leaf, ArrayRef<AffineExpr> index, bool) {
      if (placement(leaf).kind == Placement::Operand)
        return;
      for (auto [e, expr] : llvm::enumerate(index)) {
        const graph::LoopNest &loops = nest(stage.op);
        auto dim = dyn_cast<AffineDimExpr>(expr);
        if (dim && dim.getPosition() >= loops.numParallel &&
            loops.extents[dim.getPosition()] == shapeOf(leaf)[e] &&
            parts(leaf)[e] == GridPart{column})
          stageParts[number][dim.getPosition()] = {column};
      }
    });
  if (canStream(column))
    columnDim = column;
}

bool BoundKernel::isTotal(const Stage &stage) const {
  auto summed = ArrayRef(stageParts[numberOf(stage)])
                    .drop_front(nest(stage.op).numParallel);
  return columnDim && llvm::is_contained(summed, GridPart{*columnDim});
}

/// Each stage reads of each value the columns that it goes over itself, and
/// what it makes of all of them is a number that blocks of them add up to.
bool BoundKernel::canStream(unsigned column) const {
  if (auto inplace = op().getInplace();
      inplace && llvm::any_of(*inplace, [](int64_t i) { return i >= 0; }))
    return false; // what a later pass reads again would be another value
  bool possible = true;
  for (const Stage &stage : stages()) {
    const graph::LoopNest &loops = nest(stage.op);
    auto own = parts(stage);
    possible &= !stage.sequential && !loops.replace && !loops.isIndirect() &&
                llvm::count(own, GridPart{column}) <= 1;
    forEachRead(stage, [&](Value leaf, ArrayRef<AffineExpr> index, bool) {
      if (placement(leaf).kind == Placement::Operand)
        return;
      for (auto [e, expr] : llvm::enumerate(index)) {
        if (parts(leaf)[e].grid != column)
          continue;
        auto dim = dyn_cast<AffineDimExpr>(expr);
        possible &= dim && parts(leaf)[e] == GridPart{column} &&
                    own[dim.getPosition()] == GridPart{column};
      }
    });
    if (llvm::is_contained(own.drop_front(loops.numParallel), GridPart{column}))
      possible &= (loops.combine == graph::Combine::Sum ||
                   loops.combine == graph::Combine::Max) &&
                  !loops.yieldsIndex && !stage.epilogue &&
                  stage.followers.empty();
  }
  return possible;
}

void BoundKernel::findUncut() {
  for (const Stage &stage : stages())
    forEachRead(stage, [&](Value leaf, ArrayRef<AffineExpr> index, bool) {
      if (placement(leaf).kind == Placement::Operand)
        return;
      for (auto [e, expr] : llvm::enumerate(index)) {
        GridPart bound = parts(leaf)[e];
        auto block = graph::blockIndex(expr, nest(stage.op));
        if (block)
          bound.step *= block->size;
        if (!block || parts(stage)[block->dim] != bound)
          cutNever(bound);
      }
    });
  for (const Stage &stage : stages()) {
    // (A tile can have some of the indices that are added to.)
    const graph::LoopNest &loops = nest(stage.op);
    if (loops.ordered)
      cutNever(parts(stage)[loops.ordered->at]);
    if (loops.scan)
      cutNever(parts(stage)[loops.scan->at]);
  }
  for (auto &[value, placement] : placements())
    if (placement.kind == Placement::Result)
      for (unsigned grid = 0; grid < dims.size(); ++grid)
        if (llvm::none_of(parts(value), [&](const GridPart &part) {
              return part.grid == grid;
            }))
          dims[grid].canCut = false;
}

SmallVector<int64_t, 6> BoundKernel::boxOf(Value placed,
                                           ArrayRef<int64_t> tileSizes) const {
  SmallVector<int64_t, 6> box(shapeOf(placed));
  for (auto [extent, part] : llvm::zip(box, parts(placed)))
    if (part.grid)
      extent = std::min<int64_t>(
          extent, llvm::divideCeil(tileSizes[*part.grid], part.step));
  return box;
}

SmallVector<int64_t, 6> BoundKernel::leastTile() const {
  SmallVector<int64_t, 6> sizes;
  for (const GridDim &dim : grid())
    sizes.push_back(dim.canCut ? dim.block : dim.extent);
  return sizes;
}

/// As they lie in memory, outermost first. Of a product as they are numbered:
/// tiles that run one after the other then have the same images.
SmallVector<unsigned> BoundKernel::cutOrder() const {
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, dims.size()));
  if (hasContraction())
    return order;
  auto stored = orderOf(root().storedOp()->getResult(0));
  if (!stored.empty())
    order.assign(stored.begin(), stored.end());
  // Each part of the indices that are added to reads all of them.
  if (const auto &scatter = nest(root().op).scatter) {
    llvm::erase(order, scatter->at);
    order.push_back(scatter->at);
  }
  return order;
}

} // namespace dl::kernel
