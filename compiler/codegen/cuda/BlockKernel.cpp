#include "compiler/codegen/cuda/BlockKernel.h"
#include "compiler/codegen/cuda/OrderForm.h"
#include "compiler/codegen/cuda/ScanForm.h"
#include "compiler/codegen/cuda/ScatterForm.h"
#include "compiler/codegen/kernel/LinearOperand.h"
#include "dialects/graph/Check.h"
#include "dialects/graph/Inference.h"
#include "dialects/graph/TensorBytes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;

namespace dl::cuda {

static constexpr unsigned kThreads = kBlockThreads, kWarp = 32;
/// Points of loops that a block should have: less is not worth a block, and
/// blocks of so many keep all processors busy where there is enough of them.
static constexpr int64_t kPointsOfBlock = 2048;
static constexpr int64_t kMaxBlocks = 1 << 20;
/// As many blocks as fill the chips that there are.
static constexpr int64_t kWantedBlocks = 264;
/// Without being asked for, a block has so much shared memory.
static constexpr int64_t kSharedBytes = 48 << 10;
/// As much as each chip gives to a block that asks for it, and a processor of
/// an H100 has.
static constexpr int64_t kMostSharedBytes = 99 << 10;
static constexpr int64_t kProcessorBytes = 227 << 10;
/// What combining of a block's sums needs of it: a state for each thread.
static constexpr int64_t kCombineBytes = kThreads * 16;

FailureOr<BlockKernel> BlockKernel::create(graph::KernelOp kernel) {
  FailureOr<KernelBody> body = KernelBody::create(kernel);
  if (failed(body))
    return failure();
  auto with = [&](kernel::Columns columns) {
    return BlockKernel(BoundKernel(
        StagedKernel(*body, kernel::ProductReaders::Together, columns)));
  };
  BlockKernel whole = with(kernel::Columns::Whole);
  if (llvm::count_if(whole.stages(),
                     [](const Stage &stage) { return stage.contraction; }) < 2)
    return whole;
  // Rows may not fit into shared memory, or too few of them: some of their
  // columns do.
  BlockKernel streaming = with(kernel::Columns::Streamed);
  if (!streaming.isChain() || !streaming.scratchIsShared())
    return whole;
  bool isRoomy = whole.isChain() && whole.scratchIsShared();
  return isRoomy && whole.chainCycles(nullptr) <= streaming.chainCycles(nullptr)
             ? whole
             : streaming;
}

/// Of one block of columns, where these come in blocks.
int64_t BlockKernel::sumPoints(const Stage &stage) const {
  int64_t points = 1;
  for (unsigned d = nest(stage.op).numParallel;
       d < nest(stage.op).extents.size(); ++d)
    points *= tileExtent(stage, d);
  return points;
}

BlockKernel::BlockKernel(BoundKernel bound)
    : BoundKernel(std::move(bound)), product(ContractForm::of(*this)) {
  if (product) {
    for (const kernel::GridDim &dim : grid())
      sizes.push_back(dim.extent);
    numThreads = product->threads();
    placeScratch();
    return;
  }
  if (!chooseChain()) {
    if (streamed())
      return; // only chains have columns in blocks
    chooseTiles();
    chooseSplits();
    chooseThreads();
  }
  placeScratch();
}

const ContractForm *BlockKernel::productOf(const Stage &stage) const {
  if (product)
    return stage.contraction ? &*product : nullptr;
  if (chained.empty())
    return nullptr;
  const auto &form = chained[numberOf(stage)];
  return form ? &*form : nullptr;
}

unsigned BlockKernel::blocksAtOnce() const {
  if (product)
    return product->blocksAtOnce();
  unsigned count =
      isChain() ? std::max<int64_t>(1, kProcessorBytes / sharedBytes()) : 1;
  for (const auto &form : chained)
    if (form)
      count = std::min(count, form->blocksAtOnce());
  return count;
}

int64_t BlockKernel::tiles() const {
  if (product)
    return product->tiles();
  int64_t count = 1;
  for (auto [dim, size] : llvm::zip(grid(), sizes))
    count *= llvm::divideCeil(dim.extent, size);
  return count / columnBlocks();
}

int64_t BlockKernel::tileExtent(const Stage &stage, unsigned dim) const {
  GridPart part = parts(stage)[dim];
  int64_t extent = nest(stage.op).extents[dim];
  if (!isCut(part))
    return extent;
  return std::min<int64_t>(extent,
                           llvm::divideCeil(sizes[*part.grid], part.step));
}

int64_t BlockKernel::tilePoints(const Stage &stage) const {
  int64_t points = 1;
  for (unsigned d = 0; d < nest(stage.op).numParallel; ++d)
    points *= tileExtent(stage, d);
  return points;
}

SmallVector<unsigned> BlockKernel::loopOrder(const Stage &stage) const {
  unsigned count = nest(stage.op).numParallel;
  for (OpResult result : stage.results())
    if (isPlaced(result))
      if (auto order = orderOf(result); order.size() == count)
        return SmallVector<unsigned>(order.begin(), order.end());
  return llvm::to_vector(llvm::seq<unsigned>(0, count));
}

/// The dim along which results lie next to one another.
std::optional<unsigned> BlockKernel::innermostPoint(const Stage &stage) const {
  for (unsigned d : llvm::reverse(loopOrder(stage)))
    if (nest(stage.op).extents[d] > 1)
      return d;
  return std::nullopt;
}

/// Whether more bytes are neighbours along the innermost reduced dim than along
/// the innermost one of the result.
bool BlockKernel::readsAlongSums(const Stage &stage) const {
  const graph::LoopNest &loops = nest(stage.op);
  std::optional<unsigned> point = innermostPoint(stage);
  unsigned sum = loops.extents.size() - 1;
  while (sum > loops.numParallel && loops.extents[sum] == 1)
    --sum;
  int64_t alongSum = 0, alongPoint = 0;
  forEachRead(stage, [&](Value leaf, ArrayRef<AffineExpr> index, bool) {
    SmallVector<int64_t, 8> steps(loops.extents.size(), 0);
    int64_t constant = 0;
    for (auto [expr, stride] :
         llvm::zip(index, kernel::stridesOf(shapeOf(leaf), orderOf(leaf))))
      if (failed(kernel::addLinear(expr, stride, steps, constant)))
        return;
    int64_t bytes = graph::tensorBytes(leaf.getType());
    if (steps[sum] == 1)
      alongSum += bytes;
    else if (point && steps[*point] == 1)
      alongPoint += bytes;
  });
  return alongSum >= alongPoint;
}

/// Sums next to one another that a thread reads together: of floats, all of
/// whose rows begin where vectors do.
unsigned BlockKernel::vectorOfPoints(const Stage &stage) const {
  const graph::LoopNest &loops = nest(stage.op);
  std::optional<unsigned> inner = innermostPoint(stage);
  if (!inner || loops.combine != graph::Combine::Sum)
    return 1;
  int64_t bytes = 4;
  forEachRead(stage, [&](Value leaf, ArrayRef<AffineExpr>, bool) {
    bytes = std::max(
        bytes, graph::elementBytes(
                   cast<RankedTensorType>(leaf.getType()).getElementType()));
  });
  unsigned vector = kVectorBytes / bytes;
  while (vector > 1 && loops.extents[*inner] % vector != 0)
    vector /= 2;
  return vector;
}

Reduction BlockKernel::reduction(const Stage &stage) const {
  const graph::LoopNest &loops = nest(stage.op);
  int64_t points = sumPoints(stage);
  if (loops.combine == graph::Combine::None || stage.sequential || points <= 1)
    return {};
  Reduction result;
  result.lanesInner = readsAlongSums(stage);
  if (points <= 16)
    return result;
  if (!result.lanesInner) {
    result.vector = points < 512 ? 1 : vectorOfPoints(stage);
    result.lanes = points < 128 ? 4 : 8 * result.vector;
  } else if (points > 2048) {
    result.lanes = isChain() ? numThreads : kThreads;
  } else {
    result.lanes = points <= 64 ? 16 : kWarp;
  }
  return result;
}

void BlockKernel::chooseTiles() {
  auto tile = ScatterForm::tileSizes(*this);
  if (!tile)
    tile = OrderForm::tileSizes(*this);
  if (!tile)
    tile = ScanForm::tileSizes(*this);
  if (tile) {
    sizes = *tile;
    return;
  }
  int64_t work = 0, largest = 0;
  for (const Stage &stage : stages()) {
    int64_t own = nest(stage.op).points() * (1 + stage.sumsBeside.size());
    largest = std::max(largest, own);
    work += own;
    for (Operation *follower : stage.followers)
      work += graph::numElements(follower->getResult(0));
  }
  int64_t worth = std::max<int64_t>(1, work / kPointsOfBlock);
  // Where there are blocks enough, all threads have something to do in each
  // stage: 8 rows of a softmax.
  if (int64_t enough = 4 * kWantedBlocks; worth > enough)
    worth = std::max(enough, largest / kPointsOfBlock);
  // Tiles are whole multiples of what threads take together along the
  // innermost dim.
  int64_t step = 4 * kWarp;
  for (const Stage &stage : stages()) {
    if (nest(stage.op).combine == graph::Combine::None && !stage.sequential)
      continue;
    Reduction sums = reduction(stage);
    step = std::min<int64_t>(
        step,
        sums.lanesInner ? std::max<int64_t>(1, kWarp / sums.lanes) : kWarp);
  }
  for (const kernel::GridDim &dim : grid())
    sizes.push_back(dim.extent);
  SmallVector<unsigned> order = cutOrder();
  int64_t count = 1;
  for (unsigned d : order) {
    int64_t extent = grid()[d].extent;
    if (!grid()[d].canCut)
      continue;
    int64_t unit = std::lcm(d == order.back() ? step : 1, grid()[d].block);
    int64_t units = llvm::divideCeil(extent, unit);
    int64_t wanted = std::min(worth / count, kMaxBlocks / count);
    int64_t parts = std::clamp<int64_t>(wanted, 1, units);
    sizes[d] = std::min<int64_t>(llvm::divideCeil(units, parts) * unit, extent);
    count *= llvm::divideCeil(extent, sizes[d]);
  }
}

/// Few sums of many numbers: several blocks share each.
void BlockKernel::chooseSplits() {
  if (stages().size() != 1)
    return;
  const Stage &stage = root();
  const graph::LoopNest &loops = nest(stage.op);
  if (loops.combine == graph::Combine::None || stage.sequential)
    return;
  int64_t sums = sumPoints(stage), points = tilePoints(stage);
  int64_t useful = std::min(sums / 64, sums * points / kPointsOfBlock);
  int64_t wanted = kWantedBlocks / tiles();
  numSplits = std::clamp<int64_t>(std::min(useful, wanted), 1, 256);
}

void BlockKernel::chooseThreads() {
  int64_t most = 1;
  for (const Stage &stage : stages())
    most = std::max(most, tilePoints(stage) * reduction(stage).lanes);
  numThreads = std::clamp<int64_t>(llvm::alignTo(most, kWarp), kWarp, kThreads);
  // Lanes of one point are in one block, and all points have as many.
  for (const Stage &stage : stages())
    numThreads =
        llvm::alignTo(numThreads, std::max(kWarp, reduction(stage).lanes));
  numThreads = llvm::bit_ceil(numThreads);
  for (const Stage &stage : stages())
    if (ScatterForm::of(*this, stage) || OrderForm::of(*this, stage) ||
        ScanForm::of(*this, stage))
      numThreads = kThreads;
}

/// A value may wait where a result is stored as the value is read last, point
/// by point: that memory holds nothing until then.
void BlockKernel::findResultToWaitIn(Value value) {
  std::optional<size_t> last;
  bool pointwise = false;
  for (size_t i = 0; i < stages().size(); ++i)
    forEachRead(
        stages()[i], [&](Value leaf, ArrayRef<AffineExpr> index, bool guarded) {
          if (leaf != value)
            return;
          pointwise = (last != i || pointwise) && !guarded &&
                      AffineMap::get(index.size(), 0, index, op()->getContext())
                          .isIdentity();
          last = i;
        });
  if (!last || !pointwise)
    return;
  const Stage &reader = stages()[*last];
  if (nest(reader.op).combine != graph::Combine::None || reader.sequential)
    return;
  auto inplace = op().getInplace();
  for (OpResult result : reader.results()) {
    if (!isPlaced(result) || placement(result).kind != Placement::Result)
      continue;
    unsigned number = placement(result).number;
    bool isTaken = llvm::any_of(
        waiting, [&](const auto &other) { return other.second == result; });
    if (result.getType() == value.getType() && parts(result) == parts(value) &&
        !isTaken && !(inplace && (*inplace)[number] >= 0)) {
      waiting[value] = result;
      return;
    }
  }
}

void BlockKernel::placeScratch() {
  layOutScratch();
  if (inShared || product || isChain())
    return;
  for (auto &[value, placement] : placements())
    if (placement.kind == Placement::Scratch)
      findResultToWaitIn(value);
  if (!waiting.empty())
    layOutScratch();
}

/// From the stage that makes a value to the last one that reads it: where that
/// reads it point for point, what it makes may come in its place.
struct BlockKernel::Lifetime {
  size_t made = 0, read = 0;
  bool readAtItsPoints = true;

