// The register tile of a contraction, chosen by loop structure alone.
//
// Lane form: C[rows, lanes] += S[rows, k] * V[k, lanes]. One operand is
// broadcast element by element, the other and the result are read along the
// lanes.
//   matmul NN         rows m,  lanes n,          k
//   conv2d            rows co, lanes (y, x),     k (ci, dy, dx), batch n
//   conv2d dW         rows co, lanes (ci,dy,dx), k (n, y, x)
// The same with channels innermost (PixelForms.cpp):
//   conv2d            rows x,  lanes co,         k (dy, dx, ci), batch n, y
//   conv2d dW         rows co, lanes (dy,dx,ci), k (y, n, x)
// Narrow form: few lanes, which are not contiguous in the result: see
// NarrowProduct.cpp.
//   matmul NT, few m  rows n,  lanes m,          k
// Dot form: both operands are contiguous along k (matmul NT with few rows):
// lanes run along k and are summed at the end in a fixed tree.
#pragma once

#include "compiler/codegen/cpu/TiledKernel.h"
#include "compiler/codegen/kernel/LinearOperand.h"
#include <variant>

namespace dl::cpu {

struct ContractForm;

/// Scratch of one tile, from the kernel's packOffset on: packed lanes of a k
/// block, packed rows of a k block, sums between k blocks; of a narrow product
/// sums and the same transposed.
struct ContractScratch {
  int64_t rowsAt = 0, sumsAt = 0, transposedAt = 0, bytes = 0;
  int64_t sumStride = 0; // elements
};

/// Panels of lanes, for each of them blocks of rows.
struct LaneProduct {
  /// The lane operand is copied to panels [panel][k][lanes of the panel] first.
  bool pack = false;

  llvm::SmallVector<int64_t> tileSteps(const ContractForm &form,
                                       const TiledKernel &kernel) const;
  ContractScratch scratch(const ContractForm &form,
                          const TiledKernel &kernel) const;
};

/// Computed in blocks that fit the second-level cache, from packed operands;
/// there is one lane dim and one k dim (Goto and van de Geijn, "Anatomy of
/// High-Performance Matrix Multiplication", 2008): see CacheBlocks.cpp.
struct BlockedProduct {
  /// Rows and lanes of one cache block, at most. Lanes are limited by the sums
  /// that wait between k blocks.
  int64_t rows = 0, lanes = 0;

  llvm::SmallVector<int64_t> tileSteps(const ContractForm &form,
                                       const TiledKernel &kernel) const;
  ContractScratch scratch(const ContractForm &form,
                          const TiledKernel &kernel) const;
};

/// Lanes run along k; the "lanes" of the form are columns.
struct DotProduct {
  llvm::SmallVector<int64_t> tileSteps(const ContractForm &form,
                                       const TiledKernel &kernel) const;
  ContractScratch scratch(const ContractForm &form,
                          const TiledKernel &kernel) const;
};

/// Few lanes, which are no neighbours in the result; all are packed.
struct NarrowProduct {
  llvm::SmallVector<int64_t> tileSteps(const ContractForm &form,
                                       const TiledKernel &kernel) const;
  ContractScratch scratch(const ContractForm &form,
                          const TiledKernel &kernel) const;
};

/// One row, and a matrix that is read as it lies: see StreamedProduct.cpp.
struct StreamedProduct {
  llvm::SmallVector<int64_t> tileSteps(const ContractForm &form,
                                       const TiledKernel &kernel) const;
  ContractScratch scratch(const ContractForm &form,
                          const TiledKernel &kernel) const;
};

struct ContractForm {
  using Side = kernel::LinearOperand;
  using Border = kernel::Border;

  /// Fails, with a diagnostic, where there is no way to compute it. Values in
  /// scratch are taken to be whole there.
  static mlir::FailureOr<ContractForm> create(const StagedKernel &kernel,
                                              const Stage &stage,
                                              const Processor &processor);
  /// Of a kernel with tiles, parts of values being where its scratch has them.
  static ContractForm of(const TiledKernel &kernel, const Stage &stage);

  /// `scalar` has the row dim and is broadcast element by element, `lane` has
  /// the lane dims and is read along them.
  Side scalar, lane;
  int rowDim = -1;                       // -1: one row
  llvm::SmallVector<unsigned> laneDims;  // outermost first
  llvm::SmallVector<unsigned> batchDims; // the other parallel dims
  llvm::SmallVector<unsigned> kDims;     // outermost first
  llvm::SmallVector<Border, 2> borders;
  std::variant<LaneProduct, BlockedProduct, DotProduct, NarrowProduct,
               StreamedProduct>
      product;
  /// A long k loop runs in blocks of this extent, so that what a block reads
  /// stays in the caches; sums wait in scratch between blocks. Each result is
  /// still one chain of additions in the order of k, or (sumsPixels) one of
  /// each block and one of these.
  int64_t kBlock = 0;
  /// Where the lane operand begins, a slice, only the launch says.
  bool laneIsMoved = false;
  /// Both operands have numbers of bf16 alone.
  bool hasBf16 = false;
  /// Of a lane product: for two k of the outermost dim all of the others, and
  /// for each of them both. Where such pairs are multiplied, rows are packed as
  /// [row][k / 2][other k], once for a tile.
  bool pairsOuterK = false;
  /// Of a lane product: rows are neighbours of an image, or of whatever else
  /// has several k dims and batches that lanes do not have. Panels of lanes,
  /// the same for all rows, are packed once for a tile: see PixelRows.cpp.
  bool hasPixelRows = false;
  /// Of the weight's gradient: k are pixels, and both sides have neighbours at
  /// each of them, which are packed for a block of k where they are bf16, rows
  /// as [k][row].
  bool sumsPixels = false;

