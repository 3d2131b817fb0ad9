// Sharding rules: what a rule allows gives the whole op's results (sound), what
// it does not allow does not (complete), and a wrong rule is noticed (control).

#include "dialects/graph/Inference.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "test/compiler/ShardingSearch.h"
#include <gtest/gtest.h>
#include <iostream>

using namespace mlir;
using namespace dl;
using namespace dl::test;
using graph::BlockReason;
using graph::FactorPart;
using graph::ShardingRule;
using graph::Splitting;

namespace {

/// One op with values and what it computes from them.
struct Instance {
  Instance(MLIRContext &context, const ShardingCase &shardingCase)
      : context(context), text(caseText(shardingCase)) {
    op = createCase(context, shardingCase, scratch);
    if (!op)
      return;
    rule = graph::shardingRule(op);
    for (int trial = 0; trial < trialsFor(op); ++trial) {
      operands.push_back(caseValues(shardingCase, op, random));
      auto build = [&](OpBuilder &builder, ValueRange values) {
        return graph::localizeByCloning(op, builder, values, op->getAttrs());
      };
      results.push_back(evaluateBuilt(context, operands.back(), build, error)
                            .value_or(Tensors()));
    }
  }
  ~Instance() {
    if (op)
      op->erase();
  }

  MLIRContext &context;
  std::string text, error;
  Block scratch;
  Operation *op = nullptr;
  ShardingRule rule;
  std::mt19937 random{4711};
  SmallVector<Tensors> operands, results; // of each trial
};

Merge mergeOf(Splitting splitting) {
  return splitting == Splitting::Sum   ? Merge::Sum
         : splitting == Splitting::Max ? Merge::Max
                                       : Merge::Same;
}

/// Which block of each dim a part has: where several factors of a dim are
/// split, the outermost one counts most.
Blocks blocksOf(const graph::TensorFactors &tensor,
                ArrayRef<FactorPart> parts) {
  Blocks blocks;
  for (const graph::DimFactors &dim : tensor) {
    DimBlock block;
    for (unsigned factor : dim)
      for (const FactorPart &part : parts)
        if (part.factor == factor) {
          block.index = block.index * part.count + part.index;
          block.count *= part.count;
        }
    blocks.push_back(block);
  }
  return blocks;
}

/// Steps to the next coordinate; false after the last.
bool next(MutableArrayRef<FactorPart> parts) {
  for (FactorPart &part : parts) {
    if (++part.index < part.count)
      return true;
    part.index = 0;
  }
  return false;
}

/// The coordinate of the part at the other end.
SmallVector<FactorPart> opposite(ArrayRef<FactorPart> parts) {
  SmallVector<FactorPart> result(parts);
  for (FactorPart &part : result)
    part.index = part.count - 1 - part.index;
  return result;
}

/// Split, localize, evaluate and put together by a rule, which may be wrong.
/// What differs from the whole, or nothing. `exchanged` gives each part the
/// local op of another one.
std::string checkTrial(Instance &instance, const ShardingRule &rule,
                       SmallVector<FactorPart> parts, size_t trial,
                       bool exchanged) {
  SmallVector<Gathered> gathered;
  for (Type type : instance.op->getResultTypes())
    gathered.emplace_back(type);
  Merge merge = Merge::Same;
  for (const FactorPart &part : parts)
    if (Splitting s = rule.factors[part.factor].splitting;
        s != Splitting::Parallel)
      merge = mergeOf(s);
  do {
    graph::Shard shard(rule, exchanged ? opposite(parts) : parts);
    Tensors local;
    for (auto [whole, factors] :
         llvm::zip(instance.operands[trial], rule.operands))
      local.push_back(takeBlock(whole, blocksOf(factors, parts)));
    std::string error;
    auto results = evaluateBuilt(
        instance.context, local,
        [&](OpBuilder &builder, ValueRange values) {
          return graph::localize(instance.op, shard, builder, values);
        },
        error);
    if (!results)
      return error;
    for (auto [i, result] : llvm::enumerate(*results)) {
      error = gathered[i].add(result, blocksOf(rule.results[i], parts), merge);
      if (!error.empty())
        return error;
    }
  } while (next(parts));
  for (auto [i, result] : llvm::enumerate(gathered))
    if (std::string error = result.compare(instance.results[trial][i]);
        !error.empty())
      return error;
  return "";
}

std::string check(Instance &instance, const ShardingRule &rule,
                  ArrayRef<FactorPart> parts, bool exchanged = false) {
  for (size_t trial = 0; trial < instance.results.size(); ++trial)
    if (std::string error = checkTrial(
            instance, rule, SmallVector<FactorPart>(parts), trial, exchanged);
        !error.empty())
      return error;
  return "";
}

/// The local ops of a part.
std::string localText(Instance &instance, FactorPart part) {
  graph::Shard shard(instance.rule, part);
  Block block;
  for (auto [i, operand] : llvm::enumerate(instance.op->getOperands()))
    block.addArgument(RankedTensorType::get(shard.operand(i).sizes,
                                            graph::elementOf(operand)),
                      operand.getLoc());
  OpBuilder builder(&instance.context);
  builder.setInsertionPointToEnd(&block);
  std::string text;
  if (failed(
          graph::localize(instance.op, shard, builder, block.getArguments())))
    return text;
  llvm::raw_string_ostream out(text);
  for (Operation &op : block)
    out << op.getName() << DictionaryAttr::get(op.getContext(), op.getAttrs());
  return text;
}

/// The op on each part of the partial operands.
std::string checkPartial(Instance &instance, const graph::PartialRule &partial,
                         int64_t count) {
  Merge merge = mergeOf(partial.kind);
  for (size_t trial = 0; trial < instance.results.size(); ++trial) {
    SmallVector<Tensors> operands; // of each operand, of each part
    for (auto [i, whole] : llvm::enumerate(instance.operands[trial]))
      operands.push_back(
          llvm::is_contained(partial.operands, i)
              ? partialTensors(whole, merge, count, instance.random)
              : Tensors(count, whole));
    SmallVector<Gathered> gathered;
    for (Type type : instance.op->getResultTypes())
      gathered.emplace_back(type);
    for (int64_t part = 0; part < count; ++part) {
      Tensors local;
      for (const Tensors &parts : operands)
        local.push_back(parts[part]);
      std::string error;
      auto results = evaluateBuilt(
          instance.context, local,
          [&](OpBuilder &builder, ValueRange values) {
            return graph::localizeByCloning(instance.op, builder, values,
                                            instance.op->getAttrs());
          },
          error);
      if (!results)
        return error;
      for (auto [i, result] : llvm::enumerate(*results))
        if (error =
                gathered[i].add(result, Blocks(result.type.getRank()), merge);
            !error.empty())
          return error;
    }
    for (auto [i, result] : llvm::enumerate(gathered))
      if (std::string error = result.compare(instance.results[trial][i]);
          !error.empty())
        return error;
  }
  return "";
}

std::string partsText(ArrayRef<FactorPart> parts) {
  std::string text;
  for (const FactorPart &part : parts)
    text += (text.empty() ? "factor " : ", factor ") +
            std::to_string(part.factor) + " over " + std::to_string(part.count);
  return text;
}

class Sharding : public ::testing::Test {
protected:
  Sharding() : context(MLIRContext::Threading::DISABLED) {
    context.loadDialect<graph::GraphDialect, func::FuncDialect,
                        arith::ArithDialect, math::MathDialect>();
    cases = shardingCases(context, missing);
  }

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

