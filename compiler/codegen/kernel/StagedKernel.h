// Which values of a kernel get memory, and in how many goes they are computed.
//
// Example: conv2d [4,10,24,24] + bias, max_pool2d -> [4,10,12,12].
//   stage 0  a contraction  conv2d + bias -> scratch
//   stage 1  loops          max_pool2d    -> result 0
#pragma once

#include "compiler/codegen/kernel/KernelBody.h"
#include "llvm/ADT/MapVector.h"

namespace dl::kernel {

/// Where a value that gets memory has it: in a buffer that the launch binds, or
/// in the scratch of the tile, in a way that is the target's.
struct Placement {
  enum Kind { Operand, Result, Scratch } kind = Scratch;
  unsigned number = 0; // of the operand or result
  /// Of an operand or result: elements between neighbours of each dim.
  llvm::SmallVector<int64_t, 6> strides = {};
  /// Of an operand: constants of the launch, each times so many elements, that
  /// say where it begins in its buffer.
  llvm::SmallVector<std::pair<unsigned, int64_t>, 2> offsets = {};
};

/// One op whose results get memory; the ops between it and other placed values
/// are computed where they are read.
struct Stage {
  mlir::Operation *op = nullptr;
  bool contraction = false;
  /// Its loops run one after the other along a dim: running sums, sorting.
  bool sequential = false;
  /// Contraction: the elementwise op whose value is stored instead, computed on
  /// the accumulators before they leave the registers.
  mlir::Operation *epilogue = nullptr;
  /// Of a sum: others over the same points, added up in the same pass.
  llvm::SmallVector<mlir::Operation *, 2> sumsBeside;
  /// Loops, and products as ProductReaders says: elementwise ops on its
  /// results, computed and stored point by point with them.
  llvm::SmallVector<mlir::Operation *> followers;

  mlir::Operation *storedOp() const { return epilogue ? epilogue : op; }
  /// Its op, epilogue, a sum beside or a follower computes the value.
  bool makes(mlir::Value value) const;
  /// The results of the op that it stores, of the sums beside it and of its
  /// followers, some of which may get no memory.
  llvm::SmallVector<mlir::OpResult> results() const;
};

using Stages = llvm::SmallVector<Stage>;
using Placements = llvm::MapVector<mlir::Value, Placement>;

/// What is elementwise on a product besides its epilogue. Apart: stages that
/// read it from memory. Rounding: the same, and what products read rounded to
/// bf16 they round themselves. Widening: the same, and what products read that
/// is stored as bf16 they widen themselves. Together: followers, as of any
/// other stage; what they need is computed before the product.
enum class ProductReaders { Apart, Rounding, Widening, Together };

/// Of a chain of products whether each of its values is there as a whole before
/// the next one, or some columns of all of them at a time. What sums up columns
/// is complete behind all of them then, and what is elementwise on it waits.
enum class Columns { Whole, Streamed };

/// The stages of a kernel run in their order.
class StagedKernel : public KernelBody {
public:
  explicit StagedKernel(KernelBody body,
                        ProductReaders readers = ProductReaders::Apart,
                        Columns columns = Columns::Whole);

  bool streamsColumns() const { return columns == Columns::Streamed; }

  const Stages &stages() const { return allStages; }
  size_t numberOf(const Stage &stage) const {
    return &stage - allStages.begin();
  }
  bool hasContraction() const;
  const Placements &placements() const { return allPlacements; }
  bool isPlaced(mlir::Value value) const { return allPlacements.count(value); }
  const Placement &placement(mlir::Value placed) const {
    return allPlacements.find(placed)->second;
  }
  bool isInScratch(mlir::Value placed) const {
    return placement(placed).kind == Placement::Scratch;
  }
  /// Of all operands, each once, and results.
  int64_t bytes() const;

  using LeafFn = llvm::function_ref<void(
      mlir::Value leaf, llvm::ArrayRef<mlir::AffineExpr> index, bool guarded)>;
  /// Every placed value that one iteration of a stage reads, with indices over
  /// the stage's iteration dims.
  void forEachRead(const Stage &stage, LeafFn fn) const;
  /// What a reader sees through: views, also f32 that is rounded to bf16; or
  /// f32 of an operand of the kernel that is stored as bf16; or any such f32,
  /// also zeros around what is read.
  enum class Seen { Views, Rounded, Stored, Widened, Padded };
  /// Where all work goes together, zeros around it are left out, and what is
  /// stored as bf16 is widened.
  Seen seenByProducts() const;
  /// The placed value that a contraction's operand is no more than this of,
  /// with its index over the contraction's iteration dims; null if it is
  /// computed.
  mlir::Value viewedLeaf(mlir::Value value,
                         llvm::SmallVectorImpl<mlir::AffineExpr> &index,
                         Seen seen = Seen::Views) const;

private:
  /// Every placed value that evaluating `value` at `index` reads, if it is none
  /// that `isMade` at the same time.
  void forEachLeaf(mlir::Value value, llvm::ArrayRef<mlir::AffineExpr> index,
                   llvm::function_ref<bool(mlir::Value)> isMade,
                   LeafFn fn) const;

  // In this order.
  void placeOperandsAndResults();
  void collectStages();
  void foldEpilogues();
  void mergeSums();
  void mergeFollowers();
  void gatherAroundProduct();
  void delayProducts();

  void findOffsets(mlir::BlockArgument operand, mlir::DenseI64ArrayAttr order,
                   Placement &placement) const;
  void addStage(mlir::Operation *op);
  bool foldEpilogue(size_t stage);
  bool overwritesForOthers(size_t earlier, size_t later) const;
  bool canAddUpTogether(size_t first, size_t later) const;
  bool waitsForColumns(const Stage &stage) const;
  using Ops = llvm::DenseSet<mlir::Operation *>;
  bool readsProduct(mlir::Operation *op, const Ops &onProduct) const;
  bool isChain = false; // of products
  bool readsForProduct(mlir::Operation *user) const;
  bool mustPlace(mlir::Operation *op, const Ops &onProduct) const;

  ProductReaders readers;
  Columns columns;
  Stages allStages;
  Placements allPlacements;
};

} // namespace dl::kernel
