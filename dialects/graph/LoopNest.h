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
/// Order and Scan have one reduction dim beside the parallel dim `at`, see
/// `Ordered` and `Scan`.
enum class Combine { None, Sum, Max, Order, Scan };

/// What leaves an element of this dtype as it is when both are combined: 0 for
/// a sum, the least number for a maximum.
double identityOf(Combine combine, mlir::Type element);

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
  /// A dim whose index is no function of the loops, but what another operand
  /// says: its scalar at the same iteration, an i64. A number outside of the
  /// dim reads an element that does not matter. In its place the map has an
  /// expression of the same loops that no analysis can see through.
  struct Indirect {
    unsigned dim, operand;
  };
  std::optional<Indirect> indirect = {};
};

/// Combine Sum or Max: the payload is the identity unless operand 0, an i64, is
/// the index of the parallel dim `at`, so that the only reduction dim `over`
/// has to be visited once for all of its indices.
struct Scatter {
  unsigned at, over;
  /// Where it is not the identity, it is this operand's scalar.
  unsigned operand;
};
/// Combine Scan: each result along `at` is made of the one before it, or with
/// `reverse` of the one behind it, and of the operands at its own place `over`.
struct Scan {
  enum Kind {
    Sum,    ///< before + x
    Linear, ///< a * before + b, rounded twice; of none before it is zero. Both
            ///< go on in f64, of floats, and round what they store
    Argmax, ///< the place of the greatest so far, of equals the one seen last;
            ///< a NaN is greater than all numbers
  } kind;
  unsigned at, over;
  bool reverse;
};
/// Combine Order: the i-th result along `at` is the position of the i-th value
/// in order; there may be fewer results than values. A NaN is greater than all
/// numbers; equal values stay in the order of their positions.
struct Ordered {
  unsigned at, over;
  bool descending;
};

/// Combine None: operand 2's scalar, but where operand 0, a single i64, is the
/// index of `at`: there it is operand 1's. What is written over operand 2 has
/// to be written at that index alone.
struct Replace {
  unsigned at;
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
  std::optional<Scatter> scatter;
  std::optional<Scan> scan;
  std::optional<Ordered> ordered;
  std::optional<Replace> replace;

  /// Its loops run one after the other along a dim: no plain reduction.
  bool isSequential() const { return scatter || scan || ordered; }
  /// It reads elements where another operand says.
  bool isIndirect() const;
  /// How often the payload is to be computed.
  int64_t points() const;
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
