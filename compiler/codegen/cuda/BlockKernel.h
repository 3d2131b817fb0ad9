// How one graph.kernel is computed on a GPU, decided before any source is
// written: to what a kernel is on any target (see compiler/codegen/kernel) it
// adds which part of the grid a block of threads has, how many threads that
// are, and where values wait between stages.
//
// Example: softmax of [8192,65].
//   grid {8192}, tile sizes {32}: 256 blocks of 256 threads
//   shared memory 32 maxima and 32 sums
//
// Attention, a chain of products through scores [32,6,256,256]:
//   tile sizes {1,1,64,256}: 768 blocks have 64 rows each
//   shared memory 64 rows of scores, in whose place their exponentials and
//   probabilities come, and the steps of the product that is at work
//
// The same of [32,6,4096,4096], whose rows are too long for it:
//   tile sizes {1,1,64,128}: a block has 64 rows, and 128 columns at a time
//   shared memory 64 x 128 scores, and of each row what its columns add up to
// (Dao et al., "FlashAttention", 2022.)
//
// All of it follows from shapes, and nothing from the number of processors: the
// same plan gives the same bits on each chip of a family.
#pragma once

#include "compiler/codegen/cuda/ColumnPasses.h"
#include "compiler/codegen/cuda/ContractForm.h"
#include "compiler/codegen/kernel/BoundKernel.h"
#include <vector>

namespace dl::cuda {

using kernel::accessAt;
using kernel::BoundKernel;
using kernel::GridPart;
using kernel::KernelBody;
using kernel::Placement;
using kernel::simplified;
using kernel::Stage;
using kernel::StagedKernel;

/// What a thread reads or writes at once, and what bindings are aligned to.
inline constexpr int64_t kVectorBytes = 16;
/// Threads of a block, at most, that has no product; all of a row together.
inline constexpr unsigned kBlockThreads = 256;

/// How the threads of a block share the sums of a stage: each point of the
/// result has `lanes` threads.
struct Reduction {
  unsigned lanes = 1;
  /// Neighbouring threads are lanes of one point, which read neighbours along
  /// the reduced dims; else they are points.
  bool lanesInner = true;
  /// Neighbouring points that a thread has, which it reads at once.
  unsigned vector = 1;
};

class BlockKernel : public BoundKernel {
public:
  /// Fails, with a diagnostic, where an op has no loop nest.
  static mlir::FailureOr<BlockKernel> create(graph::KernelOp kernel);

  unsigned threads() const { return numThreads; }
  /// Blocks of the grid, one a tile and part of its sums.
  int64_t blocks() const { return tiles() * splits(); }
  int64_t tiles() const;
  /// Blocks that have a part of each sum of one tile; the last one of them to
  /// finish adds the parts.
  unsigned splits() const { return product ? product->splits : numSplits; }
  /// How it multiplies, if it is one product and what is elementwise on that.
  const std::optional<ContractForm> &contractForm() const { return product; }
  /// How a block multiplies in this stage; null where it adds up otherwise.
  const ContractForm *productOf(const Stage &stage) const;
  /// Products are computed tile by tile, with what is between them.
  bool isChain() const { return !chained.empty(); }
  /// Of a chain whose columns come some at a time.
  const std::optional<ColumnPasses> &columnPasses() const { return passes; }
  int64_t columnBlocks() const;
  /// So many are to share a processor.
  unsigned blocksAtOnce() const;

  llvm::ArrayRef<int64_t> tileSizes() const { return sizes; }
  bool isCut(GridPart part) const {
    return part.grid && sizes[*part.grid] < grid()[*part.grid].extent;
  }
  /// Of an iteration dim of a stage: what a tile has of it, at most.
  int64_t tileExtent(const Stage &stage, unsigned dim) const;
  Reduction reduction(const Stage &stage) const;
  /// Points of its result that a tile has, at most.
  int64_t tilePoints(const Stage &stage) const;
  /// What a tile has of each iteration dim.
  llvm::SmallVector<int64_t> tileExtents(const Stage &stage) const;
  /// A stage's dims of results as they lie in memory, outermost first.
  llvm::SmallVector<unsigned> loopOrder(const Stage &stage) const;

