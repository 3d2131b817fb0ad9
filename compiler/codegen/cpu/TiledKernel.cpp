#include "compiler/codegen/cpu/TiledKernel.h"
#include "compiler/codegen/cpu/ContractForm.h"
#include "compiler/codegen/cpu/SequentialStage.h"
#include "compiler/codegen/kernel/LinearOperand.h"
#include "dialects/graph/Inference.h"
#include "dialects/graph/TensorBytes.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace mlir;

namespace dl::cpu {

/// Tiles are not cut narrower than so many vectors along the innermost dim.
static constexpr int64_t kVectorsOfTile = 2;
/// Nor where long columns are summed: of each row of so many bytes, on a page
/// of its own where rows are long, several lines are read then.
static constexpr int64_t kVectorsOfColumns = 8, kLongColumn = 256,
                         kLongRow = 256;
/// Tiles, at most, where each makes sums of its own that others make, too: for
/// as many threads.
static constexpr int64_t kRepeatingTiles = 8;
/// Elements of a row that go where indices say: less of each row than some
/// lines of memory is fetched in more than twice the time.
static constexpr int64_t kPlacesOfTile = 32;

/// Vectors hold elements that are f64. A single number that is computed in f64
/// and rounded, as an optimizer's, does not matter: it is the same in all
/// lanes.
static bool hasWideDoubles(const KernelBody &kernel) {
  auto isDouble = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getElementType().isF64();
  };
  if (llvm::any_of(kernel.op().getResults(), isDouble))
    return true;
  for (Operation &op : kernel.ops())
    for (Value result : op.getResults())
      if (cast<RankedTensorType>(result.getType()).getNumElements() != 1 &&
          (isDouble(result) || llvm::any_of(op.getOperands(), isDouble)))
        return true;
  return false;
}

Processor Processor::of(const KernelBody &kernel,
                        const plan::MachineModel &machine) {
  return {&machine, hasWideDoubles(kernel) ? 8u : 16u};
}

/// Whether there are products of which `concerns` is true, and all of them fit.
static bool allProducts(const StagedKernel &kernel, const Processor &processor,
                        llvm::function_ref<bool(const ContractForm &)> concerns,
                        llvm::function_ref<bool(const ContractForm &)> fits) {
  bool any = false;
  // Where they do not, another way is tried: nothing to tell anybody of.
  ScopedDiagnosticHandler silence(kernel.op()->getContext(),
                                  [](Diagnostic &) { return success(); });
  for (const Stage &stage : kernel.stages()) {
    if (!stage.contraction)
      continue;
    auto form = ContractForm::create(kernel, stage, processor);
    if (failed(form))
      return false;
    if (concerns(*form)) {
      any = true;
      if (!fits(*form))
        return false;
    }
  }
  return any;
}

/// What all products of a kernel round they pack: no element is rounded for
/// each use.
static bool roundsWhatItPacks(const StagedKernel &kernel,
                              const Processor &processor) {
  return allProducts(
      kernel, processor,
      [](const ContractForm &form) {
        return form.scalar.rounds || form.lane.rounds;
      },
      [](const ContractForm &form) { return form.is<BlockedProduct>(); });
}

/// What products read that is stored as bf16 each reads once: nothing is gained
/// by a copy.
static bool widensWhatItReads(const StagedKernel &kernel,
                              const Processor &processor) {
  return allProducts(
      kernel, processor,
      [](const ContractForm &form) {
        return form.scalar.isNarrow || form.lane.isNarrow;
      },
      [](const ContractForm &form) { return form.widensLanes(); });
}

static bool hasBf16(const KernelBody &body) {
  auto isNarrow = [](Value value) { return graph::elementOf(value).isBF16(); };
  return llvm::any_of(body.ops(), [&](Operation &op) {
    return isNarrow(op.getResult(0)) ||
           llvm::any_of(op.getOperands(), isNarrow);
  });
}

FailureOr<TiledKernel> TiledKernel::create(graph::KernelOp kernel,
                                           const plan::MachineModel &machine) {
  FailureOr<KernelBody> body = KernelBody::create(kernel);
  if (failed(body))
    return failure();
  Processor processor = Processor::of(*body, machine);
  if (hasBf16(*body)) {
    StagedKernel rounding(*body, kernel::ProductReaders::Rounding);
    if (roundsWhatItPacks(rounding, processor))
      return TiledKernel(BoundKernel(std::move(rounding)), processor);
    StagedKernel widening(*body, kernel::ProductReaders::Widening);
    if (widensWhatItReads(widening, processor))
      return TiledKernel(BoundKernel(std::move(widening)), processor);
  }
  StagedKernel staged(std::move(*body));
  for (const Stage &stage : staged.stages())
    if (stage.contraction &&
        failed(ContractForm::create(staged, stage, processor)))
      return failure();
  return TiledKernel(BoundKernel(std::move(staged)), processor);
}

