// What each value of a step on a batch has to do with the batch's items.
#pragma once

#include "dialects/graph/Sharding.h"
#include "dialects/graph/Step.h"
#include "llvm/ADT/SetVector.h"

namespace dl {

/// What a value has to do with the items of the batch.
enum class ItemWay {
  Shared, ///< nothing
  Split,  ///< each item has its part of a dim
  Sum,    ///< the sum of what items have
  Max,    ///< the maximum of it
  Late,   ///< made of such sums
};

struct ItemPlace {
  ItemWay way = ItemWay::Shared;
  unsigned dim = 0; // where it is split
};

/// How an op is divided: one item each.
struct ItemDivision {
  graph::ShardingRule rule;
  unsigned factor;
};

/// Of an evaluation or a prediction, as far as the sharding rules of its ops
/// prove it: `mean((x @ w - y)^2)` is a sum over items, divided late.
class ItemWays {
public:
  /// `step` is without composite ops; its batch has `items`.
  ItemWays(graph::StepOp step, int64_t items, bool predicts)
      : step(step), items(items), predicts(predicts) {}

  /// False if items cannot be run one by one; `why` says what keeps them.
  bool find();

  ItemPlace of(mlir::Value value) const { return places.lookup(value); }
  bool isShared(mlir::Value value) const {
    return of(value).way == ItemWay::Shared;
  }
  /// Of an op one item of which can be computed alone.
  const ItemDivision *divisionOf(mlir::Operation *op) const {
    auto it = divisions.find(op);
    return it == divisions.end() ? nullptr : &it->second;
  }
  /// Sums and maxima that late ops and results read, in program order.
  llvm::ArrayRef<mlir::Value> combined() const { return sums.getArrayRef(); }

  bool canDivide(mlir::Operation *op, const graph::ShardingRule &rule,
                 unsigned factor);
  /// Keeps the reason; false.
  bool refuse(mlir::Operation *op, const llvm::Twine &what);

  std::string why;

private:
  bool classify(mlir::Operation *op);
  bool divide(mlir::Operation *op);
  std::optional<unsigned> itemFactor(mlir::Operation *op,
                                     const graph::ShardingRule &rule) const;
  bool checkResults();
  bool checkResult(mlir::OpOperand &returned);
  bool isCombined(mlir::Value value) const {
    ItemWay way = of(value).way;
    return way == ItemWay::Sum || way == ItemWay::Max;
  }
  bool combine(mlir::Value value, mlir::Operation *op);

  graph::StepOp step;
  const int64_t items;
  const bool predicts;
  llvm::DenseMap<mlir::Value, ItemPlace> places;
  llvm::DenseMap<mlir::Operation *, ItemDivision> divisions;
  llvm::SetVector<mlir::Value> sums;
};

} // namespace dl
