#include "compiler/codegen/cuda/ContractForm.h"
#include "compiler/codegen/kernel/IndexRange.h"
#include "compiler/codegen/kernel/LinearOperand.h"
#include "dialects/graph/FullPrecision.h"
#include "dialects/graph/Inference.h"
#include "dialects/graph/PayloadFacts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace dl::cuda {

using kernel::Stage;
using kernel::StagedKernel;

/// Processors, and the multiply-adds that one does in a cycle.
struct ContractForm::Chip {
  int64_t processors;
  double f32, f64, tensorCores, bf16;
};
/// What tiles are chosen for, with the figures of an H100. A constant: the same
/// plan gives the same bits on each chip. (Without wgmma the tensor cores reach
/// about 0.58 of their peak.)
static constexpr ContractForm::Chip kChip = {132, 128, 64, 574, 1148};
/// Cycles of a step whose block has a processor for itself: a read of memory, a
/// barrier, a read of shared memory (measured before steps overlapped).
static constexpr double kWaiting = 900;
static constexpr int64_t kMaxNumbers = 64;
/// Of shared memory: two blocks fit into a processor of each chip (100 KiB).
static constexpr int64_t kTileBytes = 48 << 10;
static constexpr int64_t kMaxSplits = 64;
/// What the second-level cache gives a processor in a cycle, in bytes.
static constexpr double kCachedBytes = 24;

static bool reads(const graph::Access &access, unsigned dim) {
  return access.map.isFunctionOfDim(dim) ||
         llvm::any_of(access.guards, [&](AffineExpr guard) {
           return guard.isFunctionOfDim(dim);
         });
}

static int64_t product(ArrayRef<int64_t> extents, ArrayRef<unsigned> dims) {
  int64_t count = 1;
  for (unsigned d : dims)
    count *= extents[d];
  return count;
}

/// The last dim that has more than one index.
static std::optional<unsigned> innermost(ArrayRef<int64_t> extents,
                                         ArrayRef<unsigned> dims) {
  for (unsigned d : llvm::reverse(dims))
    if (extents[d] > 1)
      return d;
  return std::nullopt;
}

namespace {
/// What an operand reads, through views and zeros around them.
struct OperandReading {
  Value value; // in memory
  /// Where each of its dims is read, along dims of the loops.
  SmallVector<AffineExpr> index;
  /// Elements from one index of each dim to the next.
  SmallVector<int64_t, 8> steps;
  int64_t constant = 0;
  bool isLocal = false, isNarrow = false;
  /// Where these leave what they index, zero is read instead.
  SmallVector<AffineExpr> leaving;
};
} // namespace

/// Nothing where the operand is computed, or its address is not linear.
static std::optional<OperandReading>
readingOf(const StagedKernel &kernel, const Stage &stage, unsigned operand) {
  const graph::LoopNest &nest = kernel.nest(stage.op);
  SmallVector<AffineExpr> index;
  for (unsigned d = 0; d < nest.extents.size(); ++d)
    index.push_back(getAffineDimExpr(d, stage.op->getContext()));
  OperandReading reading;
  auto read = [&](const graph::Access &access, Value value) {
    index = kernel::accessAt(access, index);
    if (access.indirect || access.outside.value_or(0) != 0)
      return false;
    if (!access.outside)
      return true;
    llvm::append_range(reading.leaving, access.guards);
    for (auto [expr, extent] : llvm::zip(index, kernel.shapeOf(value))) {
      auto [lo, hi] = kernel::rangeOf(expr, [&](unsigned dim) {
        return std::make_pair(int64_t(0), nest.extents[dim] - 1);
      });
      if (lo < 0 || hi >= extent)
        reading.leaving.push_back(expr);
    }
    return true;
  };
  Value value = stage.op->getOperand(operand);
  if (!read(nest.accesses[operand], value))
    return std::nullopt;
  while (!kernel.isPlaced(value)) {
    auto op = value.getDefiningOp<graph::LoopNestOpInterface>();
    if (!op)
      return std::nullopt;
    graph::PayloadFacts facts = graph::payloadFacts(op);
    value = op->getOperand(0);
    if ((!facts.isView && !facts.isZeroPaddedView && !facts.isWidening) ||
        !read(kernel.nest(op).accesses[0], value))
      return std::nullopt;
    reading.isNarrow |= facts.isWidening;
  }
  reading.isLocal = kernel.isInScratch(value);
  reading.value = value;
  reading.index = index;
  reading.steps.assign(nest.extents.size(), 0);
  for (auto [expr, stride] :
       llvm::zip(index, kernel::stridesOf(kernel.shapeOf(value),
                                          kernel.orderOf(value))))
    if (failed(
            kernel::addLinear(expr, stride, reading.steps, reading.constant)))
      return std::nullopt;
  return reading;
}

