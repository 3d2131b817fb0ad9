// How contractions are cut for registers and caches: sizes in one place.
#pragma once

#include <cstdint>

namespace dl::codegen {

/// k steps of so many bytes in the lane operand leave much of it to fetch.
inline constexpr int64_t kFarStep = 512;
/// 128 k of a panel of 64 floats are 32 KiB.
inline constexpr int64_t kMaxKBlock = 128;
/// Results from here on are computed in cache blocks: the packed rows of a k
/// block are 3/4 MiB at most, a panel of lanes is 48 KiB.
inline constexpr int64_t kLargeResult = 256 * 256;
inline constexpr int64_t kPackedRowBytes = 1536;
inline constexpr int64_t kMinBlockRows = 8, kMaxBlockRows = 512;
/// A narrow product moves so many times fewer elements than one that would be
/// computed in cache blocks.
inline constexpr double kNarrowGain = 2;
/// Its lanes are packed for the second-level cache.
inline constexpr double kMaxNarrowBytes = 512 << 10;
/// Of a panel of it.
inline constexpr int64_t kMaxNarrowVectors = 3;
/// So many taps of a filter row are the columns of a register tile on each
/// instruction set. Others would be cut anywhere, each panel with its own code.
inline constexpr int64_t kMaxRun = 7;
/// Vectors along k beside which the sum of their lanes costs little.
inline constexpr int64_t kManyK = 64;
/// Rows of a tile of the dot form, about, and what they may have of a k block.
inline constexpr int64_t kDotRows = 8, kDotBlockBytes = 32 << 10;
/// And its columns.
inline constexpr int64_t kDotColumns = 16;
/// Lanes of a cache block whose sums wait between k blocks.
inline constexpr int64_t kBlockVectors = 64;
/// More vectors of a row than this are several panels.
inline constexpr int64_t kMaxVectors = 6;

/// Packed rows are fetched so many k before they are needed: about 200
/// cycles, what the second-level cache may take under load.
inline constexpr int64_t kAhead = 16;
/// Lanes that lie far apart are fetched a few k ahead only: many would share a
/// set of the cache.
inline constexpr int64_t kFarAhead = 4;

} // namespace dl::codegen
