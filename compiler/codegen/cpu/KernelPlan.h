// How one graph.kernel is computed, decided before any code is emitted and the
// same for every instruction set: which values get memory (stages), the grid of
// tiles, and what part of each value one tile computes.
//
// Example: conv2d [4,10,24,24] + bias, max_pool2d -> [4,10,12,12].
//   stage 0  contract  conv2d + bias -> scratch   bound to grid dims 0, 1, 2, 3
//   stage 1  loops     max_pool2d    -> result 0  bound to 0 and 1, and to 2
//                                                 and 3 in steps of 2
//   grid {4,10,24,24}, tile sizes {1,10,12,24}: 8 tiles
//   scratch 10*12*24*4 bytes
#pragma once

#include "compiler/codegen/cpu/JoinedDims.h"
#include "dialects/plan/MachineModel.h"
#include "llvm/ADT/MapVector.h"
#include <unordered_map>

namespace dl::cpu {

/// Which part of a dim a tile has.
struct GridPart {
  int grid = -1; // the grid dim it is cut by; -1: whole
  /// Indices of the grid dim for one of this dim: 2 for rows that windows of 2
  /// rows leave.
  int64_t step = 1;
  bool operator==(const GridPart &other) const {
    return grid == other.grid && step == other.step;
  }
};

/// Where a value of the kernel lives while a tile runs.
struct ValuePlacement {
  enum Kind { Operand, Result, Scratch } kind;
  unsigned number = 0;                    // of the operand or result
  int64_t scratchOffset = 0;              // bytes
  llvm::SmallVector<GridPart, 6> binding; // of each dim
  /// Elements between neighbours of each logical dim.
  llvm::SmallVector<int64_t, 6> strides;
  /// Of an operand: constants of the launch, each times so many elements, that
  /// say where it begins in its buffer.
  llvm::SmallVector<std::pair<unsigned, int64_t>, 2> offsets;
};

/// One op whose results get memory; the ops between it and other placed values
/// are inlined.
struct Stage {
  mlir::Operation *op = nullptr;
  /// Of the iteration dims; reduction dims are whole.
  llvm::SmallVector<GridPart, 6> binding;
  bool contraction = false;
  /// Its loops run one after the other along a dim, see SequentialStage.
  bool sequential = false;
  /// Contraction: the elementwise op whose value is stored instead, computed on
  /// the accumulators before they leave the registers.
  mlir::Operation *epilogue = nullptr;
  /// Loops: elementwise ops on its results, computed and stored point by point
  /// with them.
  llvm::SmallVector<mlir::Operation *> followers;

  mlir::Operation *storedOp() const { return epilogue ? epilogue : op; }
  /// Its op, epilogue or a follower computes the value.
  bool makes(mlir::Value value) const;
  /// All that it may store.
  llvm::SmallVector<mlir::OpResult> results() const;
};

class KernelPlan {
public:
  /// Fails, with a diagnostic, where an op has no loop nest. `machine` outlives
  /// the plan.
  static mlir::FailureOr<KernelPlan> create(graph::KernelOp kernel,
                                            const plan::MachineModel &machine);

  mutable graph::KernelOp kernel; // MLIR's accessors are not const
  const plan::MachineModel *machine = nullptr;
  unsigned lanes = 16; // 16 for f32, 8 for f64
  llvm::SmallVector<Stage> stages;
  llvm::MapVector<mlir::Value, ValuePlacement> placements;
  llvm::SmallVector<int64_t, 6> gridExtents, tileSizes;
  /// The step of those dims bound to a grid dim whose step is not 1; tiles are
  /// a multiple of it. 1 where there are none.
  llvm::SmallVector<int64_t, 6> gridBlocks;
  int64_t scratchBytes = 0;
  int64_t packOffset = 0; // of panels and of what is sorted in the scratch
  int64_t flops = 0, bytes = 0;
  unsigned numConstants() const {
    return kernel.getConstants() ? kernel.getConstants()->size() : 0;
  }