/// Whether what a block has of an operand in its own memory are rows, one of
/// the loops along them and another one from row to row, and all terms of the
/// block's sums are there.
static bool areRows(const OperandReading &reading, const graph::LoopNest &nest,
                    ArrayRef<int64_t> extents) {
  unsigned along = 0;
  for (AffineExpr expr : reading.index) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim && !isa<AffineConstantExpr>(expr))
      return false;
    along += dim && extents[dim.getPosition()] > 1;
  }
  for (unsigned d = nest.numParallel; d < extents.size(); ++d)
    if (nest.extents[d] % extents[d] != 0)
      return false;
  return along == 2 && reading.constant == 0 && reading.leaving.empty();
}

/// A block has `extents` of the stage's dims.
static void chooseReading(const StagedKernel &kernel, const Stage &stage,
                          ArrayRef<int64_t> extents, ContractForm::Side &side,
                          ArrayRef<unsigned> sums) {
  const graph::LoopNest &nest = kernel.nest(stage.op);
  auto inSums = innermost(extents, sums),
       inSide = innermost(extents, side.dims);
  auto reading = readingOf(kernel, stage, side.operand);
  auto isNext = [&](std::optional<unsigned> dim) {
    return dim && reading && reading->steps[*dim] == 1;
  };
  side.alongSums = isNext(inSums) && !isNext(inSide);
  side.isLocal = reading && reading->isLocal;
  side.isNarrow = reading && reading->isNarrow;
  auto along = side.alongSums ? inSums : inSide;
  if (!isNext(along) || llvm::any_of(reading->leaving, [&](AffineExpr expr) {
        return expr.isFunctionOfDim(*along);
      }))
    return;
  Type element =
      cast<RankedTensorType>(stage.op->getOperand(side.operand).getType())
          .getElementType();
  side.vector = element.isF64() ? 2 : side.isNarrow ? 8 : 4;
  auto isAligned = [&] {
    for (auto [d, step] : llvm::enumerate(reading->steps))
      if (d != *along && nest.extents[d] > 1 && step % side.vector != 0)
        return false;
    return nest.extents[*along] % side.vector == 0 &&
           extents[*along] % side.vector == 0 &&
           reading->constant % side.vector == 0;
  };
  while (side.vector > 1 && !isAligned())
    side.vector /= 2;
  side.isPlain =
      !side.isLocal && side.isNarrow && side.vector == 8 &&
      llvm::all_of(kernel.placement(reading->value).offsets,
                   [](auto offset) { return offset.second % 8 == 0; });
  side.canStay = side.isLocal && side.isNarrow && side.vector == 8 &&
                 areRows(*reading, nest, extents);
  side.made = reading->value;
  for (auto [d, expr] : llvm::enumerate(reading->index))
    if (auto dim = dyn_cast<AffineDimExpr>(expr);
        dim && extents[dim.getPosition()] > 1 && dim.getPosition() != *along)
      side.across = d;
}

/// A few numbers that each block computes for itself: 1 - beta, a bias
/// correction.
static bool isSmall(const StagedKernel &kernel, const Stage &stage) {
  return kernel.nest(stage.op).combine == graph::Combine::None &&
         llvm::all_of(stage.results(), [&](OpResult result) {
           return (!kernel.isPlaced(result) || kernel.isInScratch(result)) &&
                  graph::numElements(result) <= kMaxNumbers;
         });
}

/// With fewer multiplications, what a tile has to be prepared for takes longer
/// than it saves.
bool ContractForm::isWorthIt(const StagedKernel &kernel, const Stage &product) {
  auto least = kernel.op()->getAttrOfType<IntegerAttr>(kLeastProduct);
  return kernel.nest(product.op).points() >= (least ? least.getInt() : 1 << 18);
}

std::optional<ContractForm> ContractForm::of(const StagedKernel &kernel) {
  const Stage &stage = kernel.stages().back();
  if (!stage.contraction || !llvm::all_of(ArrayRef(kernel.stages()).drop_back(),
                                          [&](const Stage &before) {
                                            return isSmall(kernel, before);
                                          }))
    return std::nullopt;
  if (!isWorthIt(kernel, stage))
    return std::nullopt;
  auto form = describe(kernel, stage, kernel.nest(stage.op).extents);
  if (form)
    form->chooseTiles(
        [&](const ContractForm &tried) { return tried.cycles(kChip); },
        kTileBytes);
  return form;
}