  bool overlaps(const Lifetime &other, bool inPlace) const {
    const Lifetime &first = made <= other.made ? *this : other;
    const Lifetime &second = made <= other.made ? other : *this;
    return second.made < first.read ||
           (second.made == first.read && !(inPlace && first.readAtItsPoints));
  }
};

BlockKernel::Lifetime BlockKernel::lifetimeOf(Value value) const {
  Lifetime life;
  // What has no columns lives through all passes over them.
  if (streamed() && llvm::none_of(parts(value), [&](const GridPart &part) {
        return part.grid == streamed();
      }))
    return {0, stages().size(), false};
  for (auto [number, stage] : llvm::enumerate(stages())) {
    if (stage.makes(value))
      life.made = life.read = number;
    bool isMap = nest(stage.op).combine == graph::Combine::None;
    forEachRead(stage,
                [&](Value leaf, ArrayRef<AffineExpr> index, bool guarded) {
                  if (leaf != value)
                    return;
                  if (life.read != number)
                    life.read = number, life.readAtItsPoints = true;
                  life.readAtItsPoints &=
                      isMap && !guarded &&
                      AffineMap::get(index.size(), 0, index, op()->getContext())
                          .isIdentity();
                });
  }
  return life;
}

/// Each value has memory of its own; in a chain, whose values are large, what
/// is not needed at the same time may have the same.
void BlockKernel::layOutScratch() {
  struct Area {
    int64_t offset, bytes;
    SmallVector<int64_t, 6> strides;
    Type element;
    Lifetime life;
  };
  SmallVector<Area> areas;
  allValueBytes = 0;
  for (auto &[value, placement] : placements()) {
    if (!isTileLocal(value))
      continue;
    auto type = cast<RankedTensorType>(value.getType()).getElementType();
    SmallVector<int64_t, 6> box = boxOf(value, sizes);
    auto order = orderOf(value);
    unsigned inner = order.empty() ? box.size() - 1 : order.back();
    // Rows of products are written by 8 rows of threads at once: in different
    // banks.
    if (isChain() && !box.empty() && box[inner] % 32 == 0)
      box[inner] += type.isF64() ? 4 : 8;
    int64_t elements = 1;
    for (int64_t extent : box)
      elements *= extent;
    Area area = {
        isChain() ? 0 : allValueBytes,
        int64_t(llvm::alignTo(elements * graph::elementBytes(type), 16)),
        kernel::stridesOf(box, order), type, lifetimeOf(value)};
    auto isTaken = [&](const Area &other) {
      bool inPlace = area.offset == other.offset &&
                     area.strides == other.strides &&
                     area.element == other.element;
      return area.offset < other.offset + other.bytes &&
             other.offset < area.offset + area.bytes &&
             area.life.overlaps(other.life, inPlace);
    };
    for (auto other = llvm::find_if(areas, isTaken); other != areas.end();
         other = llvm::find_if(areas, isTaken))
      area.offset = other->offset + other->bytes;
    places[value] = {area.offset, area.strides};
    allValueBytes = std::max(allValueBytes, area.offset + area.bytes);
    areas.push_back(std::move(area));
  }
  for (auto &form : chained) {
    if (!form)
      continue;
    for (ContractForm::Side *side : {&form->rows, &form->columns})
      if (form->isKept(*side)) {
        side->keptAt = allValueBytes;
        allValueBytes += int64_t(
            llvm::alignTo(form->elements(*side) * form->tileBytes(), 16));
      }
  }
  // (A sort or a scatter has much of it by itself.)
  int64_t steps = stepBytes();
  inShared = isChain() || steps > kCombineBytes
                 ? allValueBytes + steps <= kMostSharedBytes
                 : allValueBytes + kCombineBytes <= kSharedBytes;
}

/// For the steps of products, and where sums are combined.
int64_t BlockKernel::stepBytes() const {
  int64_t bytes = 0;
  for (const Stage &stage : stages())
    if (const ContractForm *form = productOf(stage))
      bytes = std::max(bytes, form->sharedBytes());
    else if (auto scatter = ScatterForm::of(*this, stage))
      bytes = std::max(bytes, scatter->sharedBytes(numThreads));
    else if (auto order = OrderForm::of(*this, stage))
      bytes = std::max(bytes, order->sharedBytes());
    else if (ScanForm::of(*this, stage))
      bytes = std::max(bytes, ScanForm::sharedBytes(numThreads));
    else if (reduction(stage).lanes > 1 || numSplits > 1)
      bytes = std::max(bytes, kCombineBytes);
  return bytes;
}

int64_t BlockKernel::sharedBytes() const {
  return (inShared ? allValueBytes : 0) + stepBytes();
}

int64_t BlockKernel::counterBytes() const {
  return splits() > 1 ? llvm::alignTo(tiles() * sizeof(unsigned), 256) : 0;
}

/// A state has a value and, of a maximum, its position.
int64_t BlockKernel::partBytes() const {
  return product ? product->partBytes()
                 : tilePoints(root()) * 16 * (1 + root().sumsBeside.size());
}

int64_t BlockKernel::workspaceBytes() const {
  DL_CHECK(inShared || splits() == 1,
           "parts of sums and values have one place");
  if (splits() > 1)
    return blocks() * partBytes();
  return inShared ? 0 : tiles() * allValueBytes;
}

bool BlockKernel::isWide() const {
  constexpr int64_t limit = int64_t(1) << 31;
  // Of a product nobody counts all points, but those of each side, and sums.
  int64_t points = product ? product->largestExtent() : 0;
  for (const Stage &stage : stages())
    if (!productOf(stage))
      points = std::max(points, nest(stage.op).points());
  return points >= limit || llvm::any_of(placements(), [&](const auto &placed) {
           return graph::numElements(placed.first) >= limit;
         });
}

StringRef BlockKernel::strategy() const {
  const graph::LoopNest &loops = nest(root().op);
  return product                                 ? "contract"
         : isChain() && streamed()               ? "streamed chain of products"
         : isChain()                             ? "chain of products"
         : hasContraction()                      ? "products as sums"
         : root().sequential                     ? "sequential"
         : loops.combine == graph::Combine::None ? "map"
         : reduction(root()).lanesInner          ? "rows"
                                                 : "columns";
}

} // namespace dl::cuda
