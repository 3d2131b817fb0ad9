// How blocks of threads share a product: a kernel whose last stage is a
// contraction, and which computes a few numbers before; or how one block has
// its part of a product that is one of a chain.
//
// Its dims are rows, columns, batches or sums. A block has a tile of rows x
// columns of one batch, walks along the sums in steps, and has each step of
// both operands in shared memory. Example, conv2d [64,16,28,28] with 32
// filters:
//   rows    32 filters
//   columns 64 x 26 x 26 pixels, along which results are stored
//   sums    16 x 3 x 3
#pragma once

#include "compiler/codegen/kernel/StagedKernel.h"
#include "dialects/plan/MachineModel.h"

namespace dl::cuda {

/// On a graph.kernel: its products of f32 may round operands to tf32.
inline constexpr llvm::StringLiteral kTf32 = "tf32";
/// On a graph.kernel: a product has a tile in registers from so many
/// multiplications on.
inline constexpr llvm::StringLiteral kLeastProduct = "least_product";

struct ContractForm {
  /// Whether it has enough to multiply: a few sums of products are sums like
  /// others.
  static bool isWorthIt(const kernel::StagedKernel &kernel,
                        const kernel::Stage &product);
  /// Nothing where the kernel is another one.
  static std::optional<ContractForm> of(const kernel::StagedKernel &kernel);
  /// Of a stage of a chain, where a block has so much of each of its dims; it
  /// goes over the tiles of its part by itself. `most` is for steps, in bytes.
  /// `mayStay`: values of the block are in shared memory; `isFixed`: a dim that
  /// all blocks of columns have the same of. Nothing where a block would have
  /// several batches.
  static std::optional<ContractForm>
  ofPart(const kernel::StagedKernel &kernel, const kernel::Stage &stage,
         llvm::ArrayRef<int64_t> extents, int64_t most, bool mayStay,
         llvm::function_ref<bool(unsigned)> isFixed);

  /// What one of the two operands has of a tile.
  struct Side {
    unsigned operand;
    llvm::SmallVector<unsigned, 4> dims; // outermost first
    int64_t extent = 1;
    unsigned tile = 0; // of the extent, in one block
    /// Neighbouring threads read neighbours along the sums, not along the side.
    bool alongSums = false;
    /// Elements that a thread reads at once.
    unsigned vector = 1;
    /// The block itself has made what it reads.
    bool isLocal = false;
    /// It is bf16 in memory.
    bool isNarrow = false;
    /// Tensor cores could take it where the block has made it: its rows, or its
    /// columns, lie one behind the other in shared memory.
    bool canStay = false;
    /// They do so: no step of it is copied.
    bool stays = false;
    /// What it is then, its dim from row to row, and the elements between
    /// these.
    mlir::Value made;
    unsigned across = 0, stayingPitch = 0;
    /// It lies in memory as a tile has it, and is 16 bytes of bf16 at once.
    bool isPlain = false;
    /// All blocks of a chain's columns have the same.
    bool isFixed = false;
    /// Where such a side is in shared memory, if it is kept there.
    int64_t keptAt = 0;
  };

  Side rows, columns;
  llvm::SmallVector<unsigned, 4> batches, sums;
  int64_t batchExtent = 1, sumExtent = 1;
  unsigned step = 16; // of the sums, in shared memory at a time
  unsigned splits = 1;
  bool isDouble = false;
  /// One block has all tiles, one after the other.
  bool isPart = false;
  /// On tensor cores, which round operands to tf32: 10 bits of mantissa.
  bool tensorCores = false;
  /// Likewise, of operands that are bf16 in memory, and in tiles.
  bool isNarrow = false;

