// What of each value of a window is needed to compute the logits of one of its
// positions: that one, or all.
#pragma once

#include "dialects/graph/Graph.h"
#include "dialects/graph/Sharding.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <optional>
#include <string>

namespace dl::decode {

/// How a result is computed at one position along one of its dims.
struct RowWay {
  enum Kind {
    Local,   ///< by its sharding rule, on one position along a factor
    Counted, ///< an iota along the dim
    Sliced,  ///< a slice from the first position on: of the operand's position
    Scanned, ///< of the result one position earlier, and the operands' position
    Convolved, ///< of so many positions as the filter has, this one the last
    LookedUp   ///< in the whole, which no token has a part in
  } kind;
  unsigned factor = 0;
};

/// Of a causal convolution of sequences the zeros in front of them: position t
/// of its result, of the first ones, is made of those up to t. Else nothing.
graph::PadOp zerosInFront(mlir::Operation *op);

class PositionDemand {
public:
  /// Positions are those along dim 1 of the step's input 0.
  PositionDemand(graph::StepOp step, int64_t positions);

  /// Why the step cannot be done position by position, and where; "" if it can.
  std::string why;
  std::optional<mlir::Location> where;

  bool run();

  /// Dims along which one position of the value is needed.
  llvm::ArrayRef<unsigned> rows(mlir::Value value) const {
    auto found = demands.find(value);
    return found == demands.end() ? llvm::ArrayRef<unsigned>()
                                  : found->second.rows;
  }
  bool isWhole(mlir::Value value) const {
    auto found = demands.find(value);
    return found != demands.end() && found->second.whole;
  }
  /// Of a maximum over positions the part of one of them is enough: it is an
  /// error flag.
  bool isPart(mlir::Value value) const { return parts.contains(value); }
  bool dependsOnTokens(mlir::Value value) const {
    return dependent.contains(value);
  }
  /// Of a value that depends on tokens: the dim of its positions, if there is
  /// one. It may have more elements behind them: those that a convolution makes
  /// of its padding.
  std::optional<unsigned> place(mlir::Value value) const {
    llvm::ArrayRef<unsigned> dims = placesOf(value);
    return dims.size() == 1 ? std::optional(dims.front()) : std::nullopt;
  }
  /// Needed as a whole, and kept from token to token.
  bool isCached(mlir::Value value) const;

  const graph::ShardingRule &rule(mlir::Operation *op);
  std::optional<RowWay> wayOf(mlir::Operation *op, unsigned dim);
  /// The factor of positions that a part is of.
  std::optional<unsigned> partFactor(mlir::Operation *op);
  /// The dim of operand `i` that the factor is, if the operand has it.
  std::optional<unsigned> dimOf(const graph::ShardingRule &rule, unsigned i,
                                unsigned factor) const;

private:
  struct Demand {
    llvm::SmallVector<unsigned, 1> rows;
    bool whole = false;
  };

  void findPlaces();
  llvm::ArrayRef<unsigned> placesOf(mlir::Value value) const {
    auto found = places.find(value);
    return found == places.end() ? llvm::ArrayRef<unsigned>() : found->second;
  }
  llvm::SmallVector<unsigned, 1> placesOfResult(mlir::Operation *op);
  bool isConvolved(mlir::Operation *op) const;
  bool startFromResults();
  bool demandOperands(mlir::Operation *op);
  bool demandRow(mlir::Operation *op, unsigned dim);
  void demandSplit(mlir::Operation *op, unsigned factor);
  void addRow(mlir::Value value, unsigned dim);
  void addWhole(mlir::Value value) { demands[value].whole = true; }
  bool mayBeSplit(mlir::Operation *op, unsigned factor);
  bool fail(mlir::Operation *op, const std::string &what);

  graph::StepOp step;
  int64_t positions;
  llvm::DenseMap<mlir::Value, Demand> demands;
  /// Dims along which positions lie.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<unsigned, 1>> places;
  llvm::DenseSet<mlir::Value> dependent, parts;
  llvm::DenseMap<mlir::Operation *, graph::ShardingRule> rules;
};

} // namespace dl::decode
