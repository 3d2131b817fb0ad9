// Convolutions whose lanes are channels, the forms of PixelRows.cpp: of which
// dims their products are, and how many pixels belong to a tile or to a block
// of k.

#include "compiler/codegen/cpu/ContractForm.h"
#include "compiler/codegen/cpu/ContractLimits.h"

using namespace mlir;

namespace dl::cpu {

/// The row of a pixel's neighbours: of rows and batches the nearest.
static std::optional<unsigned> pixelDim(const ContractForm &form) {
  std::optional<unsigned> nearest;
  auto see = [&](unsigned d) {
    int64_t step = form.scalar.coefficients[d];
    if (step > 0 && form.extents[d] >= kLeastPixels &&
        (!nearest || step < form.scalar.coefficients[*nearest]))
      nearest = d;
  };
  for (unsigned d : form.batchDims)
    see(d);
  if (form.rowDim >= 0)
    see(form.rowDim);
  return nearest;
}

bool ContractForm::hasPixelChannels() const {
  unsigned channel = kDims.back();
  return scalar.coefficients[channel] == 1 &&
         extents[channel] >= kPixelChannels;
}

bool ContractForm::canUsePixelRows() const {
  bool hasImages = false;
  for (unsigned d : batchDims) {
    hasImages |= scalar.coefficients[d] > 0;
    if (lane.coefficients[d] != 0)
      return false;
  }
  return is<LaneProduct>() && kDims.size() > 1 && hasImages &&
         pixelDim(*this) && borders.empty() && laneDims.size() == 1 &&
         kCount() <= kMaxPairedK && laneCount() >= kPixelChannels;
}

void ContractForm::usePixelRows() {
  unsigned row = *pixelDim(*this);
  hasPixelRows = true;
  product = LaneProduct{/*pack=*/true};
  if (rowDim >= 0)
    batchDims.push_back(rowDim);
  llvm::erase(batchDims, row);
  llvm::sort(batchDims);
  rowDim = row;
}

bool ContractForm::pairsChannels() const {
  if (!hasBf16 || !hasPixelRows || !hasPixelChannels())
    return false;
  unsigned channel = kDims.back();
  for (auto [d, step] : llvm::enumerate(scalar.coefficients))
    if (extents[d] > 1 && (step < 0 || (d != channel && step % 2 != 0)))
      return false;
  return extents[channel] % 2 == 0;
}

bool ContractForm::canSumPixels() const {
  return is<LaneProduct>() && !packsPanels() && kDims.size() == 3 &&
         rowDim >= 0 && borders.empty() && rows() >= kMinPairedRows &&
         scalar.coefficients[rowDim] == 1 &&
         lane.coefficients[kDims.back()] >= kPixelChannels &&
         extents[laneDims.back()] % kPixelChannels == 0;
}

/// K are some rows of all images, then the next ones. Pairs are two pixels of a
/// row, or, of an odd width, the same one of two images.
void ContractForm::sumPixels() {
  sumsPixels = true;
  // In f32 lanes are read where they are; pairs would be joined for each block
  // of rows.
  product = LaneProduct{/*pack=*/hasBf16};
  unsigned image = kDims[0], row = kDims[1], pixel = kDims[2];
  if (extents[pixel] % 2 == 0)
    kDims = {row, image, pixel};
  else
    kDims = {row, pixel, image};
  int64_t inner = innerKCount();
  kBlock = inner * std::clamp<int64_t>(kPixelsOfBlock / inner, 1,
                                       extents[kDims.front()]);
}

bool ContractForm::pairsPixels() const {
  return hasBf16 && sumsPixels && extents[kDims.back()] % 2 == 0;
}

int64_t ContractForm::pixelWindow(const TiledKernel &kernel) const {
  int64_t elements = 1;
  for (unsigned k : kDims)
    elements += (extents[k] - 1) * scalar.coefficients[k];
  for (unsigned d : batchDims)
    elements += (tileExtent(kernel, d) - 1) * scalar.coefficients[d];
  return elements + (tileRows(kernel) - 1) * scalar.coefficients[rowDim];
}

} // namespace dl::cpu