TiledKernel::TiledKernel(BoundKernel bound, Processor processor)
    : BoundKernel(std::move(bound)), onProcessor(processor) {
  chooseTiles();
  placeScratch();
}

int64_t TiledKernel::numTiles() const {
  auto limit = op()->getAttrOfType<IntegerAttr>("max_tiles");
  return limit ? std::min(limit.getInt(), gridTiles()) : gridTiles();
}

int64_t TiledKernel::gridTiles() const {
  int64_t count = 1;
  for (auto [dim, tile] : llvm::zip(grid(), sizes))
    count *= (dim.extent + tile - 1) / tile;
  return count;
}

/// Elements from one index of each of the root's loops to the next, in what it
/// reads from a buffer; nothing where that differs from index to index.
std::optional<SmallVector<int64_t, 8>>
TiledKernel::stepsInMemory(Value leaf, ArrayRef<AffineExpr> index) const {
  SmallVector<int64_t, 8> steps(nest(root().op).extents.size(), 0);
  int64_t constant = 0;
  if (isInScratch(leaf))
    return std::nullopt;
  for (auto [expr, stride] : llvm::zip(index, placement(leaf).strides))
    if (failed(kernel::addLinear(expr, stride, steps, constant)))
      return std::nullopt;
  return steps;
}

/// The root sums over rows, and what it reads lies along its innermost dim.
bool TiledKernel::sumsLongColumns() const {
  const graph::LoopNest &loops = nest(root().op);
  int64_t rows = 1;
  for (int64_t extent : ArrayRef(loops.extents).drop_front(loops.numParallel))
    rows *= extent;
  if (loops.combine != graph::Combine::Sum || root().sequential ||
      rows < kLongColumn || loops.numParallel == 0)
    return false;
  bool found = false;
  forEachRead(root(), [&](Value leaf, ArrayRef<AffineExpr> index, bool) {
    auto steps = stepsInMemory(leaf, index);
    if (!steps)
      return;
    int64_t row = steps->back() *
                  graph::elementBytes(
                      cast<RankedTensorType>(leaf.getType()).getElementType());
    found |= (*steps)[loops.numParallel - 1] == 1 && row >= kLongRow;
  });
  return found;
}

/// What lies across the result's innermost dim is transposed in squares
/// (LoopsSquares.cpp): tiles have vectors of the dim along which it lies, too.
void TiledKernel::keepSquares(MutableArrayRef<int64_t> steps) const {
  const graph::LoopNest &loops = nest(root().op);
  Value result = root().storedOp()->getResult(0);
  if (root().sequential || loops.combine != graph::Combine::None ||
      !isPlaced(result) || isInScratch(result))
    return;
  std::optional<unsigned> innermost;
  for (auto [d, stride] : llvm::enumerate(placement(result).strides))
    if (stride == 1 && loops.extents[d] > 1)
      innermost = d;
  if (!innermost)
    return;
  forEachRead(root(), [&](Value leaf, ArrayRef<AffineExpr> index, bool) {
    auto along = stepsInMemory(leaf, index);
    if (!along || llvm::is_contained({0, 1, 2}, (*along)[*innermost]))
      return;
    for (auto [d, part] : llvm::enumerate(parts(root())))
      if ((*along)[d] == 1 && part.grid)
        steps[*part.grid] = std::max(
            steps[*part.grid], std::min<int64_t>(loops.extents[d], lanes()));
  });
}

/// A product reads what another one leaves in the scratch.
bool TiledKernel::isChain() const {
  return llvm::count_if(stages(),
                        [](const Stage &s) { return s.contraction; }) > 1;
}

/// Each part of the dim would add up all of what a stage sums, if that has no
/// part of it: the statistics of a group, of which many elements are made.
bool TiledKernel::repeatsSums(unsigned dim) const {
  if (hasContraction())
    return false;
  int64_t all = nest(root().op).points();
  return llvm::any_of(stages(), [&](const Stage &stage) {
    const graph::LoopNest &loops = nest(stage.op);
    return &stage != &root() && loops.extents.size() > loops.numParallel &&
           loops.points() >= all / 4 &&
           llvm::none_of(parts(stage), [&](const GridPart &part) {
             return part.grid == dim;
           });
  });
}