std::optional<ContractForm>
ContractForm::ofPart(const StagedKernel &kernel, const Stage &stage,
                     ArrayRef<int64_t> extents, int64_t most, bool mayStay,
                     llvm::function_ref<bool(unsigned)> isFixed) {
  auto form = describe(kernel, stage, extents);
  if (!form || form->batchExtent != 1)
    return std::nullopt;
  form->isPart = true;
  for (Side *side : {&form->rows, &form->columns}) {
    side->canStay &= mayStay;
    side->isFixed =
        llvm::all_of(side->dims, isFixed) && llvm::all_of(form->sums, isFixed);
  }
  // Several blocks hide each other's waiting, in part.
  form->chooseTiles(
      [&](const ContractForm &tried) {
        return tried.busyCycles() + 0.3 * tried.waitingCycles();
      },
      most);
  return form->rows.tile != 0 ? form : std::nullopt;
}

/// Without tiles.
std::optional<ContractForm> ContractForm::describe(const StagedKernel &kernel,
                                                   const Stage &stage,
                                                   ArrayRef<int64_t> extents) {
  const graph::LoopNest &nest = kernel.nest(stage.op);
  Type element =
      cast<RankedTensorType>(stage.op->getResult(0).getType()).getElementType();
  if (!element.isF32() && !element.isF64())
    return std::nullopt;
  ContractForm form;
  form.isDouble = element.isF64();
  form.tensorCores = element.isF32() && kernel.op()->hasAttr(kTf32) &&
                     !graph::hasFullPrecision(stage.op);
  Side sides[2];
  sides[0].operand = 0, sides[1].operand = 1;
  Value stored = stage.storedOp()->getResult(0);
  auto strides =
      kernel::stridesOf(kernel.shapeOf(stored), kernel.orderOf(stored));
  // Results lie next to one another along the columns.
  unsigned columns = 1;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (unsigned d = 0; d < nest.extents.size(); ++d) {
    bool first = reads(nest.accesses[0], d),
         second = reads(nest.accesses[1], d);
    if (d >= nest.numParallel) {
      form.sums.push_back(d);
    } else if (first == second) {
      form.batches.push_back(d);
    } else {
      sides[second].dims.push_back(d);
      if (nest.extents[d] > 1 && strides[d] < least)
        columns = second, least = strides[d];
    }
  }
  form.columns = sides[columns];
  form.rows = sides[1 - columns];
  for (Side *side : {&form.rows, &form.columns}) {
    side->extent = product(extents, side->dims);
    llvm::sort(side->dims, [&](unsigned a, unsigned b) {
      return std::make_pair(strides[b], a) < std::make_pair(strides[a], b);
    });
    chooseReading(kernel, stage, extents, *side, form.sums);
  }
  form.isNarrow = form.rows.isNarrow && form.columns.isNarrow;
  form.tensorCores |= form.isNarrow;
  if (!form.isNarrow)
    for (Side *side : {&form.rows, &form.columns}) {
      side->vector = std::min(side->vector, 4u);
      side->canStay = side->isPlain = false;
    }
  form.batchExtent = product(extents, form.batches);
  form.sumExtent = product(extents, form.sums);
  return form;
}

/// What a sum of a tile takes a processor.
double ContractForm::cyclesOfSum(const Chip &chip) const {
  double area = double(rows.tile) * columns.tile;
  if (tensorCores) {
    // Banks of shared memory: what 2 x 2 warps read, and what is written.
    double shared = 0;
    for (const Side *side : {&rows, &columns})
      shared +=
          (warpsAlong + (memory(*side) == 0 ? 0 : 1)) * side->tile / 128.0;
    return std::max(area / (isNarrow ? chip.bf16 : chip.tensorCores),
                    shared * tileBytes());
  }
  double rate = isDouble ? chip.f64 : chip.f32;
  return (area + 12.0 * (rows.tile + columns.tile) + 512) / rate;
}

double ContractForm::busyCycles(const plan::MachineModel *machine) const {
  Chip chip = machine ? chipOf(*machine) : kChip;
  double all = double(rowTiles() * columnTiles());
  // Operands come from the second-level cache.
  double read = 0;
  for (const Side *side : {&rows, &columns})
    if (!side->isLocal && !isKept(*side))
      read += side->tile * (side->isNarrow ? 2 : elementBytes()) / kCachedBytes;
  return all * double(splitExtent()) * std::max(cyclesOfSum(chip), read);
}

