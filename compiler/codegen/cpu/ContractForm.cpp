#include "compiler/codegen/cpu/ContractForm.h"
#include "compiler/codegen/cpu/ContractLimits.h"
#include "dialects/graph/Bf16Values.h"

using namespace mlir;

namespace dl::cpu {

using kernel::StridesFn;

namespace {
struct Candidate {
  ContractForm form;
  double score = -1;
  bool scattered = false; // results are stored one by one

  bool operator>(const Candidate &other) const {
    if (form.hasPixelRows != other.form.hasPixelRows)
      return form.hasPixelRows;
    return scattered != other.scattered ? other.scattered : score > other.score;
  }
};
} // namespace

/// Neighbours along d read what one of them reads at another k.
static bool sharesWindows(const ContractForm &form, unsigned d) {
  return llvm::any_of(form.kDims, [&](unsigned k) {
    return form.extents[k] > 1 &&
           form.lane.coefficients[k] == form.lane.coefficients[d];
  });
}

/// A dim of the lanes' operand alone, along which it is read in runs.
static std::optional<unsigned> neighboursAlone(const ContractForm &form,
                                               unsigned numParallel) {
  for (unsigned d = 0; d < numParallel; ++d)
    if (form.lane.coefficients[d] == 1 && form.extents[d] > 1 &&
        form.scalar.coefficients[d] == 0 && !form.isBordered(d))
      return d;
  return std::nullopt;
}

/// The longest of the other operand's dims are rows, the others batches.
static void assignOtherDims(ContractForm &form, unsigned numParallel) {
  for (unsigned d = 0; d < numParallel; ++d) {
    if (llvm::is_contained(form.laneDims, d))
      continue;
    bool isRow =
        form.lane.coefficients[d] == 0 && form.scalar.coefficients[d] != 0;
    if (isRow &&
        (form.rowDim < 0 || form.extents[d] > form.extents[form.rowDim]))
      form.rowDim = d;
  }
  for (unsigned d = 0; d < numParallel; ++d)
    if (!llvm::is_contained(form.laneDims, d) && int(d) != form.rowDim)
      form.batchDims.push_back(d);
}

/// Rows and lanes for one choice of the broadcast operand.
static Candidate laneCandidate(const ContractForm &base,
                               ArrayRef<int64_t> resultStrides,
                               unsigned numParallel, bool swap,
                               unsigned lanes) {
  Candidate candidate{base, -1};
  ContractForm &form = candidate.form;
  if (swap)
    std::swap(form.scalar, form.lane);
  int64_t stride = 1;
  SmallVector<unsigned> reversed;
  for (bool grown = true; grown;) {
    grown = false;
    for (unsigned d = numParallel; d-- > 0;) {
      // Long runs of lanes gain nothing from a dim that does not continue them.
      // Nor do they from a dim whose windows share what they read: their runs
      // are computed one after the other while it is in the cache.
      bool continues = stride < 16 * lanes ||
                       (!sharesWindows(form, d) &&
                        form.lane.coefficients[d] ==
                            form.lane.coefficients[reversed.front()] * stride);
      // (A dim that the operand does not have would repeat its lanes.)
      continues &= reversed.empty() || form.lane.coefficients[d] != 0;
      if (resultStrides[d] == stride && form.extents[d] > 1 && continues &&
          !form.isBordered(d) && form.scalar.coefficients[d] == 0 &&
          !llvm::is_contained(reversed, d)) {
        reversed.push_back(d);
        stride *= form.extents[d];
        grown = true;
        break;
      }
    }
  }
  if (reversed.empty()) // all result dims of this operand have extent one
    for (unsigned d = numParallel; d-- > 0;)
      if (form.extents[d] == 1 && form.scalar.coefficients[d] == 0 &&
          !form.isBordered(d) && form.lane.coefficients[d] != 0) {
        reversed.push_back(d);
        break;
      }
  if (reversed.empty()) { // what is innermost in the result belongs to both
                          // operands
    std::optional<unsigned> nearest;
    for (unsigned d = 0; d < numParallel; ++d)
      if (form.extents[d] > 1 && !form.isBordered(d) &&
          form.scalar.coefficients[d] == 0 && form.lane.coefficients[d] != 0 &&
          (!nearest || resultStrides[d] < resultStrides[*nearest]))
        nearest = d;
    if (!nearest)
      return candidate;
    reversed.push_back(*nearest);
    candidate.scattered = true;
  }
  auto isUnit = [&](unsigned d) {
    return form.lane.coefficients[d] == 1 || form.extents[d] == 1;
  };
  // Lanes that are no neighbours are copied, and copies would read outside.
  if (!form.borders.empty() && !isUnit(reversed.front())) {
    std::optional<unsigned> neighbours = neighboursAlone(form, numParallel);
    if (!neighbours)
      return candidate;
    reversed = {*neighbours};
    candidate.scattered = true;
  }
  form.laneDims.assign(reversed.rbegin(), reversed.rend());
  assignOtherDims(form, numParallel);
  double count = form.laneCount(), rows = form.rows();
  double used = count / llvm::alignTo(uint64_t(count), lanes);
  bool unit = isUnit(form.laneDims.back());
  form.product = LaneProduct{!unit};
  candidate.score =
      used * (rows / (rows + 1)) * (unit ? 1 : rows / (rows + 24));
  return candidate;
}

static Candidate dotCandidate(const ContractForm &base,
                              ArrayRef<int64_t> resultStrides,
                              unsigned numParallel, bool swap, unsigned lanes) {
  Candidate candidate =
      laneCandidate(base, resultStrides, numParallel, swap, lanes);
  ContractForm &form = candidate.form;
  if (candidate.score < 0)
    return candidate;
  candidate.score = -1;
  unsigned k = form.kDims.back();
  // Several dims of columns are worth it where they are no lanes to load.
  if (form.scalar.coefficients[k] != 1 || form.lane.coefficients[k] != 1 ||
      (form.laneDims.size() != 1 &&
       (!form.packsPanels() || form.extents[k] < lanes)))
    return candidate;
  if (!form.borders.empty())
    return candidate;
  // With many rows, transposing the lanes once is cheaper than sums of lanes,
  // unless each is one of many k, which all would have to be copied.
  if (form.isLarge() &&
      (form.kDims.size() == 1 || form.kCount() < kManyK * lanes ||
       form.extents[form.laneDims.back()] > kMaxRun))
    return candidate;
  form.product = DotProduct();
  double extent = form.extents[k];
  double steps = double(form.kCount()) / extent *
                 double(llvm::alignTo(uint64_t(extent), lanes)) / lanes;
  candidate.score = double(form.kCount()) / lanes / steps * steps / (steps + 4);
  return candidate;
}

/// Elements between neighbours of each dim of the stored result. Scratch holds
/// a tile, in the order of the whole.
static SmallVector<int64_t, 6> resultStrides(const StagedKernel &kernel,
                                             const Stage &stage,
                                             StridesFn stridesIn) {
  Value result = stage.storedOp()->getResult(0);
  return kernel.isInScratch(result) ? kernel.orderedStrides(result)
                                    : stridesIn(result);
}

/// Whether to take rows for lanes: they have to be transposed, and then the
/// result, but not the lanes, of which there are many more.
static bool isBestNarrow(const ContractForm &form, unsigned lanes) {
  unsigned k = form.kDims.back();
  double rows = form.rows(), width = form.laneCount(), depth = form.kCount();
  double bytes = rows * depth * (64 / lanes);
  return (form.is<DotProduct>() || form.packsPanels()) &&
         form.kDims.size() == 1 && form.borders.empty() &&
         form.laneDims.size() == 1 && form.lane.coefficients[k] == 1 &&
         rows >= 1.5 * lanes && bytes <= double(form.machine->maxNarrowBytes) &&
         width >= 4 * lanes && depth >= 4 * lanes &&
         (form.isLarge() ? kNarrowGain : 1) * rows * (width + depth) <
             width * depth;
}

/// One row, where a vector of lanes is one run and the next k is far away.
static bool isBestStreamed(const ContractForm &form, unsigned lanes) {
  return form.rows() == 1 && form.fetchesLanes(lanes) && form.borders.empty() &&
         form.laneDims.size() == 1 &&
         form.lane.coefficients[form.laneDims.front()] == 1 &&
         form.laneCount() > kStreamedVectors * lanes &&
         form.kCount() >= kLeastStreamed;
}

static ContractForm streamed(ContractForm form) {
  form.product = StreamedProduct();
  form.kBlock = std::min(form.kCount(), kStreamedDepth);
  return form;
}

/// All taps that a row tile has use its part of a k block.
static void cutDot(ContractForm &form, unsigned lanes) {
  if (form.kDims.size() == 1 || form.laneDims.size() == 1)
    return;
  int64_t step = form.kCount() / form.extents[form.kDims.front()];
  int64_t bytes = kDotRows * step * (64 / lanes);
  form.kBlock = std::min(
      form.kCount(),
      step * std::max<int64_t>(1, form.machine->dotBlockBytes / bytes));
}

/// Each row is used by many lanes, and the same for all batches.
static bool canPairOuterK(const ContractForm &form) {
  unsigned outer = form.kDims.front();
  return form.hasBf16 && form.is<LaneProduct>() && !form.sumsPixels &&
         !form.hasPixelRows && form.kDims.size() > 1 &&
         form.extents[outer] % 2 == 0 && form.rowDim >= 0 &&
         form.rows() >= kMinPairedRows && form.innerKCount() <= kMaxInnerK &&
         form.kCount() <= kMaxPairedK &&
         form.laneCount() * form.batchCount() >= kMinPairedLanes &&
         !form.isBordered(form.rowDim) &&
         llvm::none_of(
             form.batchDims,
             [&](unsigned d) { return form.scalar.coefficients[d] != 0; }) &&
         llvm::none_of(form.borders, [&](const ContractForm::Border &border) {
           return border.k == outer;
         });
}

/// All rows use the window of a panel while it is in the first-level cache.
static void pairOuterK(ContractForm &form) {
  form.pairsOuterK = true;
  constexpr int64_t panelBytes = 128; // of two vectors of f32
  int64_t outer = form.extents[form.kDims.front()], inner = form.innerKCount();
  int64_t depth =
      std::max<int64_t>(2, kPairedWindowBytes / (panelBytes * inner));
  int64_t blocks = llvm::divideCeil(outer, depth);
  form.kBlock = inner * llvm::alignTo(llvm::divideCeil(outer, blocks), 2);
}

int64_t ContractForm::tapPanel() const {
  auto areRuns = [&](int64_t width) {
    for (int64_t l = 0; l < laneCount(); ++l)
      if (laneOffset(l) != laneOffset(l / width * width) + l % width)
        return false;
    return true;
  };
  for (int64_t width : {2 * kTileRows, kTileRows})
    if (areRuns(width))
      return width;
  return 0;
}

/// Each of the outermost k, as a channel of images, is a plane of whole vectors
/// of lanes, as are the lanes of any tile.
bool ContractForm::tilesTaps() const {
  if (!pairsOuterK || packsPanels() || !isa<BlockArgument>(lane.leaf) ||
      laneIsMoved || lane.constant % kTileRows != 0)
    return false;
  unsigned outer = kDims.front(), lead = laneDims.front();
  int64_t cut = laneDims.size() == 1 ? 1 : extents[lead];
  if (laneCount() / cut % kTileRows != 0)
    return false;
  for (auto [d, step] : llvm::enumerate(lane.coefficients))
    if (!llvm::is_contained(laneDims, d) && step % kTileRows != 0)
      return false;
  int64_t planes = lane.coefficients[outer] * extents[outer];
  return extents[outer] % kTileK == 0 && rows() >= kTileRows &&
         planes ==
             cast<RankedTensorType>(lane.leaf.getType()).getNumElements() &&
         tapPanel() != 0;
}

/// Each row and each channel is a plane of whole tiles along k.
bool ContractForm::tilesDots() const {
  unsigned innermost = kDims.back();
  if (!hasBf16 || !(is<DotProduct>() || packsPanels()) || laneDims.size() < 2 ||
      kDims.size() < 2 || !borders.empty() || rows() < kTileRows ||
      extents[laneDims.front()] < kTileRows || extents[innermost] % kTileK != 0)
    return false;
  auto isWhole = [](int64_t step) { return step >= 0 && step % kTileK == 0; };
  for (const Side *side : {&scalar, &lane}) {
    if (side->coefficients[innermost] != 1)
      return false;
    for (unsigned k : ArrayRef(kDims).drop_back())
      if (!isWhole(side->coefficients[k]))
        return false;
    for (unsigned d : ArrayRef(laneDims).drop_front())
      if (!isWhole(side->coefficients[d]))
        return false;
  }
  return true;
}

constexpr int64_t twoVectors = 32; // of f32

bool ContractForm::pairsRowsOfTaps() const {
  return hasBf16 && is<DotProduct>() && laneDims.size() > 1 &&
         kDims.size() > 1 && borders.empty() && rowDim >= 0 &&
         extents[kDims.back()] % twoVectors == 0 && kBlock <= kMaxPairedBlock;
}

bool ContractForm::dotsBf16() const {
  bool alongK = is<DotProduct>() && extents[kDims.back()] >= twoVectors;
  return hasBf16 && (is<BlockedProduct>() || alongK || pairsOuterK ||
                     pairsChannels() || pairsPixels());
}

FailureOr<ContractForm> ContractForm::create(const StagedKernel &kernel,
                                             const Stage &stage,
                                             const Processor &processor) {
  return create(kernel, stage, processor, [&](Value placed) {
    return kernel.isInScratch(placed) ? stridesOf(kernel.shapeOf(placed))
                                      : kernel.placement(placed).strides;
  });
}

ContractForm ContractForm::of(const TiledKernel &kernel, const Stage &stage) {
  return *create(kernel, stage, kernel.processor(), [&](Value placed) {
    return SmallVector<int64_t, 6>(kernel.strides(placed));
  });
}

/// Of rows: so many that a long product has something to do for several
/// threads, each block of rows enough to be worth packing the lanes' side for
/// it: a twentieth of the time of a block of 128.
static int64_t blocksForThreads(const ContractForm &form, int64_t laneBlock) {
  constexpr int64_t wantedTiles = 8, leastRows = 128, leastFlops = 1 << 26;
  int64_t laneBlocks = llvm::divideCeil(form.laneCount(), laneBlock);
  int64_t flops = 2 * form.rows() * form.laneCount() * form.kCount();
  return std::min({int64_t(llvm::divideCeil(wantedTiles, laneBlocks)),
                   form.rows() / leastRows, flops / laneBlocks / leastFlops});
}

static bool isBestBlocked(const ContractForm &form, unsigned lanes) {
  return form.isLarge() && form.kCount() >= 64 && form.borders.empty() &&
         form.laneDims.size() == 1 &&
         // Few lanes use each row just once, where it is.
         (form.laneCount() > kMaxVectors * lanes || !form.rowsAlongK() ||
          (form.hasBf16 && form.laneCount() >= kVectorsOfPairs * lanes));
}

/// Blocks of k and, of a large product, of rows and lanes.
static void cutK(ContractForm &form, unsigned lanes) {
  bool blocked = isBestBlocked(form, lanes);
  if (!blocked && form.fetchesLanes(lanes))
    return;
  // A panel's k block shares the first-level cache with rows and sums.
  int64_t count = form.kCount();
  int64_t most = blocked ? form.machine->blockRowBytes / (64 / lanes)
                         : form.machine->panelDepth;
  if (count > (blocked ? most : most * 3 / 2)) {
    int64_t blocks = llvm::divideCeil(count, most);
    form.kBlock =
        llvm::alignTo(llvm::divideCeil(count, blocks), blocked ? lanes : 8);
  }
  if (blocked) {
    int64_t laneBlock =
        form.numKBlocks() == 1 ? form.laneCount() : kBlockVectors * lanes;
    int64_t rowBlocks = std::max<int64_t>(
        llvm::divideCeil(form.rows(), form.machine->maxBlockRows),
        blocksForThreads(form, laneBlock));
    form.product = BlockedProduct{
        int64_t(llvm::divideCeil(form.rows(), rowBlocks)), laneBlock};
  }
}

FailureOr<ContractForm> ContractForm::create(const StagedKernel &kernel,
                                             const Stage &stage,
                                             const Processor &processor,
                                             StridesFn stridesIn) {
  const graph::LoopNest &loops = kernel.nest(stage.op);
  const plan::MachineModel &machine = *processor.machine;
  unsigned lanes = processor.lanes;
  ContractForm base;
  base.machine = &machine;
  base.stage = &stage;
  base.extents.assign(loops.extents.begin(), loops.extents.end());
  auto left = linearOperand(kernel, stage, 0, stridesIn);
  auto right = linearOperand(kernel, stage, 1, stridesIn);
  if (failed(left) || failed(right) ||
      failed(findBorders(kernel, stage.op, base.borders)))
    return failure();
  base.scalar = *left, base.lane = *right;
  base.hasBf16 = lanes == 16 &&
                 (left->rounds || graph::holdsBf16(left->leaf)) &&
                 (right->rounds || graph::holdsBf16(right->leaf));
  for (unsigned d = loops.numParallel; d < loops.extents.size(); ++d)
    base.kDims.push_back(d);
  auto strides = resultStrides(kernel, stage, stridesIn);
  Candidate best;
  for (bool swap : {false, true}) {
    Candidate options[] = {
        laneCandidate(base, strides, loops.numParallel, swap, lanes),
        dotCandidate(base, strides, loops.numParallel, swap, lanes)};
    if (Candidate &lane = options[0]; lane.score >= 0 && !lane.scattered &&
                                      lane.form.hasPixelChannels() &&
                                      lane.form.canUsePixelRows())
      lane.form.usePixelRows();
    for (Candidate &option : options)
      if (option.score >= 0 && (best.score < 0 || option > best))
        best = std::move(option);
  }
  if (best.score < 0)
    return stage.op->emitOpError(
        "has no dim for the lanes of its vectors: each one of its result "
        "belongs to both operands, or leaves one of them");
  ContractForm &form = best.form;
  form.laneIsMoved = !kernel.placement(form.lane.leaf).offsets.empty();
  form.kBlock = form.kCount();
  if (isBestNarrow(form, lanes)) {
    form.product = NarrowProduct();
    std::swap(form.scalar, form.lane);
    int row = form.rowDim;
    form.rowDim = form.laneDims.front();
    form.laneDims.front() = row;
    return form;
  }
  if (form.is<DotProduct>()) {
    cutDot(form, lanes);
    return form;
  }
  if (!form.hasPixelRows && form.packsPanels() && !best.scattered &&
      form.canUsePixelRows())
    form.usePixelRows();
  if (form.canSumPixels())
    form.sumPixels();
  if (canPairOuterK(form))
    pairOuterK(form);
  if (form.kDims.size() != 1)
    return form;
  if (isBestStreamed(form, lanes))
    return streamed(std::move(form));
  cutK(form, lanes);
  return form;
}

} // namespace dl::cpu