  /// Those of the grid.
  int64_t gridTiles() const;
  /// Those that threads take, each one or several of the grid's: `max_tiles` at
  /// most.
  int64_t numTiles() const;
  llvm::StringRef strategy() const;

  /// Over joined dims, as everything else here.
  const graph::LoopNest &nest(mlir::Operation *op) const;
  llvm::SmallVector<int64_t, 6> shapeOf(mlir::Value value) const {
    return joined.shapeOf(value);
  }
  /// The indices that an op's payload gets.
  llvm::SmallVector<mlir::AffineExpr>
  payloadIndices(graph::LoopNestOpInterface op,
                 llvm::ArrayRef<mlir::AffineExpr> dims) const {
    return joined.split(op, dims);
  }
  /// Elements between neighbours of each dim of the whole value.
  llvm::SmallVector<int64_t, 6> orderedStrides(mlir::Value value) const;
  bool isPlaced(mlir::Value value) const { return placements.count(value); }
  bool isCut(GridPart binding) const {
    return binding.grid >= 0 &&
           tileSizes[binding.grid] < gridExtents[binding.grid];
  }

  using LeafFn = llvm::function_ref<void(
      mlir::Value leaf, llvm::ArrayRef<mlir::AffineExpr> index, bool guarded)>;
  /// Every placed value that one iteration of a stage reads, with indices over
  /// the stage's iteration dims.
  void forEachRead(const Stage &stage, LeafFn fn) const;
  /// The placed value that a contraction's operand is a mere view of, with its
  /// index over the contraction's iteration dims; null if it is computed.
  mlir::Value viewedLeaf(mlir::Value value,
                         llvm::SmallVectorImpl<mlir::AffineExpr> &index) const;
  /// Some op reads where an operand says: its index is not what plans see.
  bool hasIndirect() const;

private:
  /// Every placed value that evaluating `value` at `index` reads, if it is none
  /// that `isMade` at the same time.
  void forEachLeaf(mlir::Value value, llvm::ArrayRef<mlir::AffineExpr> index,
                   llvm::function_ref<bool(mlir::Value)> isMade,
                   LeafFn fn) const;
  void placeOperandsAndResults();
  void findOffsets(mlir::BlockArgument operand, mlir::DenseI64ArrayAttr order,
                   ValuePlacement &placement);
  mlir::LogicalResult collectStages();
  void foldEpilogues();
  void mergeFollowers();
  void bindGrid();
  void untileConflicts();
  llvm::SmallVector<unsigned> gridOrder() const;
  void chooseTiles();
  void placeScratch();
  void countCost();
  llvm::SmallVector<int64_t, 6> orderOf(mlir::Value value) const;
  void putMemoryOrder(mlir::Operation *op, graph::LoopNest &loops) const;
  void addStage(mlir::Operation *op);
  bool readsProduct(mlir::Operation *op) const;
  bool mustPlace(mlir::Operation *op) const;

  JoinedDims joined;
  /// Contractions and what is elementwise on their results.
  llvm::DenseSet<mlir::Operation *> onProduct;
  /// References into it stay valid while it grows.
  mutable std::unordered_map<mlir::Operation *, graph::LoopNest> nests;
};

int64_t bytesOf(mlir::Value value);

/// The indices of an operand at an iteration whose dims have the given values.
llvm::SmallVector<mlir::AffineExpr>
accessAt(const graph::Access &access, llvm::ArrayRef<mlir::AffineExpr> dims);

/// Elements between neighbours of each dim of a stored tensor; `order` lists
/// the logical dims from the outermost, row-major where it is empty.
llvm::SmallVector<int64_t, 6> stridesOf(llvm::ArrayRef<int64_t> shape,
                                        llvm::ArrayRef<int64_t> order = {});

} // namespace dl::cpu