double ContractForm::waitingCycles() const {
  if (memory(rows) + memory(columns) == 0)
    return 0;
  // The first step of a tile is waited for, then two are under way.
  double steps = isOneStep() ? 1 : double(splitExtent() / step) / 2 + 1;
  return double(rowTiles() * columnTiles()) * kWaiting * steps;
}

/// The time of a launch in cycles of a processor, by a simple model: blocks
/// share a processor, larger tiles read shared memory less often for each
/// product, a step waits for memory if nothing else is to be done, and parts of
/// sums go through memory.
double ContractForm::cycles(const Chip &chip) const {
  double area = double(rows.tile) * columns.tile;
  double busy = cyclesOfSum(chip) * double(splitExtent());
  double waiting = kWaiting * double(splitExtent() / step) + 2500;
  auto together = [&](int64_t blocks) { // in one processor
    double share = blocks == 1 ? tensorCores ? 1.5 : 1.2 : double(blocks);
    return blocks == 0 ? 0 : std::max(share * busy, waiting);
  };
  int64_t blocks = tiles() * splits, atOnce = blocksAtOnce(),
          slots = atOnce * chip.processors;
  double time = double(blocks / slots) * together(atOnce) +
                together(llvm::divideCeil(blocks % slots, chip.processors));
  if (splits > 1) {
    double bytes = 2.0 * double(blocks) * area * elementBytes();
    time += 6000 + bytes / (12.0 * double(chip.processors));
  }
  return time;
}

ContractForm::Chip ContractForm::chipOf(const plan::MachineModel &machine) {
  auto perCycle = [&](double flopsPerSecond) {
    return flopsPerSecond / (2 * double(machine.processors) * cyclesPerSecond);
  };
  return {machine.processors, perCycle(machine.flopsPerSecond),
          perCycle(machine.f64FlopsPerSecond),
          // Of which whole tiles reach two thirds.
          1.5 * perCycle(machine.productTf32),
          1.5 * perCycle(machine.productBf16)};
}

double ContractForm::seconds(const plan::MachineModel &machine) const {
  return cycles(chipOf(machine)) / cyclesPerSecond;
}

/// The tile, step and parts of the least cost, with steps of so many bytes.
void ContractForm::chooseTiles(
    llvm::function_ref<double(const ContractForm &)> cost, int64_t most) {
  double best = 0;
  ContractForm chosen = *this;
  auto consider = [&](ContractForm form) {
    double time = cost(form);
    if (best != 0 && time >= best)
      return;
    best = time;
    chosen = std::move(form);
  };
  for (unsigned r : {32u, 64u, 128u})
    for (unsigned c : {32u, 64u, 128u})
      for (unsigned k : {16u, 32u, 64u, 128u}) {
        if (k > 64 && !(isPart && isNarrow && sumExtent == k))
          break;
        ContractForm form = *this;
        form.rows.tile = r, form.columns.tile = c, form.step = k;
        for (Side *side : {&form.rows, &form.columns})
          side->stays = side->canStay && side->extent % side->tile == 0 &&
                        sumExtent % k == 0;
        // What is more than this is spilled: to sums and elements come
        // fragments and addresses, and a thread has 128 registers where 16
        // warps share a processor, 255 at most.
        unsigned elements = std::max(r, c) * k / threads();
        if (isDouble      ? std::max(r, c) > 64 || elements > 4
            : tensorCores ? form.registers() > 160
                          : elements > 8)
          continue;
        if (form.sharedBytes() > most)
          continue;
        for (int64_t s = 1; s <= (isPart ? 1 : kMaxSplits); ++s) {
          form.splits = s;
          if (s > 1 && sumExtent < s * int64_t(k))
            break;
          consider(form);
        }
      }
  *this = chosen;
  if (best == 0)
    return;
  splits = llvm::divideCeil(sumExtent, splitExtent()); // none is empty
  // Whole vectors for each thread.
  for (Side *side : {&rows, &columns}) {
    unsigned each = side->tile * step / threads();
    while (side->vector > each)
      side->vector /= 2;
    side->isPlain &= side->vector == 8;
  }
}

int64_t ContractForm::splitExtent() const {
  return llvm::alignTo(llvm::divideCeil(sumExtent, splits), step);
}

int64_t ContractForm::largestExtent() const {
  return std::max({tiles() * splits, rowTiles() * rows.tile,
                   columnTiles() * columns.tile, splits * splitExtent()});
}

int64_t ContractForm::sharedBytes() const {
  return (isOneStep() ? 1 : 2) * int64_t(memory(rows) + memory(columns)) *
         tileBytes();
}

} // namespace dl::cuda
