// What each way to compute a contraction needs: tiles, scratch, registers.

#include "compiler/codegen/cpu/ContractForm.h"
#include "compiler/codegen/cpu/ContractLimits.h"

using namespace mlir;

namespace dl::cpu {

int64_t ContractForm::laneCount() const {
  int64_t count = 1;
  for (unsigned d : laneDims)
    count *= extents[d];
  return count;
}

int64_t ContractForm::batchCount() const {
  int64_t count = 1;
  for (unsigned d : batchDims)
    count *= extents[d];
  return count;
}

int64_t ContractForm::kCount() const {
  int64_t count = 1;
  for (unsigned d : kDims)
    count *= extents[d];
  return count;
}

int64_t ContractForm::laneOffset(int64_t flat) const {
  int64_t offset = 0;
  for (size_t i = laneDims.size(); i-- > 0;) {
    int64_t extent = extents[laneDims[i]];
    int64_t index = i == 0 ? flat : flat % extent;
    offset += index * lane.coefficients[laneDims[i]];
    flat /= extent;
  }
  return offset;
}

int64_t ContractForm::tileLanes(const TiledKernel &kernel) const {
  int64_t count = 1;
  for (unsigned d : laneDims)
    count *= tileExtent(kernel, d);
  return count;
}

bool ContractForm::isLarge() const {
  // Products of pairs, for which operands are copied, take half of the time.
  // (A small one would be a single tile, where it is not one of many.)
  bool isSooner = hasBf16 && batchCount() >= kManyBatches;
  return rows() >= machine->minBlockRows &&
         rows() * laneCount() >= machine->blockedResult / (isSooner ? 4 : 1);
}

bool ContractForm::widensLanes() const {
  return lane.isNarrow && !scalar.isNarrow && rows() == 1 &&
         kDims.size() == 1 && laneDims.size() == 1 && borders.empty() &&
         (is<DotProduct>() || is<StreamedProduct>() ||
          (is<LaneProduct>() && !packsPanels()));
}

bool ContractForm::fetchesLanes(unsigned lanesPerVector) const {
  int64_t bytes = lane.isNarrow ? 2 : 64 / lanesPerVector;
  return is<LaneProduct>() && !packsPanels() && kDims.size() == 1 &&
         lane.coefficients[kDims[0]] * bytes >= machine->farStepBytes;
}

bool ContractForm::rowsAlongK() const {
  return scalar.coefficients[kDims.back()] == 1;
}

int64_t ContractForm::tileRows(const TiledKernel &kernel) const {
  return rowDim < 0 ? 1 : tileExtent(kernel, rowDim);
}

int64_t ContractForm::tileExtent(const TiledKernel &kernel,
                                 unsigned dim) const {
  GridPart part = kernel.parts(*stage)[dim];
  return kernel.isCut(part) ? kernel.tileSizes()[*part.grid] / part.step
                            : extents[dim];
}

SmallVector<int64_t> ContractForm::tileSteps(const TiledKernel &kernel) const {
  return std::visit(
      [&](const auto &chosen) { return chosen.tileSteps(*this, kernel); },
      product);
}

ContractScratch ContractForm::scratch(const TiledKernel &kernel) const {
  return std::visit(
      [&](const auto &chosen) { return chosen.scratch(*this, kernel); },
      product);
}

/// Tiles of about so many rows and lanes. Only the outermost lane dim can be
/// cut; a convolution's image stays whole.
static SmallVector<int64_t> stepsOf(const ContractForm &form,
                                    const TiledKernel &kernel, int64_t rows,
                                    int64_t lanes) {
  SmallVector<int64_t> steps(kernel.grid().size(), 1);
  if (form.rowDim >= 0)
    steps[form.rowDim] = rows;
  unsigned lead = form.laneDims.front();
  int64_t inner = form.laneCount() / form.extents[lead];
  steps[lead] = llvm::divideCeil(lanes, inner);
  for (unsigned d : ArrayRef(form.laneDims).drop_front())
    steps[d] = form.extents[d];
  return steps;
}

/// Whole rows of pixels, so many that they are worth the packed lanes, and as
/// many lanes as have room.
static SmallVector<int64_t> pixelSteps(const ContractForm &form,
                                       const TiledKernel &kernel) {
  int64_t laneBytes = form.kCount() * (form.hasBf16 ? 2 : 64 / kernel.lanes());
  int64_t lanes = std::clamp(kPixelLaneBytes / laneBytes, kLeastPixelLanes,
                             kMostPixelLanes);
  auto steps = stepsOf(form, kernel, form.rows(),
                       lanes / kLeastPixelLanes * kLeastPixelLanes);
  int64_t pixels = form.rows();
  for (unsigned d : llvm::reverse(form.batchDims)) {
    steps[d] = std::min<int64_t>(form.extents[d],
                                 llvm::divideCeil(kPixelsOfTile, pixels));
    pixels *= steps[d];
  }
  return steps;
}

SmallVector<int64_t> LaneProduct::tileSteps(const ContractForm &form,
                                            const TiledKernel &kernel) const {
  if (form.hasPixelRows)
    return pixelSteps(form, kernel);
  if (form.sumsPixels)
    return stepsOf(form, kernel, kPixelSumRows, kPixelSumLanes);
  bool large = form.isLarge();
  auto steps = stepsOf(form, kernel, large ? 256 : 24, large ? 512 : 64);
  if (!form.pairsOuterK)
    return steps;
  if (form.tilesTaps() && form.rowDim >= 0)
    steps[form.rowDim] = kTapTileRows;
  // Packed rows serve many lanes.
  unsigned lead = form.laneDims.front();
  int64_t inner = form.laneCount() / form.extents[lead];
  int64_t lanes = inner * std::min(form.extents[lead], steps[lead]);
  for (unsigned d : llvm::reverse(form.batchDims)) {
    steps[d] = std::min<int64_t>(form.extents[d],
                                 llvm::divideCeil(kLanesOfPackedRows, lanes));
    lanes *= steps[d];
  }
  return steps;
}

SmallVector<int64_t>
BlockedProduct::tileSteps(const ContractForm &form,
                          const TiledKernel &kernel) const {
  return stepsOf(form, kernel, rows, 16 * kernel.lanes());
}

/// Whole register tiles of the widest instruction set.
static int64_t wholeDotRows(const ContractForm &form,
                            const TiledKernel &kernel) {
  RegisterTile tile = RegisterTile::chooseDot(
      form, form.rows(), form.laneCount(), kernel.lanes(), Registers{32, 1});
  return std::max<int64_t>(1, kDotRows / tile.rows) * tile.rows;
}

SmallVector<int64_t> DotProduct::tileSteps(const ContractForm &form,
                                           const TiledKernel &kernel) const {
  int64_t rows = wholeDotRows(form, kernel);
  int64_t columns = form.laneDims.size() > 1 ? kTapColumns : kDotColumns;
  if (form.tilesDots()) {
    int64_t channels = form.extents[form.laneDims.front()];
    bool isWide = form.rows() * channels >= kManyDots;
    rows = 2 * kTileRows;
    columns = form.laneCount() / channels * (isWide ? 2 : 1) * kTileRows;
  }
  auto steps = stepsOf(form, kernel, rows, columns);
  unsigned lead = form.laneDims.front(); // in equal parts
  int64_t parts = llvm::divideCeil(form.extents[lead], steps[lead]);
  steps[lead] = llvm::divideCeil(form.extents[lead], parts);
  return steps;
}

SmallVector<int64_t> NarrowProduct::tileSteps(const ContractForm &form,
                                              const TiledKernel &kernel) const {
  // All rows of a call share the packed lanes.
  return stepsOf(form, kernel, 4 * kernel.lanes(), form.laneCount());
}

SmallVector<int64_t>
StreamedProduct::tileSteps(const ContractForm &form,
                           const TiledKernel &kernel) const {
  return stepsOf(form, kernel, 1, kStreamedVectors * kernel.lanes());
}

namespace {
/// One part of the scratch behind the other.
class Reserve {
public:
  explicit Reserve(const TiledKernel &kernel)
      : elementBytes(kernel.lanes() == 8 ? 8 : 4) {}
  int64_t operator()(int64_t elements) {
    int64_t at = bytes;
    bytes += llvm::alignTo(elements * elementBytes + 64, 64);
    return at;
  }
  int64_t bytes = 0;

private:
  int64_t elementBytes;
};
} // namespace

/// Packed lanes, `packed` elements or none, and where k is computed block by
/// block a row of `stride` sums for each of the tile's rows.
static ContractScratch sumsOfTile(const ContractForm &form,
                                  const TiledKernel &kernel, int64_t rows,
                                  int64_t stride, int64_t packed) {
  ContractScratch scratch;
  Reserve reserve(kernel);
  scratch.sumStride = stride;
  if (packed)
    reserve(packed);
  if (form.numKBlocks() > 1)
    scratch.sumsAt = reserve(rows * stride);
  scratch.bytes = reserve.bytes;
  return scratch;
}

ContractScratch LaneProduct::scratch(const ContractForm &form,
                                     const TiledKernel &kernel) const {
  int64_t stride = llvm::alignTo(form.tileLanes(kernel), kernel.lanes());
  int64_t packed = pack ? form.kBlock * stride : 0;
  // One vector more than needed: strides of a power of two share cache sets.
  ContractScratch scratch = sumsOfTile(form, kernel, form.tileRows(kernel),
                                       stride + kernel.lanes(), packed);
  // (Pixels are summed so on processors without pairs, too.)
  int64_t rows = 0;
  if (form.pairsOuterK)
    rows = form.tileRows(kernel) * form.kCount() / 2;
  else if (form.hasBf16 && form.sumsPixels)
    rows = form.tileRows(kernel) * form.kBlock;
  else if (form.pairsChannels())
    rows = llvm::divideCeil(form.pixelWindow(kernel), 2);
  if (rows) {
    Reserve reserve(kernel);
    reserve(rows);
    scratch.rowsAt = scratch.bytes;
    scratch.bytes += reserve.bytes;
  }
  if (form.tilesBf16())
    scratch.bytes = std::max(scratch.bytes, form.tileScratch(kernel).bytes);
  return scratch;
}

int64_t ContractForm::dotRows(const TiledKernel &kernel) const {
  int64_t rows = tileRows(kernel);
  return tilesDots() ? std::min(rows, wholeDotRows(*this, kernel)) : rows;
}

ContractScratch DotProduct::scratch(const ContractForm &form,
                                    const TiledKernel &kernel) const {
  // A vector of sums for each column.
  int64_t stride = form.tileLanes(kernel) * kernel.lanes();
  int64_t rows = form.dotRows(kernel);
  ContractScratch scratch = sumsOfTile(form, kernel, rows, stride, 0);
  if (form.pairsRowsOfTaps()) {
    Reserve reserve(kernel);
    reserve(rows * form.kBlock / 2);
    scratch.rowsAt = scratch.bytes;
    scratch.bytes += reserve.bytes;
  }
  if (form.tilesDots())
    scratch.bytes = std::max(scratch.bytes, form.dotScratch(kernel).bytes);
  return scratch;
}

ContractScratch BlockedProduct::scratch(const ContractForm &form,
                                        const TiledKernel &kernel) const {
  ContractScratch scratch;
  Reserve reserve(kernel);
  // A call may compute several tiles that are neighbours along the lanes. One
  // vector more than needed: strides of a power of two share cache sets.
  int64_t width = std::min(lanes, form.laneCount());
  int64_t height = std::min(rows, form.tileRows(kernel));
  scratch.sumStride = llvm::alignTo(width, kernel.lanes()) + kernel.lanes();
  reserve(form.kBlock * 2 * kernel.lanes());
  scratch.rowsAt = reserve(height * form.kBlock + kernel.lanes());
  if (form.numKBlocks() > 1)
    scratch.sumsAt = reserve(height * scratch.sumStride);
  scratch.bytes = reserve.bytes;
  if (form.tilesBf16())
    scratch.bytes = std::max(scratch.bytes, form.tileScratch(kernel).bytes);
  return scratch;
}

int64_t ContractForm::tiledDepth() const {
  int64_t count = kCount();
  if (count <= kTiledDepth * 4 / 3)
    return count;
  return llvm::alignTo(
      llvm::divideCeil(count, llvm::divideCeil(count, kTiledDepth)), kTileK);
}

int64_t ContractForm::planeStride(const TiledKernel &kernel) const {
  int64_t elements = 1;
  for (unsigned d : llvm::concat<const unsigned>(batchDims, laneDims))
    elements += (tileExtent(kernel, d) - 1) * std::abs(lane.coefficients[d]);
  for (unsigned k : ArrayRef(kDims).drop_front())
    elements += (extents[k] - 1) * std::abs(lane.coefficients[k]);
  elements = std::min(elements, lane.coefficients[kDims.front()]);
  return (llvm::divideCeil(elements, kTileRows) | 1) * kTileRows;
}

/// Packed planes, packed rows, one row of them on its way, four tiles of sums.
static ContractScratch tapScratch(const ContractForm &form,
                                  const TiledKernel &kernel) {
  ContractScratch scratch;
  Reserve reserve(kernel);
  int64_t pairs = form.kCount() / 2;
  scratch.sumStride = 2 * kTileRows;
  reserve(form.extents[form.kDims.front()] / 2 * form.planeStride(kernel));
  scratch.rowsAt =
      reserve(llvm::alignTo(form.tileRows(kernel), kTileRows) * pairs);
  scratch.transposedAt = reserve(pairs);
  scratch.sumsAt = reserve(2 * kTileRows * scratch.sumStride);
  scratch.bytes = reserve.bytes;
  return scratch;
}

ContractScratch ContractForm::tileScratch(const TiledKernel &kernel) const {
  if (tilesTaps())
    return tapScratch(*this, kernel);
  if (tilesDots())
    return dotScratch(kernel);
  ContractScratch scratch;
  Reserve reserve(kernel);
  const BlockedProduct &cut = *as<BlockedProduct>();
  int64_t width = llvm::alignTo(std::min({cut.lanes, kTiledLanes, laneCount()}),
                                2 * kTileRows);
  int64_t height =
      llvm::alignTo(std::min(cut.rows, tileRows(kernel)), kTileRows);
  int64_t pairs = llvm::alignTo(tiledDepth(), kTileK) / 2;
  scratch.sumStride = width + kTileRows;
  reserve(width * pairs);
  scratch.rowsAt = reserve(height * pairs);
  bool waits = tiledDepth() < kCount();
  scratch.sumsAt =
      reserve((waits ? height : 2 * kTileRows) * scratch.sumStride);
  scratch.bytes = reserve.bytes;
  return scratch;
}

ContractScratch NarrowProduct::scratch(const ContractForm &form,
                                       const TiledKernel &kernel) const {
  ContractScratch scratch;
  Reserve reserve(kernel);
  scratch.sumStride = kMaxNarrowVectors * kernel.lanes();
  reserve(form.kBlock * llvm::alignTo(form.laneCount(), kernel.lanes()));
  scratch.sumsAt = reserve(kernel.lanes() * scratch.sumStride);
  scratch.transposedAt = reserve(scratch.sumStride * kernel.lanes());
  scratch.bytes = reserve.bytes;
  return scratch;
}

ContractScratch StreamedProduct::scratch(const ContractForm &form,
                                         const TiledKernel &kernel) const {
  // A call may compute all lanes.
  int64_t width = std::min(form.laneCount(), kStreamedLanes);
  return sumsOfTile(form, kernel, 1, llvm::alignTo(width, kernel.lanes()), 0);
}

/// Of how many runs of neighbours a vector of unpacked lanes is made, on
/// average: each is a load, and all but the first are blended.
static double runsOf(const ContractForm &form, int64_t lanes, int64_t width) {
  if (form.packsPanels() || !form.is<LaneProduct>())
    return 1;
  int64_t counted = std::min<int64_t>(lanes, 16 * width), runs = 0;
  for (int64_t l = 0; l < counted; ++l)
    runs += l % width == 0 || form.laneOffset(l) != form.laneOffset(l - 1) + 1;
  return double(runs) / double(llvm::divideCeil(counted, width));
}

RegisterTile RegisterTile::choose(const ContractForm &form, int64_t rows,
                                  int64_t lanes, unsigned lanesPerVector,
                                  Registers registers) {
  RegisterTile best{1, 1};
  double bestCost = 1e300;
  int64_t vectors = (lanes + lanesPerVector - 1) / lanesPerVector;
  double runs = runsOf(form, lanes, lanesPerVector);
  for (int nv = 1; nv <= kMaxVectors && nv <= vectors; ++nv) {
    if (nv > 4 && nv != vectors)
      continue;
    // Beside the sums: the vectors of one k and a broadcast, and some for lanes
    // that are blended of runs.
    int wide = nv * registers.perVector;
    int free = std::min(registers.count - wide - 1, registers.count * 3 / 4);
    int maxRows = std::min<int64_t>({free / wide, 14, rows});
    if (maxRows < 1)
      continue;
    int64_t panels = (vectors + nv - 1) / nv;
    int64_t blocks = (rows + maxRows - 1) / maxRows;
    double loaded = double(blocks) * vectors;
    double loads = loaded * runs + double(panels) * rows;
    double chains = maxRows * nv < 8 ? 8.0 / (maxRows * nv) : 1;
    double cost =
        double(rows) * vectors * chains + loaded * (runs - 1) + 0.6 * loads;
    if (cost < bestCost - 1e-9)
      bestCost = cost, best = {maxRows, nv};
  }
  return best;
}

RegisterTile RegisterTile::chooseNarrow(int64_t lanes, unsigned lanesPerVector,
                                        Registers registers) {
  // Rows are a part of a square that is transposed.
  int64_t vectors = llvm::divideCeil(lanes, lanesPerVector);
  if (registers.perVector > 1)
    return {4, 1};
  if (vectors == 1)
    return {16, 1};
  return {8, vectors == kMaxNarrowVectors ? 3 : 2};
}

RegisterTile RegisterTile::chooseDot(const ContractForm &form, int64_t rows,
                                     int64_t columns, unsigned lanesPerVector,
                                     Registers registers) {
  // Rows are held and columns pass by, or the other way round; halves of
  // logical vectors one after the other.
  auto fits = [&](int64_t r, int64_t c) {
    return r * c * registers.perVector + std::min(r, c) < registers.count;
  };
  // Columns of one panel are neighbours: the taps of one row of a filter.
  int64_t run = form.extents[form.laneDims.back()];
  if (form.laneDims.size() > 1 && run <= lanesPerVector &&
      (fits(2, run) || run <= kMaxRun)) {
    int64_t high = 1;
    while (high < std::min(rows, kTapRows) && fits(high + 1, run))
      ++high;
    return {int(high), int(run)};
  }
  int64_t high = std::min<int64_t>(rows, registers.perVector > 1 ? 2 : 4);
  int64_t wide = 1;
  while (wide < std::min<int64_t>(columns, 6) && fits(high, wide + 1))
    ++wide;
  return {int(high), int(wide)};
}

} // namespace dl::cpu