  /// Of a value in scratch: where the block's part begins, and the elements
  /// between neighbours of each dim.
  int64_t scratchOffset(mlir::Value value) const {
    return places.find(value)->second.offset;
  }
  llvm::ArrayRef<int64_t> strides(mlir::Value placed) const {
    return isTileLocal(placed)
               ? llvm::ArrayRef<int64_t>(places.find(placed)->second.strides)
               : llvm::ArrayRef<int64_t>(placement(memoryOf(placed)).strides);
  }
  /// The placed value in whose memory it is: itself, but for one that waits in
  /// a result, as the exponentials of a softmax do whose rows are too long for
  /// shared memory.
  mlir::Value memoryOf(mlir::Value placed) const {
    auto found = waiting.find(placed);
    return found == waiting.end() ? placed : found->second;
  }
  /// Whether each block has memory of its own for it.
  bool isTileLocal(mlir::Value placed) const {
    return isInScratch(placed) && !waiting.contains(placed);
  }
  /// Values wait in shared memory, or where they are too large for it, in the
  /// workspace.
  bool scratchIsShared() const { return inShared; }
  /// Of values, for each block; combining areas of reductions follow.
  int64_t valueBytes() const { return allValueBytes; }
  int64_t combineOffset() const { return inShared ? allValueBytes : 0; }
  int64_t sharedBytes() const;
  /// Of a launch of a chain, by the model that its tiles are chosen by.
  double chainSeconds(const plan::MachineModel &machine) const;
  /// Device memory that a launch writes and nobody reads afterwards: parts of
  /// sums, values. It lies in the arena, like any temporary.
  int64_t workspaceBytes() const;
  /// And that is zero before each launch and behind it: how many blocks of a
  /// tile have finished.
  int64_t counterBytes() const;
  /// Bytes of what one block leaves of its sums.
  int64_t partBytes() const;
  /// Elements, points or blocks are too many for 32-bit indices.
  bool isWide() const;

  llvm::StringRef strategy() const;

private:
  struct Place {
    int64_t offset;
    llvm::SmallVector<int64_t, 6> strides;
  };

  explicit BlockKernel(BoundKernel bound);
  int64_t sumPoints(const Stage &stage) const;
  std::optional<unsigned> innermostPoint(const Stage &stage) const;
  bool readsAlongSums(const Stage &stage) const;
  unsigned vectorOfPoints(const Stage &stage) const;
  bool chooseChain();
  /// What a block of a chain has at a time.
  struct Tiles {
    int64_t rows, columns;
    int64_t steps;      // bytes of a product's, at most
    bool keeps = false; // what all blocks of columns read
  };
  bool tryChain(unsigned rows, const Tiles &tiles);
  bool formChain(const Tiles &tiles, bool mayStay);
  void chooseTiles();
  void chooseSplits();
  void chooseThreads();
  void placeScratch();
  void findResultToWaitIn(mlir::Value value);
  void layOutScratch();
  struct Lifetime;
  Lifetime lifetimeOf(mlir::Value value) const;
  int64_t stepBytes() const;
  double chainCycles(const plan::MachineModel *machine) const;
  double timesOf(const Stage &stage) const;
  double seenBlocks(const ColumnPasses::Pass &pass) const;

  std::optional<ContractForm> product;
  /// Of a chain, by stage.
  std::vector<std::optional<ContractForm>> chained;
  std::optional<ColumnPasses> passes;
  llvm::SmallVector<int64_t, 6> sizes; // of a product, all of each dim
  unsigned numThreads = 256, numSplits = 1;
  llvm::DenseMap<mlir::Value, Place> places;
  llvm::DenseMap<mlir::Value, mlir::Value> waiting; // in a result
  int64_t allValueBytes = 0;
  bool inShared = true;
};

} // namespace dl::cuda
