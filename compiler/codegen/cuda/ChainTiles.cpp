// How many rows of a chain's values a block of threads has, and how many of
// their columns at a time.
#include "compiler/codegen/cuda/BlockKernel.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <array>

using namespace mlir;

namespace dl::cuda {

/// What the steps of a chain's products have of shared memory, at most: sums
/// that come all at once wait less, and leave less to other blocks.
static constexpr std::array<int64_t, 3> kStepBytes = {24 << 10, 12 << 10,
                                                      40 << 10};
/// Of the chip that tiles are chosen for, whatever runs them.
static constexpr double kProcessors = 132;

/// As many rows of the chain's values as a block has shared memory for:
/// operands of its products are read once for all of them.
bool BlockKernel::chooseChain() {
  if (llvm::any_of(stages(), [](const Stage &s) { return s.sequential; }))
    return false;
  SmallVector<const Stage *> products;
  for (const Stage &stage : stages())
    if (stage.contraction)
      products.push_back(&stage);
  if (products.empty() ||
      (products.size() == 1 && !ContractForm::isWorthIt(*this, *products[0])))
    return false;
  std::optional<unsigned> rows;
  for (auto [d, dim] : llvm::enumerate(grid().drop_back()))
    if (dim.canCut && dim.block != 1)
      return false;
    else if (dim.canCut && dim.extent > 1)
      rows = d;
  if (!rows)
    return false;
  if (streamed())
    passes = ColumnPasses::of(*this);
  int64_t all = grid().back().extent;
  SmallVector<int64_t> blocks{all};
  if (streamed())
    blocks = {32, 64, 128, 256};
  double best = 0;
  std::optional<Tiles> chosen;
  auto consider = [&](const Tiles &tiles) {
    if (!tryChain(*rows, tiles) || !inShared)
      return;
    double time = chainCycles(nullptr);
    if (best == 0 || time < best)
      best = time, chosen = tiles;
  };
  for (int64_t columns : blocks)
    for (int64_t size : {32, 64, 128}) {
      if (size > 32 && size / 2 >= grid()[*rows].extent)
        break;
      for (int64_t steps : kStepBytes)
        for (bool keeps : {false, true})
          if (!keeps || streamed())
            consider({size, columns, steps, keeps});
    }
  // Values that are too large for shared memory wait in the workspace.
  if (tryChain(*rows, chosen ? *chosen
                             : Tiles{32, blocks.front(), kStepBytes.front()}))
    return true;
  sizes.clear(), chained.clear();
  return false;
}

/// Whether each product can be computed by blocks that have so many indices of
/// one dim of the grid, and of the last one at a time.
bool BlockKernel::tryChain(unsigned rows, const Tiles &tiles) {
  sizes.clear();
  for (auto [d, dim] : llvm::enumerate(grid()))
    sizes.push_back(d == rows                ? std::min(tiles.rows, dim.extent)
                    : dim.canCut && d < rows ? 1
                                             : dim.extent);
  sizes.back() = std::min(tiles.columns, sizes.back());
  return formChain(tiles, /*mayStay=*/true) &&
         (inShared || formChain(tiles, /*mayStay=*/false));
}

/// The forms of all products, and where values are.
bool BlockKernel::formChain(const Tiles &tiles, bool mayStay) {
  chained.clear();
  std::vector<std::optional<ContractForm>> forms(stages().size());
  std::optional<unsigned> threads;
  for (const Stage &stage : stages()) {
    if (!stage.contraction)
      continue;
    auto isFixed = [&](unsigned dim) {
      return tiles.keeps && mayStay && parts(stage)[dim].grid != streamed();
    };
    auto form = ContractForm::ofPart(*this, stage, tileExtents(stage),
                                     tiles.steps, mayStay, isFixed);
    if (!form || (threads && *threads != form->threads()))
      return false;
    threads = form->threads();
    forms[numberOf(stage)] = std::move(form);
  }
  chained = std::move(forms);
  numThreads = *threads;
  places.clear();
  layOutScratch();
  for (const Stage &stage : stages())
    if (auto &form = chained[numberOf(stage)])
      for (ContractForm::Side *side : {&form->rows, &form->columns})
        if (side->stays)
          side->stayingPitch = strides(side->made)[side->across];
  return true;
}

SmallVector<int64_t> BlockKernel::tileExtents(const Stage &stage) const {
  SmallVector<int64_t> extents;
  for (unsigned d = 0; d < nest(stage.op).extents.size(); ++d)
    extents.push_back(tileExtent(stage, d));
  return extents;
}

/// Of a processor of the machine, or of the chip that tiles are chosen for.
/// Blocks that share it hide each other's waiting.
double BlockKernel::chainCycles(const plan::MachineModel *machine) const {
  double processors = machine ? machine->processors : kProcessors;
  double busy = 0, waiting = 2500;
  for (const Stage &stage : stages()) {
    double count = timesOf(stage);
    if (const ContractForm *form = productOf(stage)) {
      busy += count * form->busyCycles(machine);
      waiting += count * form->waitingCycles();
    } else {
      // Each element is loaded, computed on and stored.
      double points = double(tilePoints(stage)) * double(sumPoints(stage));
      busy += count * points * 8 / 128;
      waiting += count * (streamed() ? 100 : 500); // of shared memory
    }
  }
  double perProcessor = double(tiles()) / processors;
  double together = std::clamp(perProcessor, 1.0, double(blocksAtOnce()));
  return std::ceil(perProcessor) * std::max(busy, (busy + waiting) / together);
}

/// For how many blocks of columns a stage is computed, in all passes; of the
/// rows' mean.
double BlockKernel::timesOf(const Stage &stage) const {
  bool hasColumns = llvm::any_of(parts(stage), [&](const GridPart &part) {
    return streamed() && part.grid == streamed();
  });
  if (!hasColumns)
    return 1;
  double count = 0;
  for (const ColumnPasses::Pass &pass : passes->passes)
    if (llvm::is_contained(pass.each, numberOf(stage)))
      count += seenBlocks(pass);
  return std::max(count, 1.0);
}

/// Blocks of columns that a tile goes over in a pass, of all tiles' mean.
double BlockKernel::seenBlocks(const ColumnPasses::Pass &pass) const {
  int64_t extent = grid()[pass.seen.row].extent, size = sizes[pass.seen.row],
          count = 0;
  for (int64_t begin = 0; begin < extent; begin += size) {
    auto [from, to] = pass.seen.blocks(begin, std::min(begin + size, extent),
                                       sizes[*streamed()], columnBlocks());
    count += to - from;
  }
  return double(count) / double(llvm::divideCeil(extent, size));
}

int64_t BlockKernel::columnBlocks() const {
  return streamed()
             ? llvm::divideCeil(grid()[*streamed()].extent, sizes[*streamed()])
             : 1;
}

double BlockKernel::chainSeconds(const plan::MachineModel &machine) const {
  return chainCycles(&machine) / ContractForm::cyclesPerSecond;
}

} // namespace dl::cuda
