// How contractions are cut for registers; what follows from caches stands in
// the machine's description.
#pragma once

#include <cstdint>

namespace dl::cpu {

/// A narrow product moves so many times fewer elements than one that would be
/// computed in cache blocks.
inline constexpr double kNarrowGain = 2;
/// Vectors of a panel of its lanes.
inline constexpr int64_t kMaxNarrowVectors = 3;
/// So many taps of a filter row are the columns of a register tile on each
/// instruction set. Others would be cut anywhere, each panel with its own code.
inline constexpr int64_t kMaxRun = 7;
/// Vectors along k beside which the sum of their lanes costs little.
inline constexpr int64_t kManyK = 64;
/// Rows and columns of a tile of the dot form, about.
inline constexpr int64_t kDotRows = 8, kDotColumns = 16;
/// The same of taps of filters. Rows often lie a power of two apart, where all
/// share the sets of the first cache, which have 8 lines; one is the columns'.
inline constexpr int64_t kTapRows = 6, kTapColumns = 48;
/// Heads of attention, about, of which each may be a tile.
inline constexpr int64_t kManyBatches = 8;
/// Vectors of lanes for which rows of bf16 are worth being packed.
inline constexpr int64_t kVectorsOfPairs = 2;
/// Other k than those of the outermost dim, at most, where rows are packed as
/// pairs of that: taps of a filter.
inline constexpr int64_t kMaxInnerK = 128;
/// All k then, at most, and lanes of all batches that use the packed rows, at
/// least.
inline constexpr int64_t kMaxPairedK = 16384, kMinPairedLanes = 256;
/// K of a block, at most, of which rows of taps become pairs beforehand.
inline constexpr int64_t kMaxPairedBlock = 4096;
/// What a k block then reads for a panel of its lanes, about, and uses for each
/// block of rows: for the first-level cache, with the rows.
inline constexpr int64_t kPairedWindowBytes = 18 << 10;
/// Rows for which two rows of lanes are worth being joined to pairs on the way.
inline constexpr int64_t kMinPairedRows = 8;
/// Lanes of a tile, about, for which its rows are worth being packed.
inline constexpr int64_t kLanesOfPackedRows = 1024;
/// Lanes of a cache block whose sums wait between k blocks.
inline constexpr int64_t kBlockVectors = 64;
/// Vectors of a panel of a product of one row (half as many where each is two
/// registers), k of its blocks, as many runs as prefetchers follow, and lanes
/// whose sums wait in the first-level cache; and from how many k on it is worth
/// it.
inline constexpr int64_t kStreamedVectors = 8, kStreamedDepth = 32,
                         kStreamedLanes = 4096, kLeastStreamed = 32;
/// More vectors of a row than this are several panels.
inline constexpr int64_t kMaxVectors = 6;

/// Channels that lie next to one another, and pixels of a row, for which such
/// rows are worth their own product: a vector of f32, and some sums of one.
inline constexpr int64_t kPixelChannels = 16, kLeastPixels = 4;
/// Pixels of its tile, about, which share its packed lanes; and bytes of those.
inline constexpr int64_t kPixelsOfTile = 256, kPixelLaneBytes = 256 << 10;
/// Lanes of such a tile: two vectors of f32 at least.
inline constexpr int64_t kLeastPixelLanes = 32, kMostPixelLanes = 256;
/// Where pixels are summed: those of a block of k, about, of which a panel of
/// two vectors stays in the first-level cache; rows and lanes of a tile.
inline constexpr int64_t kPixelsOfBlock = 256;
inline constexpr int64_t kPixelSumRows = 64, kPixelSumLanes = 64;

/// What AMX multiplies at once: rows, lanes, and k in pairs.
inline constexpr int64_t kTileRows = 16, kTileK = 32;
/// Lanes of a cache block of tiles, and k, about: both packed sides and the
/// sums are for the second-level cache, 32 rows and 32 lanes for the first.
inline constexpr int64_t kTiledLanes = 512, kTiledDepth = 384;
/// Windows of rows and lanes that are packed together, about.
inline constexpr int64_t kDotWindowBytes = 1 << 20;
/// Rows times channels of which a kernel's tile may have 32 x 32.
inline constexpr int64_t kManyDots = 128 * 128;
/// Rows of a tile of a convolution, for which its images are packed.
inline constexpr int64_t kTapTileRows = 64;

/// Packed rows are fetched so many k before they are needed: about 200
/// cycles, what the second-level cache may take under load.
inline constexpr int64_t kAhead = 16;
/// Lanes that lie far apart are fetched a few k ahead only: many would share a
/// set of the cache.
inline constexpr int64_t kFarAhead = 4;
/// From so many k on there is time to fetch what is stored behind them.
inline constexpr int64_t kFetchingK = 256;
/// Of a run of columns along k, so many elements: a row of an image, about.
inline constexpr int64_t kColumnsAhead = 1024;

} // namespace dl::cpu