  llvm::SmallVector<int64_t> extents;
  const plan::MachineModel *machine = nullptr;
  const Stage *stage = nullptr; // of its kernel

  template <class Product> const Product *as() const {
    return std::get_if<Product>(&product);
  }
  template <class Product> bool is() const { return as<Product>(); }
  /// Panels of lanes are copied before they are read.
  bool packsPanels() const {
    return is<LaneProduct>() && as<LaneProduct>()->pack;
  }

  /// VDPBF16PS can compute it, and does not change its bits: f32 has the
  /// products of such numbers.
  bool dotsBf16() const;
  /// TDPBF16PS can compute it: see AmxBlocks.cpp, AmxTaps.cpp, AmxDots.cpp.
  bool tilesBf16() const {
    return hasBf16 && (is<BlockedProduct>() || tilesTaps() || tilesDots());
  }
  bool tilesTaps() const;
  bool tilesDots() const;
  /// Lanes that are neighbours wherever so many begin: of one or two tiles, or
  /// 0.
  int64_t tapPanel() const;
  /// K of a block then, and scratch: packed lanes are in front.
  int64_t tiledDepth() const;
  ContractScratch tileScratch(const TiledKernel &kernel) const;
  /// The same where both operands lie along k; of the outermost one. (In
  /// AmxDots.cpp.)
  int64_t dotDepth(const TiledKernel &kernel) const;
  ContractScratch dotScratch(const TiledKernel &kernel) const;
  /// Rows that are multiplied together on other processors.
  int64_t dotRows(const TiledKernel &kernel) const;
  /// From one packed plane to the next: room for the window that a tile reads,
  /// and an odd number of lines, which share no set of a cache.
  int64_t planeStride(const TiledKernel &kernel) const;
  /// Dot form: rows of a k block become pairs of bf16 once for all taps.
  bool pairsRowsOfTaps() const;
  /// Elements of packed rows from a k of the outermost dim to the next.
  int64_t innerKCount() const { return kCount() / extents[kDims.front()]; }

  // PixelForms.cpp
  /// Of pixel rows, two neighbours of the innermost k are a pair: channels of a
  /// pixel. All that a tile reads of the images, so many elements, is copied as
  /// such.
  bool pairsChannels() const;
  int64_t pixelWindow(const TiledKernel &kernel) const;
  /// Of sums over pixels, two neighbours of the innermost k are a pair.
  bool pairsPixels() const;

  bool isBordered(unsigned dim) const {
    return llvm::any_of(borders,
                        [&](const Border &b) { return b.parallel == dim; });
  }
  int64_t rows() const { return rowDim < 0 ? 1 : extents[rowDim]; }
  int64_t laneCount() const;
  int64_t batchCount() const;
  int64_t kCount() const;
  /// Good units to cut the parallel dims into tiles by.
  llvm::SmallVector<int64_t> tileSteps(const TiledKernel &kernel) const;
  ContractScratch scratch(const TiledKernel &kernel) const;
  /// Lanes of the lane dims within one tile, with the tile's full size.
  int64_t tileLanes(const TiledKernel &kernel) const;
  int64_t tileRows(const TiledKernel &kernel) const;
  /// What a tile has of a dim, with its full size.
  int64_t tileExtent(const TiledKernel &kernel, unsigned dim) const;
  /// Worth the copies of both operands.
  bool isLarge() const;
  /// Lanes are read where they are, and far from one k to the next.
  bool fetchesLanes(unsigned lanesPerVector) const;
  /// Each element of the lane operand is read once, where it is stored as bf16,
  /// with its neighbours.
  bool widensLanes() const;
  /// The row operand is contiguous along k.
  bool rowsAlongK() const;
  int64_t numKBlocks() const { return (kCount() + kBlock - 1) / kBlock; }
  /// The lanes that start at `flat`, as offsets into the lane operand.
  int64_t laneOffset(int64_t flat) const;

private:
  /// Pixels lie by their channels, the innermost k.
  bool hasPixelChannels() const;
  /// A convolution, or its input's gradient: the same filters for all rows of
  /// all images.
  bool canUsePixelRows() const;
  void usePixelRows();
  /// The gradient of a weight: both sides have neighbours at each pixel.
  bool canSumPixels() const;
  void sumPixels();
  static mlir::FailureOr<ContractForm> create(const StagedKernel &kernel,
                                              const Stage &stage,
                                              const Processor &processor,
                                              kernel::StridesFn stridesIn);
};

/// Vector registers of an instruction set, and how many hold a logical vector.
struct Registers {
  int count, perVector;
};

/// How many rows and vectors (dot form: columns) of sums a micro-kernel holds
/// in registers, beside the operands of one k.
struct RegisterTile {
  int rows, vectors;
  static RegisterTile choose(const ContractForm &form, int64_t rows,
                             int64_t lanes, unsigned lanesPerVector,
                             Registers registers);
  static RegisterTile chooseNarrow(int64_t lanes, unsigned lanesPerVector,
                                   Registers registers);
  static RegisterTile chooseDot(const ContractForm &form, int64_t rows,
                                int64_t columns, unsigned lanesPerVector,
                                Registers registers);
};

} // namespace dl::cpu
