// How one graph.kernel is computed on a CPU, decided before any code is emitted
// and the same for every instruction set: to what a kernel is on any target
// (see compiler/codegen/kernel) it adds the sizes of tiles, and what they need
// of a thread's scratch.
//
// Example: conv2d [4,10,24,24] + bias, max_pool2d -> [4,10,12,12].
//   grid {4,10,24,24}, tile sizes {1,10,12,24}: 8 tiles
//   scratch 10*12*24*4 bytes, where the convolution leaves its part
#pragma once

#include "compiler/codegen/kernel/BoundKernel.h"
#include "dialects/plan/MachineModel.h"

namespace dl::cpu {

using kernel::accessAt;
using kernel::BoundKernel;
using kernel::GridPart;
using kernel::KernelBody;
using kernel::Placement;
using kernel::simplified;
using kernel::Stage;
using kernel::StagedKernel;
using kernel::stridesOf;

/// The processor, as far as it matters to bits and tiles.
struct Processor {
  const plan::MachineModel *machine;
  unsigned lanes; // of a vector: 16 for f32, 8 for f64

  /// `machine` outlives it.
  static Processor of(const KernelBody &kernel,
                      const plan::MachineModel &machine);
};

class TiledKernel : public BoundKernel {
public:
  /// Fails, with a diagnostic, where an op has no loop nest, or a contraction
  /// no way to be computed. `machine` outlives the kernel.
  static mlir::FailureOr<TiledKernel> create(graph::KernelOp kernel,
                                             const plan::MachineModel &machine);

  const Processor &processor() const { return onProcessor; }
  unsigned lanes() const { return onProcessor.lanes; }

  /// Of each dim of the grid.
  llvm::ArrayRef<int64_t> tileSizes() const { return sizes; }
  bool isCut(GridPart part) const {
    return part.grid && sizes[*part.grid] < grid()[*part.grid].extent;
  }
  /// Of what the first index that a tile has is a multiple, in a dim bound so;
  /// where it is zero in all tiles, say of the lanes.
  int64_t originMultiple(GridPart part) const {
    if (!isCut(part))
      return lanes();
    return sizes[*part.grid] % part.step ? 1 : sizes[*part.grid] / part.step;
  }
  /// Tiles of the grid.
  int64_t gridTiles() const;
  /// Those that threads take, each one or several of the grid's: `max_tiles` at
  /// most.
  int64_t numTiles() const;

  /// Where the scratch has the part of a value that a tile computes.
  int64_t scratchOffset(mlir::Value inScratch) const {
    return scratch.find(inScratch)->second.offset;
  }
  /// Where panels, and what is sorted, begin in the scratch.
  int64_t packOffset() const { return packedFrom; }
  int64_t scratchBytes() const { return allScratchBytes; }
  /// Elements between neighbours of each dim, in a buffer or in the scratch.
  llvm::ArrayRef<int64_t> strides(mlir::Value placed) const {
    return isInScratch(placed) ? scratch.find(placed)->second.strides
                               : placement(placed).strides;
  }

  llvm::StringRef strategy() const {
    return hasContraction() ? "contract" : "loops";
  }

private:
  struct ScratchPlace {
    int64_t offset; // bytes
    llvm::SmallVector<int64_t, 6> strides;
  };

  TiledKernel(BoundKernel bound, Processor processor);
  std::optional<llvm::SmallVector<int64_t, 8>>
  stepsInMemory(mlir::Value leaf, llvm::ArrayRef<mlir::AffineExpr> index) const;
  bool sumsLongColumns() const;
  bool isChain() const;
  bool repeatsSums(unsigned dim) const;
  int64_t mostParts(unsigned dim) const;
  bool placesAlongRow() const;
  void keepSquares(llvm::MutableArrayRef<int64_t> steps) const;
  void chooseTiles();
  void placeScratch();

  Processor onProcessor;
  llvm::SmallVector<int64_t, 6> sizes;
  llvm::DenseMap<mlir::Value, ScratchPlace> scratch;
  int64_t packedFrom = 0, allScratchBytes = 0;
};

} // namespace dl::cpu
