// Of a factor that is not placed, any subset is a part: a dim that was several
// ones may be divided as these were.

#include "test/compiler/ShardingInstance.h"
#include <iostream>

using namespace dl;
using namespace dl::test;
using graph::BlockReason;
using graph::FactorPart;
using graph::InBlocks;
using graph::ShardingRule;
using graph::Splitting;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace {

/// The rule with a factor as two.
ShardingRule inTwo(const ShardingRule &rule, unsigned factor, int64_t outer) {
  SmallVector<SmallVector<int64_t>> sizes;
  for (const graph::Factor &f : rule.factors)
    sizes.push_back({f.size});
  sizes[factor] = {outer, rule.factors[factor].size / outer};
  return graph::inDigits(rule, sizes);
}

/// Calls visit(rule, parts) where a factor is split as one that was several.
template <typename Visit>
void forEachInDigits(const ShardingRule &rule, unsigned factor, Visit visit) {
  int64_t size = rule.factors[factor].size;
  for (int64_t outer : {2, 3}) {
    if (size % outer != 0 || size / outer < 2)
      continue;
    ShardingRule fine = inTwo(rule, factor, outer);
    FactorPart inner{factor + 1, 2, 0};
    visit(fine, SmallVector<FactorPart>{inner});
    visit(fine, SmallVector<FactorPart>{{factor, 2, 0}, inner});
  }
}

/// Whether the factor is all of each dim that it is in.
bool isAlone(const ShardingRule &rule, unsigned factor) {
  for (const auto &tensors : {rule.operands, rule.results})
    for (const graph::TensorFactors &tensor : tensors)
      for (const graph::DimFactors &dim : tensor)
        if (llvm::is_contained(dim, factor) && dim.size() > 1)
          return false;
  return true;
}

/// Any subset of a factor will do, unless it is placed.
TEST_F(Sharding, RulesAreSoundInDigits) {
  int digits = 0, pairs = 0, needless = 0;
  std::set<std::string> split, placed, wrong;
  forEachCase([&](Instance &instance, const ShardingCase &shardingCase) {
    const ShardingRule &rule = instance.rule;
    auto isSound = [&](const ShardingRule &fine, ArrayRef<FactorPart> parts) {
      return check(instance, fine, parts, false, InBlocks::Placed);
    };
    for (unsigned f = 0; f < rule.factors.size(); ++f) {
      if (rule.factors[f].splitting == Splitting::Blocked)
        continue;
      forEachInDigits(rule, f, [&](const ShardingRule &fine, auto parts) {
        if (graph::whyNotSplit(fine, parts, InBlocks::Placed) ==
            BlockReason::None) {
          ++digits;
          split.insert(shardingCase.op);
          EXPECT_EQ(isSound(fine, parts), "") << partsText(parts);
        } else if (rule.factors[f].isPlaced && isAlone(rule, f)) {
          placed.insert(shardingCase.op);
          if (!isSound(fine, parts).empty())
            wrong.insert(shardingCase.op);
          else
            ++needless;
        }
      });
      for (unsigned g = f + 1; g < rule.factors.size(); ++g)
        for (int64_t count : {2, 3})
          if (SmallVector<FactorPart> parts{{f, 2, 0}, {g, count, 0}};
              graph::whyNotSplit(rule, parts) != BlockReason::None &&
              graph::whyNotSplit(rule, parts, InBlocks::Placed) ==
                  BlockReason::None) {
            ++pairs;
            EXPECT_EQ(isSound(rule, parts), "") << partsText(parts);
          }
    }
  });
  EXPECT_GE(digits, 500);
  EXPECT_GE(pairs, 5);
  EXPECT_EQ(join(placed), join(wrong)) << "placed without need";
  counted() << "sound in digits: " << digits << " splits of " << split.size()
            << " ops, " << pairs
            << " pairs; wrong for what is placed: " << join(wrong)
            << " (by chance right " << needless << " times)\n";
}

} // namespace