  /// On tensor cores four warps, each with a quarter of the tile: what they
  /// read of both sides is as short as it can be. Else 16 x 16 threads.
  unsigned threads() const { return tensorCores ? 128 : 256; }
  static constexpr unsigned threadsAlong = 16, warpsAlong = 2;
  /// Numbers of each thread: sums, and elements that are read ahead.
  unsigned registers() const {
    // (Two elements of bf16 are one, where they are read together.)
    auto ahead = [&](const Side &side) {
      return side.stays || isCopied(side)
                 ? 0
                 : side.tile * step / (isNarrow && side.vector > 1 ? 2 : 1);
    };
    return (rows.tile * columns.tile + ahead(rows) + ahead(columns)) /
           threads();
  }
  /// So many blocks are to share a processor: as many as have registers for
  /// these numbers and about 56 more (65536 / 128 threads = 512 in all).
  unsigned blocksAtOnce() const {
    return !tensorCores || registers() > 112 ? 2 : registers() > 64 ? 3 : 4;
  }
  int64_t rowTiles() const { return (rows.extent + rows.tile - 1) / rows.tile; }
  int64_t columnTiles() const {
    return (columns.extent + columns.tile - 1) / columns.tile;
  }
  int64_t tiles() const { return rowTiles() * columnTiles() * batchExtent; }
  /// Of the sums, whole steps.
  int64_t splitExtent() const;
  /// All sums are in shared memory at once.
  bool isOneStep() const { return splits == 1 && splitExtent() == step; }
  /// A part's steps come to shared memory without being in registers
  /// (cp.async).
  bool isCopied(const Side &side) const {
    return isPart && isNarrow && isOneStep() && side.isPlain && !side.stays;
  }
  /// So is a side that is fixed, once for all blocks of columns.
  bool isKept(const Side &side) const {
    return side.isFixed && side.extent <= side.tile && isCopied(side);
  }
  /// No index of a block, an element of a side or a sum is beyond it.
  int64_t largestExtent() const;
  unsigned elementBytes() const { return isDouble ? 8 : 4; }
  /// Of an element of a tile in shared memory.
  unsigned tileBytes() const { return isNarrow ? 2 : elementBytes(); }
  /// Tensor cores take neighbours along the sums as they were read: rows of
  /// shared memory are elements of the tile, and groups of four floats in them
  /// are exchanged (`exchanged`). Else rows are steps of the sums.
  bool keepsRows(const Side &side) const {
    return tensorCores && side.alongSums;
  }
  /// Elements between rows of shared memory. Chosen so that a warp's reads meet
  /// all banks: of 4 x 8 elements on tensor cores, or of 8 rows of 8 elements
  /// of bf16; of rows of vectors else.
  unsigned pitch(const Side &side) const {
    if (side.stays)
      return side.stayingPitch;
    if (isNarrow)
      return (keepsRows(side) ? step : side.tile) + 8;
    return keepsRows(side) ? step : side.tile + (tensorCores ? 8 : 4);
  }
  /// Group g of four of row r is where group g ^ exchanged(r) would be: 8 rows
  /// of one group, and what 8 threads store, are in different banks. As text.
  std::string exchanged(llvm::StringRef row) const {
    return step == 16 ? (row + " / 2u % 4u").str() : (row + " % 8u").str();
  }
  /// Elements of a side of one step, of what comes step by step.
  unsigned memory(const Side &side) const {
    return side.stays || isKept(side) ? 0 : elements(side);
  }
  unsigned elements(const Side &side) const {
    return (keepsRows(side) ? side.tile : step) * pitch(side);
  }
  int64_t sharedBytes() const;
  /// Of what one block leaves of its sums.
  int64_t partBytes() const {
    return int64_t(rows.tile) * columns.tile * elementBytes();
  }

  /// The time of a launch, as the model says by which tiles are chosen.
  double seconds(const plan::MachineModel &machine) const;
  static constexpr double cyclesPerSecond = 1.98e9;
  /// Cycles that a processor is busy with a block's part, on this machine or
  /// the one that tiles are chosen for, and that the block waits besides.
  double busyCycles(const plan::MachineModel *machine = nullptr) const;
  double waitingCycles() const;

  /// Of a chip, what tiles are chosen by.
  struct Chip;

private:
  static std::optional<ContractForm>
  describe(const kernel::StagedKernel &kernel, const kernel::Stage &stage,
           llvm::ArrayRef<int64_t> extents);
  static Chip chipOf(const plan::MachineModel &machine);
  double cyclesOfSum(const Chip &chip) const;
  double cycles(const Chip &chip) const;
  void chooseTiles(llvm::function_ref<double(const ContractForm &)> cost,
                   int64_t most);
};

} // namespace dl::cuda
