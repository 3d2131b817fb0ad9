#include "dialects/graph/Inference.h"
#include "tools/dl-opt/FactPasses.h"

namespace dl {
#define GEN_PASS_DEF_PRINTSHARDINGRULES
#include "tools/dl-opt/FactPasses.h.inc"
} // namespace dl

using namespace mlir;
using namespace dl;

namespace {

bool onTensors(Operation *op) {
  auto isTensor = [](Type type) { return isa<RankedTensorType>(type); };
  return isa<graph::GraphDialect>(op->getDialect()) &&
         op->getNumResults() > 0 && op->getNumRegions() == 0 &&
         llvm::all_of(op->getOperandTypes(), isTensor) &&
         llvm::all_of(op->getResultTypes(), isTensor);
}

Type localType(Value whole, const graph::Box &box) {
  return RankedTensorType::get(box.sizes, graph::elementOf(whole));
}

struct PrintShardingRules
    : dl::impl::PrintShardingRulesBase<PrintShardingRules> {
  using PrintShardingRulesBase::PrintShardingRulesBase;

  void runOnOperation() override {
    getContext().loadDialect<arith::ArithDialect, math::MathDialect>();
    bool good = true;
    getOperation().walk([&](Operation *op) {
      if (onTensors(op))
        good &= succeeded(print(op));
    });
    if (!good)
      signalPassFailure();
  }

private:
  LogicalResult print(Operation *op) {
    graph::ShardingRule rule = graph::shardingRule(op);
    llvm::outs() << op->getName() << " " << graph::ruleText(rule) << "\n";
    if (failed(graph::verifyShardingRule(op, rule)))
      return failure();
    for (size_t factor = 0; shards > 1 && factor < rule.factors.size();
         ++factor)
      if (failed(printLocal(op, rule, factor)))
        return failure();
    return success();
  }

  /// The factor's first and last part.
  LogicalResult printLocal(Operation *op, const graph::ShardingRule &rule,
                           unsigned factor) {
    for (int64_t index : {int64_t(0), shards - 1}) {
      graph::FactorPart part = {factor, shards, index};
      graph::BlockReason reason = graph::whyNotSplit(rule, part);
      llvm::outs() << " factor " << factor << " part " << index << " of "
                   << shards << ":";
      if (reason != graph::BlockReason::None) {
        llvm::outs() << " cannot be split, " << graph::reasonText(reason)
                     << "\n";
        return success();
      }
      llvm::outs() << "\n";
      graph::Shard shard(rule, part);
      Block block;
      for (auto [i, operand] : llvm::enumerate(op->getOperands()))
        block.addArgument(localType(operand, shard.operand(i)), op->getLoc());
      OpBuilder builder(&getContext());
      builder.setInsertionPointToEnd(&block);
      if (failed(graph::localize(op, shard, builder, block.getArguments())))
        return failure();
      for (Operation &local : block)
        llvm::outs() << "  " << local.getName() << " "
                     << DictionaryAttr::get(&getContext(), local.getAttrs())
                     << " : "
                     << FunctionType::get(&getContext(),
                                          local.getOperandTypes(),
                                          local.getResultTypes())
                     << "\n";
    }
    return success();
  }
};

} // namespace
