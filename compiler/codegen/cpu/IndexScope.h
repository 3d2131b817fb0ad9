// Loop variables as affine dims, and affine expressions over them as LLVM
// values.
//
// The lanes of a vector run along a group of adjacent dims, row-major: with the
// group {y, x} and x of extent 24, lane l of flat index f is y = (f+l) / 24 and
// x = (f+l) % 24. An expression that is linear in the group with matching
// coefficients (24*y + x) is then contiguous along the lanes, and no division
// is emitted for it.
#pragma once

#include "mlir/IR/AffineExpr.h"
#include "llvm/IR/IRBuilder.h"

namespace dl::cpu {

class IndexScope {
public:
  IndexScope(llvm::IRBuilderBase &builder, mlir::MLIRContext *context,
             unsigned lanes)
      : builder(builder), context(context), lanes(lanes) {}

  /// A dim with values in [lo, hi].
  mlir::AffineExpr addDim(llvm::Value *value, int64_t lo, int64_t hi);

  /// A dim whose value is another one in each lane, <lanes x i64> in [lo, hi],
  /// or the same in all, <1 x i64>.
  mlir::AffineExpr addContent(llvm::Value *content, int64_t lo, int64_t hi);

  /// Dims that lanes run along: dim i has values in [0, extents[i]). `flat` is
  /// the row-major index of lane 0, a multiple of `multiple`.
  llvm::SmallVector<mlir::AffineExpr>
  addLaneGroup(llvm::Value *flat, llvm::ArrayRef<int64_t> extents,
               int64_t multiple = 1);
  /// Lane dims become ordinary again (their lane 0 values stay).
  void endLaneGroup();

  /// The value at lane 0.
  llvm::Value *scalar(mlir::AffineExpr expr);
  /// The values at all lanes, <lanes x i64>.
  llvm::Value *vector(mlir::AffineExpr expr);
  /// How much the value grows from one lane to the next, where that is the same
  /// for all; 0 means uniform.
  std::optional<int64_t> laneStride(mlir::AffineExpr expr) const;
  /// Whether an expression that grows by one from lane to lane (symbols are the
  /// same for all) is known to be a multiple of this at lane 0.
  bool startsAtMultiple(mlir::AffineExpr expr, int64_t of) const;
  /// Bounds over all iterations, inclusive.
  std::pair<int64_t, int64_t> range(mlir::AffineExpr expr) const;

  unsigned numLanes() const { return lanes; }
  /// Dims added since the scope had this size are forgotten.
  unsigned size() const { return dims.size(); }
  void truncate(unsigned size) { dims.truncate(size); }
  mlir::MLIRContext *getContext() const { return context; }

private:
  struct Dim {
    llvm::Value *value;
    int64_t lo, hi;
    llvm::Value *content = nullptr; // <lanes x i64> where lanes differ
  };
  /// Coefficients of the lane dims, or nothing if not linear in them.
  bool laneCoefficients(mlir::AffineExpr expr, int64_t factor,
                        llvm::MutableArrayRef<int64_t> coefficients) const;
  llvm::Value *laneDimVector(unsigned dim);
  bool usesLanes(mlir::AffineExpr expr) const;
  bool usesContents(mlir::AffineExpr expr) const;
  template <typename Leaf>
  llvm::Value *emit(mlir::AffineExpr expr, llvm::Type *type, Leaf leaf);

  llvm::IRBuilderBase &builder;
  mlir::MLIRContext *context;
  unsigned lanes;
  llvm::SmallVector<Dim, 8> dims;
  unsigned laneBegin = 0, laneEnd = 0; // positions of the lane dims
  llvm::Value *laneFlat = nullptr;
  int64_t laneMultiple = 1; // of which laneFlat is one
  llvm::SmallVector<int64_t, 4> laneExtents;
};

} // namespace dl::cpu