/// Into how many parts the dim may be cut, for what each of them repeats. Where
/// the root puts rows to where an index says, each part looks at all indices,
/// which takes as long as adding an element.
int64_t TiledKernel::mostParts(unsigned dim) const {
  const graph::LoopNest &loops = nest(root().op);
  if (loops.scatter && parts(root())[loops.scatter->at].grid == dim) {
    int64_t row = 1;
    for (unsigned d = 0; d < loops.numParallel; ++d)
      if (d != loops.scatter->at && !loops.accesses[0].map.isFunctionOfDim(d))
        row *= loops.extents[d];
    return std::min(kRepeatingTiles, row);
  }
  return repeatsSums(dim) ? kRepeatingTiles
                          : std::numeric_limits<int64_t>::max();
}

/// The root puts each element of a row at a place of its own.
bool TiledKernel::placesAlongRow() const {
  const graph::LoopNest &loops = nest(root().op);
  if (!loops.scatter || loops.numParallel < 2)
    return false;
  unsigned last = loops.numParallel - 1;
  return last != loops.scatter->at &&
         loops.accesses[0].map.isFunctionOfDim(last);
}

void TiledKernel::chooseTiles() {
  SmallVector<int64_t> steps(grid().size(), 1);
  int64_t work = 0, waiting = 0;
  for (const Stage &stage : stages()) {
    const graph::LoopNest &loops = nest(stage.op);
    work += 2 * loops.points() * (1 + stage.sumsBeside.size());
    if (&stage == &root() && stage.sequential && !steps.empty())
      steps.back() =
          placesAlongRow() ? kPlacesOfTile : 4 * lanes(); // runs of a row
    for (Operation *follower : stage.followers)
      work += 2 * graph::numElements(follower->getResult(0));
    if (!stage.contraction)
      continue;
    if (&stage == &root())
      steps = ContractForm::create(*this, stage, onProcessor)->tileSteps(*this);
    Value result = stage.storedOp()->getResult(0);
    if (isInScratch(result))
      waiting += graph::tensorBytes(result.getType());
  }
  // A part of a vector takes as long as a whole one, and a column that is
  // summed alone reads a line of memory for each of its elements.
  if (!hasContraction() && !cutOrder().empty()) {
    int64_t &innermost = steps[cutOrder().back()];
    innermost = std::max<int64_t>(
        innermost,
        (sumsLongColumns() ? kVectorsOfColumns : kVectorsOfTile) * lanes());
    keepSquares(steps);
  }
  for (auto [step, dim] : llvm::zip(steps, grid()))
    step = std::lcm(step, dim.block);
  if (!hasContraction())
    work *= 4; // memory-bound: a point costs more than an FMA
  // Tiles of less work are no loss to one thread, which runs many at a call.
  const plan::MachineModel &machine = *onProcessor.machine;
  int64_t worth = std::max(work / machine.tileFlops,
                           waiting / (isChain() ? machine.chainTileBytes
                                                : machine.tileScratchBytes));
  int64_t most = waiting > 0 ? machine.maxScratchTiles : machine.maxTiles;
  // From the outermost dim: cut into single steps while tiles stay worth it.
  for (const kernel::GridDim &dim : grid())
    sizes.push_back(dim.extent);
  int64_t tiles = 1;
  for (unsigned d : cutOrder()) {
    int64_t extent = grid()[d].extent;
    if (!grid()[d].canCut)
      continue;
    int64_t units = (extent + steps[d] - 1) / steps[d];
    int64_t wanted = std::min(worth / tiles, most / tiles);
    wanted = std::min(wanted, mostParts(d) / tiles);
    int64_t parts = std::clamp<int64_t>(wanted, 1, units);
    int64_t size = (units + parts - 1) / parts * steps[d];
    sizes[d] = std::min(size, extent);
    tiles *= (extent + sizes[d] - 1) / sizes[d];
  }
}

void TiledKernel::placeScratch() {
  for (auto &[value, placement] : placements()) {
    if (placement.kind != Placement::Scratch)
      continue;
    SmallVector<int64_t, 6> box = boxOf(value, sizes);
    int64_t elements = 1;
    for (int64_t extent : box)
      elements *= extent;
    auto type = cast<RankedTensorType>(value.getType()).getElementType();
    scratch[value] = {allScratchBytes, stridesOf(box, orderOf(value))};
    // Room for whole vectors at the end.
    allScratchBytes +=
        llvm::alignTo(elements * graph::elementBytes(type) + 64, 64);
  }
  packedFrom = allScratchBytes;
  int64_t panels = 0; // stages run one after the other and share this part
  for (const Stage &stage : stages())
    if (stage.contraction)
      panels =
          std::max(panels, ContractForm::of(*this, stage).scratch(*this).bytes);
    else if (stage.sequential)
      panels = std::max(panels, SequentialStage::scratchBytes(*this, stage));
  allScratchBytes += panels;
}

} // namespace dl::cpu
