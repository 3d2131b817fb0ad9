// The grid of a kernel: its dims are those of one stage's result, and what the
// other stages compute is bound to them, so that tiles can be cut out of all.
//
// Example: conv2d [4,10,24,24] + bias, max_pool2d -> [4,10,12,12].
//   the grid is {4,10,24,24}, that of the contraction
//   max_pool2d is bound to dims 0 and 1, and to 2 and 3 in steps of 2
#pragma once

#include "compiler/codegen/kernel/StagedKernel.h"

namespace dl::kernel {

/// Which part of a dim a tile has: all of it, or what a dim of the grid says.
struct GridPart {
  std::optional<unsigned> grid;
  /// Indices of the grid dim for one of this dim: 2 for rows that windows of 2
  /// rows leave.
  int64_t step = 1;
  bool operator==(const GridPart &other) const = default;
};
using GridParts = llvm::SmallVector<GridPart, 6>;

struct GridDim {
  int64_t extent;
  /// The step of those dims bound to it whose step is not 1; tiles are a
  /// multiple of it. 1 where there are none.
  int64_t block = 1;
  /// Every reader needs just its own part, and every result is cut with it.
  bool canCut = true;
};

class BoundKernel : public StagedKernel {
public:
  explicit BoundKernel(StagedKernel staged);

  llvm::ArrayRef<GridDim> grid() const { return dims; }
  /// Of the iteration dims of a stage; reduction dims are whole.
  llvm::ArrayRef<GridPart> parts(const Stage &stage) const {
    return stageParts[numberOf(stage)];
  }
  /// Of the dims of a placed value; operands are whole.
  llvm::ArrayRef<GridPart> parts(mlir::Value placed) const {
    return valueParts.find(placed)->second;
  }
  /// What a tile has of a placed value, at most; sizes of each dim of the grid.
  llvm::SmallVector<int64_t, 6> boxOf(mlir::Value placed,
                                      llvm::ArrayRef<int64_t> tileSizes) const;
  /// The one whose result dims are the grid's: the contraction, else that of
  /// the largest result.
  const Stage &root() const { return stages()[rootNumber]; }
  /// The dim of the grid whose indices, columns, come one block after the
  /// other; nothing where they come together, or cannot be had in blocks.
  std::optional<unsigned> streamed() const { return columnDim; }
  /// It sums up all of what is streamed.
  bool isTotal(const Stage &stage) const;
  /// As little of each dim of the grid as a tile can have.
  llvm::SmallVector<int64_t, 6> leastTile() const;
  /// The grid's dims as their tiles should be cut, the first one first.
  llvm::SmallVector<unsigned> cutOrder() const;

private:
  size_t findRoot() const;
  void bind(size_t stage, llvm::ArrayRef<GridPart> parts);
  void bindStages();
  void spread(std::vector<bool> &isBound, bool fully);
  int sharedDims(size_t stage) const;
  bool saysAll(size_t stage, llvm::ArrayRef<mlir::AffineExpr> index) const;
  /// Of what a bound stage reads, and of a stage that reads what is bound.
  GridParts partsRead(size_t reader, mlir::Value leaf,
                      llvm::ArrayRef<mlir::AffineExpr> index) const;
  GridParts partsOfReader(size_t reader, mlir::Value leaf,
                          llvm::ArrayRef<mlir::AffineExpr> index);
  void findUncut();
  void bindTotals();
  bool canStream(unsigned column) const;
  void cutNever(const GridPart &part) {
    if (part.grid)
      dims[*part.grid].canCut = false;
  }

  size_t rootNumber;
  std::optional<unsigned> columnDim;
  llvm::SmallVector<GridDim, 6> dims;
  std::vector<GridParts> stageParts;
  llvm::DenseMap<mlir::Value, GridParts> valueParts;
};

} // namespace dl::kernel
