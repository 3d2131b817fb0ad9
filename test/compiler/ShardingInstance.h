// An op with values, divided by a sharding rule and put together again, for the
// tests of rules.
#pragma once

#include "dialects/graph/Inference.h"
#include "test/compiler/ShardingCases.h"
#include "test/compiler/ShardingParts.h"
#include <gtest/gtest.h>

namespace dl::test {

/// One op with values and what it computes from them.
struct Instance {
  Instance(mlir::MLIRContext &context, const ShardingCase &shardingCase);
  ~Instance();

  mlir::MLIRContext &context;
  std::string text, error;
  mlir::Block scratch;
  mlir::Operation *op = nullptr;
  graph::ShardingRule rule;
  std::mt19937 random{4711};
  llvm::SmallVector<Tensors> operands, results; // of each trial
};

Merge mergeOf(graph::Splitting splitting);
std::string partsText(llvm::ArrayRef<graph::FactorPart> parts);

/// Split, localize, evaluate and put together by a rule, which may be wrong.
/// What differs from the whole, or nothing. `exchanged` gives each part the
/// local op of another one.
std::string check(Instance &instance, const graph::ShardingRule &rule,
                  llvm::ArrayRef<graph::FactorPart> parts,
                  bool exchanged = false,
                  graph::InBlocks inBlocks = graph::InBlocks::All);

class Sharding : public ::testing::Test {
protected:
  Sharding();

  /// Calls visit(instance, case) for each case.
  template <typename Visit> void forEachCase(Visit visit) {
    for (const ShardingCase &shardingCase : cases) {
      Instance instance(context, shardingCase);
      SCOPED_TRACE(instance.text);
      ASSERT_TRUE(instance.op);
      ASSERT_EQ(instance.error, "");
      SCOPED_TRACE(graph::ruleText(instance.rule));
      visit(instance, shardingCase);
    }
  }

  mlir::MLIRContext context;
  std::vector<std::string> missing;
  std::vector<ShardingCase> cases;
};

/// test/suites.py shows lines that begin like this.
std::ostream &counted();
/// "none", or "a, b".
std::string join(const std::set<std::string> &words);

} // namespace dl::test
