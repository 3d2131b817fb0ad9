// What an op computes, without a target: a loop nest with an elementwise
// payload.
//
// Example, matmul [M,K] x [K,N]:
//   extents {M, N, K}, numParallel 2
//   accesses {(m,n,k) -> (m,k)}, {(m,n,k) -> (k,n)}, combine Sum, contraction
// Example, max_pool2d k=2 s=2 on [B,C,8,8]:
//   extents {B, C, 4, 4, 2, 2}, numParallel 4
//   accesses {(b,c,y,x,dy,dx) -> (b,c,2*y+dy,2*x+dx)}, combine Max
#pragma once

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallVector.h"

namespace dl::graph {

/// How the values of the reduction dims become one. Max keeps the first
/// maximum in row-major order of the reduction dims, and a NaN wins over all.
enum class Combine { None, Sum, Max };

/// Which element of an operand one iteration reads.
struct Access {
  /// Iteration dims -> logical index of the operand. May use floordiv and mod
  /// by constants.
  mlir::AffineMap map;
  /// The element exists only where each of these is zero ("(y + 1 - dy) mod
  /// 2").
  llvm::SmallVector<mlir::AffineExpr, 2> guards;
  /// Read instead where the index leaves the operand or a guard is not zero.
  /// Absent: the map never leaves it.
  std::optional<double> outside;
};

struct LoopNest {
  /// All iteration dims: first one for each dim of the result, in order, then
  /// the reduction dims.
  llvm::SmallVector<int64_t, 6> extents;
  unsigned numParallel = 0;
  /// One for each operand of the op.
  llvm::SmallVector<Access, 2> accesses;
  Combine combine = Combine::None;
  /// Combine Max: which results the op has. The index is the row-major position
  /// within the reduction dims.
  bool yieldsValue = true, yieldsIndex = false;
  /// The payload is exactly operand0 * operand1 and combine is Sum.
  bool contraction = false;
};

/// An index that reads one block for each value of a dim, and blocks do not
/// meet: 2*y + dy with dy in [0,2) is {y, 2}; y alone is {y, 1}.
struct BlockIndex {
  unsigned dim;
  int64_t size;
};
std::optional<BlockIndex> blockIndex(mlir::AffineExpr expr,
                                     const LoopNest &nest);

} // namespace dl::graph
