// How an op may be computed in parts, one part on each device: its factors.
//
// A factor is an index that runs through dims of operands and results, as in
// Einstein's notation. Example, matmul [M,K] x [K,N]:
//
//   ([i, k], [k, j]) -> ([i, j])   i=M j=N k=K:sum   through 0: sum, 1: sum
//
// To split i, a and the result are split along their rows; b is needed whole by
// every part. To split k, a is split along its columns and b along its rows,
// and each part gives a *partial sum* of the whole result. "through 0: sum"
// says that the op is linear in operand 0: where a is a partial sum already and
// b is whole, the op may be done on each part and gives a partial sum.
//
// A dim may have several factors, outermost first: reshape [6] -> [2,3] is
// ([ij]) -> ([i, j]). The factors of a dim multiply to its size, so that a dim
// of size 1 has none. Max is the other kind of partial value.
//
// A factor that cannot be split is blocked, for one of few reasons. The rule of
// an op with a loop nest follows from its accesses (deriveShardingRule); other
// ops, and those that can do more, have the ShardingOpInterface.
//
// Local ops of equal shapes are one code: what they know of their place, they
// know from constants of the launch (LaunchConstants.h). Padding is the
// exception: at the ends of a tensor it is another op.
//
// Parts are the blocks of ceil(size / count) elements: 7 over 3 is 3, 3, 1, and
// 4 over 3 is 2, 2, 0. Local ops have these exact extents; who wants equal ones
// pads the tensors first.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"
#include <string>

namespace dl::graph {

/// What a result that does not have the factor is, on one part.
enum class Splitting { Parallel, Sum, Max, Blocked };

/// Why a factor cannot be split, or not like this. The list is closed.
enum class BlockReason {
  None,
  WindowHalo, ///< windows of neighbouring blocks overlap
  Shifted,    ///< read from an offset, by a stride or backwards: blocks do not
              ///< meet
  Skipped,    ///< elements within what one step of an outer factor reads
  IndexMerge, ///< the position of a maximum, or what goes along the dim step by
              ///< step, needs the values beside it
  IndexInPayload, ///< elements depend on their own index, without an offset
  Normalised,     ///< the op divides by a sum over it; its decomposition may be
                  ///< split
  Flattening,     ///< the two shapes of a reshape have no common factor here
  Composite,      ///< has no rule before it is decomposed
  Minor,  ///< an outer factor of the same dim is not split into single elements
  Uneven, ///< the blocks are not those of a dim that it is part of
};

struct Factor {
  int64_t size;
  Splitting splitting = Splitting::Parallel;
  BlockReason reason = BlockReason::None;
  /// Parts have to be blocks: the local op counts from where its part begins,
  /// or the factor shares a dim with others. Of any other factor a part may be
  /// any subset.
  bool isPlaced = false;
};

/// The factors of one dim, outermost first, as positions in
/// ShardingRule::factors.
using DimFactors = llvm::SmallVector<unsigned, 2>;
using TensorFactors = llvm::SmallVector<DimFactors, 4>;

/// Where exactly these operands are partial and the others are whole, so are
/// all results, of the same kind.
struct PartialRule {
  llvm::SmallVector<unsigned, 2> operands;
  Splitting kind = Splitting::Sum;
};

struct ShardingRule {
  llvm::SmallVector<Factor, 6> factors;
  llvm::SmallVector<TensorFactors, 2> operands, results;
  llvm::SmallVector<PartialRule, 2> partials;
  /// A reshape: where factors share a dim, each may be split on its own.
  bool isReshape = false;

  unsigned add(int64_t size, Splitting splitting = Splitting::Parallel);
  unsigned addPlaced(int64_t size, Splitting splitting = Splitting::Parallel);
  unsigned addBlocked(int64_t size, BlockReason reason);
  void block(unsigned factor, BlockReason reason);
};

/// "([i, k], [k, j]) -> ([i, j]) i=2 j=4 k=3:sum through 0: sum, 1: sum".
std::string ruleText(const ShardingRule &rule);
llvm::StringRef reasonText(BlockReason reason);

/// Part `index` of `count` of a factor.
struct FactorPart {
  unsigned factor;
  int64_t count, index;
};

/// The rule with several factors in place of each, one of each of its sizes,
/// the outermost first: i=6 as 2 x 3.
ShardingRule inDigits(const ShardingRule &rule,
                      llvm::ArrayRef<llvm::SmallVector<int64_t>> sizes);

struct Interval {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
};

/// Block `index` of `count`; the last ones may be shorter or empty.
Interval blockOf(int64_t size, int64_t count, int64_t index);

/// The part of a tensor that one device has.
struct Box {
  llvm::SmallVector<int64_t> offsets, sizes;
};

/// Which dims have to be split into blocks: all, or those of placed factors.
enum class InBlocks { All, Placed };

/// Why the factors cannot be split into these counts, or None. `index` of the
/// parts does not matter.
BlockReason whyNotSplit(const ShardingRule &rule,
                        llvm::ArrayRef<FactorPart> parts,
                        InBlocks inBlocks = InBlocks::All);

/// One device's part of an op: a coordinate along each factor that is split.
class Shard {
public:
  /// `whyNotSplit` gives None for the parts. (Offsets of boxes are those of
  /// their first elements.)
  Shard(ShardingRule rule, llvm::ArrayRef<FactorPart> parts);

  Interval factor(unsigned factor) const { return intervals[factor]; }
  Box operand(unsigned i) const { return boxOf(rule.operands[i]); }
  Box result(unsigned i) const { return boxOf(rule.results[i]); }
  /// Some factor has no elements in this part.
  bool isEmpty() const;
  /// How the results of all parts become one where they lack a factor that is
  /// split: Parallel where all are the same.
  Splitting combination() const;

private:
  Box boxOf(const TensorFactors &dims) const;

  ShardingRule rule;
  llvm::SmallVector<Interval, 6> intervals;
  llvm::SmallVector<bool, 6> isSplit;
};

/// The rule of any op on tensors: its own, or that of its loop nest, or, before
/// it is decomposed, one that blocks everything.
ShardingRule shardingRule(mlir::Operation *op);
/// The rule is made of the op's shapes: factors multiply to dims, and each one
/// that may be split is at most once in a tensor.
llvm::LogicalResult verifyShardingRule(mlir::Operation *op,
                                       const ShardingRule &rule);
/// From the loop nest and the payload.
ShardingRule deriveShardingRule(mlir::Operation *op);
/// Whether the op is yet to be decomposed, so that its loop nest, if it has
/// one, is not what it computes.
bool isComposite(mlir::Operation *op);
/// Of ops whose operands and results have one shape and all dims parallel.
ShardingRule pointwiseRule(mlir::Operation *op);
/// Sums and maxima that may pass through, from the payload.
llvm::SmallVector<PartialRule, 2> derivePartialRules(mlir::Operation *op);

/// Creates what computes the shard's part of the results from its part of the
/// operands, or emits an error. `op` is only looked at; what passes have noted
/// on it is not among the attributes of local ops.
mlir::FailureOr<llvm::SmallVector<mlir::Value>>
localize(mlir::Operation *op, const Shard &shard, mlir::OpBuilder &builder,
         mlir::ValueRange operands);
/// The op on the local operands with these attributes.
mlir::FailureOr<llvm::SmallVector<mlir::Value>>
localizeByCloning(mlir::Operation *op, mlir::OpBuilder &builder,
                  mlir::ValueRange operands,
                  const mlir::NamedAttrList &attributes);

} // namespace dl::graph
