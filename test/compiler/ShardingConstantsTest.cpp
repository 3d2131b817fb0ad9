// Parts of one op that have equal shapes are one code: which part it is, they
// know from constants of the launch.

#include "dialects/graph/Inference.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "test/compiler/ShardingCases.h"
#include <gtest/gtest.h>
#include <iostream>

using namespace mlir;
using namespace dl;
using namespace dl::test;

namespace {

struct Local {
  std::string types; ///< of operands and results
  std::string whole; ///< the ops with all their attributes
  std::string code;  ///< without what may be a constant of the launch
};

Local localOps(Operation *op, const graph::ShardingRule &rule,
               graph::FactorPart part) {
  Local local;
  graph::Shard shard(rule, part);
  if (shard.isEmpty())
    return local;
  Block block;
  llvm::raw_string_ostream types(local.types), whole(local.whole),
      code(local.code);
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    block.addArgument(RankedTensorType::get(shard.operand(i).sizes,
                                            graph::elementOf(operand)),
                      operand.getLoc());
    types << block.getArgument(i).getType() << " ";
  }
  for (unsigned i = 0; i < op->getNumResults(); ++i)
    types << "-> "
          << RankedTensorType::get(shard.result(i).sizes,
                                   graph::elementOf(op->getResult(i)));
  OpBuilder builder(op->getContext());
  builder.setInsertionPointToEnd(&block);
  if (failed(graph::localize(op, shard, builder, block.getArguments())))
    return {};
  for (Operation &made : block) {
    whole << made.getName() << made.getAttrDictionary();
    code << made.getName() << graph::attributesWithoutConstants(&made);
  }
  return local;
}

} // namespace

TEST(ShardingConstants, PartsOfEqualShapeDifferInConstantsOnly) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<graph::GraphDialect, arith::ArithDialect,
                      math::MathDialect>();
  std::vector<std::string> missing;
  std::set<std::string> differing; // ops whose parts do have constants
  int compared = 0;
  for (const ShardingCase &shardingCase : shardingCases(context, missing)) {
    // The parts at the ends of a padded tensor have their own: what is padding
    // is decided where code is made.
    if (shardingCase.op == "graph.pad")
      continue;
    SCOPED_TRACE(caseText(shardingCase));
    Block scratch;
    Operation *op = createCase(context, shardingCase, scratch);
    ASSERT_TRUE(op);
    graph::ShardingRule rule = graph::shardingRule(op);
    for (unsigned f = 0; f < rule.factors.size(); ++f)
      for (int64_t count : {2, 3, 4}) {
        graph::FactorPart part{f, count, 0};
        if (graph::whyNotSplit(rule, part) != graph::BlockReason::None)
          continue;
        std::map<std::string, Local> known; // by types
        for (; part.index < count; ++part.index) {
          Local local = localOps(op, rule, part);
          if (local.code.empty())
            continue;
          auto [at, isNew] = known.try_emplace(local.types, local);
          if (isNew)
            continue;
          ++compared;
          EXPECT_EQ(at->second.code, local.code)
              << "factor " << f << ", part " << part.index << " of " << count;
          if (at->second.whole != local.whole)
            differing.insert(shardingCase.op);
        }
      }
  }
  EXPECT_GE(compared, 1500);
  EXPECT_EQ(differing,
            (std::set<std::string>{
                "graph.dropout", "graph.gather", "graph.index_check",
                "graph.iota", "graph.normal", "graph.scatter_add",
                "graph.scatter_amax", "graph.slice", "graph.uniform"}));
  std::cout << "counted: sharding: " << compared
            << " pairs of parts with equal shapes, all one code\n";
}