  MLIRContext context;
  std::vector<std::string> missing;
  std::vector<ShardingCase> cases;
};

TEST_F(Sharding, EveryOpHasACase) {
  for (const std::string &op : missing)
    ADD_FAILURE() << op
                  << " has no case, and cannot be made from tensors alone: "
                  << "add one to test/compiler/ShardingCases.cpp";
  std::set<std::string> ops;
  for (const ShardingCase &shardingCase : cases)
    ops.insert(shardingCase.op);
  std::cout << "sharding: " << cases.size() << " cases of " << ops.size()
            << " ops\n";
}

TEST_F(Sharding, RulesAreSound) {
  int single = 0, pairs = 0, partials = 0, shards = 0;
  std::map<BlockReason, int> refused;
  auto tryOut = [&](Instance &instance, ArrayRef<FactorPart> parts,
                    int &count) {
    BlockReason reason = graph::whyNotSplit(instance.rule, parts);
    if (reason != BlockReason::None) {
      ++refused[reason];
      return;
    }
    ++count;
    int parallel = 1;
    for (const FactorPart &part : parts)
      parallel *= part.count;
    shards += parallel * instance.results.size();
    EXPECT_EQ(check(instance, instance.rule, parts), "") << partsText(parts);
  };
  forEachCase([&](Instance &instance, const ShardingCase &) {
    const ShardingRule &rule = instance.rule;
    ASSERT_TRUE(succeeded(graph::verifyShardingRule(instance.op, rule)));
    for (unsigned f = 0; f < rule.factors.size(); ++f) {
      for (int64_t count : {2, 3, 4})
        tryOut(instance, FactorPart{f, count, 0}, single);
      if (rule.factors[f].splitting == Splitting::Blocked)
        continue;
      for (unsigned g = f + 1; g < rule.factors.size(); ++g) {
        if (rule.factors[g].splitting == Splitting::Blocked)
          continue;
        // One split into single elements opens the factors within it.
        std::set<int64_t> counts = {2, rule.factors[f].size};
        std::set<int64_t> others = {2, 3, rule.factors[g].size};
        for (int64_t a : counts)
          for (int64_t b : others)
            if (a * b <= 24)
              tryOut(instance, {{f, a, 0}, {g, b, 0}}, pairs);
      }
    }
    for (const graph::PartialRule &partial : rule.partials)
      for (int64_t count : {2, 3}) {
        ++partials;
        EXPECT_EQ(checkPartial(instance, partial, count), "")
            << "partial " << partial.operands[0];
      }
  });
  std::cout << "sharding: sound: " << single << " factors, " << pairs
            << " pairs of factors, " << partials << " partial operands, "
            << shards << " shards; refused:";
  for (auto [reason, count] : refused)
    std::cout << " " << graph::reasonText(reason).str() << " " << count;
  std::cout << "\n";
}

/// Why a split that works is not in the rule: the closed list.
std::string excuseFor(const Placements &placements, const Instance &instance) {
  size_t operands = instance.op->getNumOperands();
  auto operandKinds = ArrayRef(placements).take_front(operands);
  bool onlyMaxima = llvm::all_of(operandKinds, [](Placement p) {
    return p.kind == Placement::Whole || p.kind == Placement::Max;
  });
  bool toMaxima =
      llvm::all_of(ArrayRef(placements).drop_front(operands),
                   [](Placement p) { return p.kind == Placement::Max; });
  if (onlyMaxima && toMaxima)
    return "rising, by a payload that does not show it";
  bool partial = llvm::none_of(
      operandKinds, [](Placement p) { return p.kind == Placement::Split; });
  if (isa<graph::OptimizerOpInterface>(instance.op) && partial)
    return "updates of partial parameters";
  return "";
}

TEST_F(Sharding, RulesAreComplete) {
  int64_t tried = 0, found = 0, declaredCount = 0;
  std::map<std::string, int> excused;
  forEachCase([&](Instance &instance, const ShardingCase &shardingCase) {
    for (int64_t count : {2, 3}) {
      SearchResult search =
          searchPlacements(context, shardingCase, instance.op, count);
      std::set<Placements> declared = declaredPlacements(instance.rule, count);
      tried += search.tried;
      found += search.found.size();
      for (const Placements &placements : search.found) {
        if (declared.count(placements)) {
          ++declaredCount;
          continue;
        }
        std::string excuse = excuseFor(placements, instance);
        if (!excuse.empty())
          ++excused[excuse];
        else
          ADD_FAILURE() << "not in the rule, over " << count << ": "
                        << placementsText(placements,
                                          instance.op->getNumOperands());
      }
    }
  });
  std::cout << "sharding: complete: " << tried << " placements tried, " << found
            << " right, " << declaredCount << " declared";
  for (const auto &[excuse, count] : excused)
    std::cout << ", " << count << " " << excuse;
  std::cout << "\n";
}

/// A rule that is wrong in one place, and which factors show it.
struct BrokenRule {
  std::string what;
  ShardingRule rule;
  SmallVector<unsigned> factors;
};

bool has(const graph::TensorFactors &tensor, unsigned factor) {
  return llvm::any_of(tensor, [&](const graph::DimFactors &dim) {
    return llvm::is_contained(dim, factor);
  });
}

void exchange(graph::TensorFactors &tensor, unsigned a, unsigned b) {
  for (graph::DimFactors &dim : tensor)
    for (unsigned &factor : dim)
      factor = factor == a ? b : factor == b ? a : factor;
}

std::vector<BrokenRule> breakRule(const ShardingRule &rule) {
  std::vector<BrokenRule> broken;
  auto isFree = [&](unsigned f) {
    return rule.factors[f].splitting != Splitting::Blocked;
  };
  for (unsigned f = 0; f < rule.factors.size(); ++f) {
    Splitting s = rule.factors[f].splitting;
    if (s != Splitting::Sum && s != Splitting::Max)
      continue;
    broken.push_back({"dropped reduction", rule, {f}});
    broken.back().rule.factors[f].splitting = Splitting::Parallel;
    bool isSum = s == Splitting::Sum;
    broken.push_back({isSum ? "sum to max" : "max to sum", rule, {f}});
    broken.back().rule.factors[f].splitting =
        isSum ? Splitting::Max : Splitting::Sum;
  }
  size_t operands = rule.operands.size(),
         tensors = operands + rule.results.size();
  auto tensor = [&](ShardingRule &r, size_t t) -> graph::TensorFactors & {
    return t < operands ? r.operands[t] : r.results[t - operands];
  };
  ShardingRule original = rule;
  for (size_t t = 0; t < tensors; ++t)
    for (unsigned a = 0; a < rule.factors.size(); ++a)
      for (unsigned b = a + 1; b < rule.factors.size(); ++b) {
        if (!isFree(a) || !isFree(b) || !has(tensor(original, t), a) ||
            !has(tensor(original, t), b))
          continue;
        // Two that no other tensor has may change their names.
        bool elsewhere = false;
        for (size_t other = 0; other < tensors; ++other)
          elsewhere |= other != t && (has(tensor(original, other), a) ||
                                      has(tensor(original, other), b));
        if (!elsewhere)
          continue;
        broken.push_back({"swapped factors", rule, {a, b}});
        exchange(tensor(broken.back().rule, t), a, b);
      }
  return broken;
}

TEST_F(Sharding, BrokenRulesAreCaught) {
  std::map<std::string, std::pair<int, int>> counts; // caught, all
  int rising = 0;
  forEachCase([&](Instance &instance, const ShardingCase &) {
    for (const BrokenRule &broken : breakRule(instance.rule)) {
      for (unsigned factor : broken.factors)
        for (int64_t count : {2, 3}) {
          FactorPart part = {factor, count, 0};
          if (graph::whyNotSplit(broken.rule, part) != BlockReason::None ||
              graph::whyNotSplit(instance.rule, part) != BlockReason::None)
            continue;
          bool caught = !check(instance, broken.rule, part).empty();
          EXPECT_TRUE(caught)
              << broken.what << ", factor " << factor << " over " << count
              << ": " << graph::ruleText(broken.rule);
          counts[broken.what].first += caught;
          ++counts[broken.what].second;
        }
    }
    // Local ops that know their place must be in it.
    for (unsigned f = 0; f < instance.rule.factors.size(); ++f) {
      FactorPart part = {f, 2, 0};
      if (instance.rule.factors[f].size % 2 != 0 ||
          graph::whyNotSplit(instance.rule, part) != BlockReason::None ||
          localText(instance, {f, 2, 0}) == localText(instance, {f, 2, 1}))
        continue;
      bool caught = !check(instance, instance.rule, part, true).empty();
      EXPECT_TRUE(caught) << "exchanged parts of factor " << f;
      counts["exchanged parts"].first += caught;
      ++counts["exchanged parts"].second;
    }
    for (const graph::PartialRule &partial : instance.rule.partials) {
      graph::PartialRule other = partial;
      other.kind =
          partial.kind == Splitting::Sum ? Splitting::Max : Splitting::Sum;
      bool both = llvm::any_of(instance.rule.partials, [&](const auto &known) {
        return known.operands == other.operands && known.kind == other.kind;
      });
      if (both)
        continue;
      bool caught = !checkPartial(instance, other, 2).empty();
      if (!caught && other.kind == Splitting::Max &&
          other.operands.size() == 1) {
        ++rising; // As in the excuse: this rule is not wrong.
        continue;
      }
      EXPECT_TRUE(caught) << "another kind of partial operand "
                          << other.operands[0];
      counts["wrong partial operands"].first += caught;
      ++counts["wrong partial operands"].second;
    }
  });
  std::cout << "sharding: control:";
  for (const auto &[what, count] : counts)
    std::cout << " " << what << " " << count.first << "/" << count.second;
  std::cout << " caught; not wrong, but rising, " << rising << "\n";
}

} // namespace
