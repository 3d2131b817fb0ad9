// Sharding rules: what a rule allows gives the whole op's results (sound), what
// it does not allow does not (complete), and a wrong rule is noticed (control).

#include "test/compiler/ShardingBreaks.h"
#include "test/compiler/ShardingInstance.h"
#include "test/compiler/ShardingSearch.h"
#include <iostream>

using namespace mlir;
using namespace dl;
using namespace dl::test;
using graph::BlockReason;
using graph::FactorPart;
using graph::ShardingRule;
using graph::Splitting;

namespace {

TEST(Shard, KeepsItsRule) {
  graph::ShardingRule rule;
  unsigned rows = rule.add(6);
  rule.operands.push_back({{rows}});
  graph::Shard shard(rule, graph::FactorPart{rows, 2, 1});
  rule = {};
  EXPECT_EQ(shard.operand(0).sizes, ArrayRef<int64_t>{3});
  EXPECT_EQ(shard.operand(0).offsets, ArrayRef<int64_t>{3});
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

constexpr int64_t kSearchedCounts[] = {2, 3, 4};

/// Two tests look at what the search finds.
const SearchResult &searched(Instance &instance,
                             const ShardingCase &shardingCase, int64_t count) {
  static std::map<std::pair<std::string, int64_t>, SearchResult> known;
  auto [at, isNew] = known.try_emplace({instance.text, count});
  if (isNew)
    at->second =
        searchPlacements(instance.context, shardingCase, instance.op, count);
  return at->second;
}

TEST_F(Sharding, EveryOpHasACase) {
  for (const std::string &op : missing)
    ADD_FAILURE() << op
                  << " has no case, and cannot be made from tensors alone: "
                  << "add one to test/compiler/ShardingCases.cpp";
  std::set<std::string> ops, unknown = opsWithoutRule();
  for (const ShardingCase &shardingCase : cases)
    ops.insert(shardingCase.op);
  size_t registered = 0;
  for (RegisteredOperationName name :
       context.getRegisteredOperationsByDialect("graph")) {
    std::string op = name.getStringRef().str();
    ++registered;
    unknown.erase(op);
    EXPECT_NE(ops.count(op), opsWithoutRule().count(op)) << op;
  }
  EXPECT_GE(registered, 60u);
  EXPECT_EQ(join(unknown), "none") << "excepted, but not in the dialect";
  EXPECT_EQ(ops.size() + opsWithoutRule().size(), registered);
  EXPECT_GE(cases.size(), 250u);
  counted() << cases.size() << " cases of " << ops.size() << " of "
            << registered << " ops; without a rule: " << join(opsWithoutRule())
            << "\n";
}

TEST_F(Sharding, RulesAreSound) {
  int single = 0, pairs = 0, partials = 0, shards = 0, uneven = 0;
  std::map<BlockReason, int> refused;
  std::set<std::string> split, whole;
  auto tryOut = [&](Instance &instance, ArrayRef<FactorPart> parts,
                    int &count) {
    BlockReason reason = graph::whyNotSplit(instance.rule, parts);
    if (reason != BlockReason::None) {
      ++refused[reason];
      return;
    }
    ++count;
    int parallel = 1;
    for (const FactorPart &part : parts) {
      parallel *= part.count;
      uneven += instance.rule.factors[part.factor].size % part.count != 0;
    }
    shards += parallel * instance.results.size();
    split.insert(instance.op->getName().getStringRef().str());
    EXPECT_EQ(check(instance, instance.rule, parts), "") << partsText(parts);
  };
  forEachCase([&](Instance &instance, const ShardingCase &shardingCase) {
    whole.insert(shardingCase.op);
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
  for (const std::string &op : split)
    whole.erase(op);
  EXPECT_EQ(join(whole), "none") << "no case of these ops can be split";
  EXPECT_GE(single, 1500);
  EXPECT_GE(pairs, 2000);
  EXPECT_GE(uneven, 1500);
  EXPECT_GE(partials, 500);
  counted() << "sound: " << single << " factors, " << pairs
            << " pairs of factors (" << uneven << " of them uneven), "
            << partials << " partial operands, " << shards
            << " shards; refused:";
  for (auto [reason, count] : refused)
    std::cout << " " << graph::reasonText(reason).str() << " " << count;
  std::cout << "\n";
}

TEST_F(Sharding, RulesAreComplete) {
  int64_t tried = 0, found = 0, declared = 0;
  std::map<std::string, int64_t> excused;
  forEachCase([&](Instance &instance, const ShardingCase &shardingCase) {
    for (int64_t count : kSearchedCounts) {
      const SearchResult &search = searched(instance, shardingCase, count);
      Undeclared missing =
          undeclared(search, instance.rule, instance.op, count);
      tried += search.tried;
      found += search.found.size();
      declared += missing.declared;
      for (const auto &[excuse, times] : missing.excused)
        excused[excuse] += times;
      for (const Placements &placements : missing.placements)
        ADD_FAILURE() << "not in the rule, over " << count << ": "
                      << placementsText(placements,
                                        instance.op->getNumOperands());
    }
  });
  EXPECT_GE(tried, 50000);
  EXPECT_GE(declared, 2500);
  counted() << "complete: " << tried << " placements tried, " << found
            << " right, " << declared << " declared";
  for (const auto &[excuse, count] : excused)
    std::cout << ", " << count << " " << excuse;
  std::cout << "\n";
}

/// How often a control could be run, and how often what it broke was noticed.
struct ControlCount {
  int caught = 0, run = 0;
  std::map<std::string, int> notRun; ///< by reason

  void add(bool isCaught) {
    caught += isCaught;
    ++run;
  }
};
using ControlCounts = std::map<std::string, ControlCount>;

/// Prints the counts; exactly these kinds must have been run so often at least.
void report(const std::string &what, const ControlCounts &counts,
            const std::map<std::string, int> &least) {
  EXPECT_EQ(counts.size(), least.size());
  counted() << what << ":";
  const char *separator = " ";
  for (const auto &[kind, count] : counts) {
    std::cout << separator << kind << " " << count.caught << "/" << count.run;
    const char *inner = " (besides, ";
    for (const auto &[reason, times] : count.notRun) {
      std::cout << inner << reason << " " << times;
      inner = ", ";
    }
    std::cout << (count.notRun.empty() ? "" : ")");
    separator = ", ";
  }
  std::cout << "\n";
  for (const auto &[kind, times] : least) {
    auto found = counts.find(kind);
    ASSERT_TRUE(found != counts.end()) << kind;
    EXPECT_GE(found->second.run, times) << kind;
    EXPECT_EQ(found->second.caught, found->second.run) << kind;
  }
}

/// What the rule allows over `count` parts and the other one does not.
std::vector<Placements> onlyIn(const ShardingRule &rule,
                               const ShardingRule &other, int64_t count) {
  std::set<Placements> more = declaredPlacements(rule, count),
                       less = declaredPlacements(other, count);
  std::vector<Placements> result;
  std::set_difference(more.begin(), more.end(), less.begin(), less.end(),
                      std::back_inserter(result));
  return result;
}

/// Whether the search tries these splits.
bool areSearched(Instance &instance, const Placements &placements,
                 int64_t count) {
  SmallVector<Type> types(instance.op->getOperandTypes());
  llvm::append_range(types, instance.op->getResultTypes());
  for (auto [type, placement] : llvm::zip(types, placements))
    if (placement.kind == Placement::Split &&
        !isSearched(cast<RankedTensorType>(type).getDimSize(placement.dim),
                    count))
      return false;
  return true;
}

/// The control of the search: it must report what is taken out of a rule.
TEST_F(Sharding, IncompleteRulesAreCaught) {
  ControlCounts counts;
  std::set<std::string> ops, noticed;
  forEachCase([&](Instance &instance, const ShardingCase &shardingCase) {
    ops.insert(shardingCase.op);
    for (int64_t count : kSearchedCounts) {
      const SearchResult &search = searched(instance, shardingCase, count);
      auto tryOut = [&](const std::string &what, const ShardingRule &less) {
        for (const Placements &lost : onlyIn(instance.rule, less, count)) {
          if (!areSearched(instance, lost, count)) {
            ++counts[what].notRun["single or no elements"];
            continue;
          }
          std::string excuse = excuseFor(lost, less, instance.op, count);
          if (!excuse.empty()) {
            ++counts[what].notRun[excuse];
            continue;
          }
          bool caught = llvm::is_contained(
              undeclared(search, less, instance.op, count).placements, lost);
          EXPECT_TRUE(caught)
              << what << ", over " << count << ": "
              << placementsText(lost, instance.op->getNumOperands());
          counts[what].add(caught);
          if (caught)
            noticed.insert(shardingCase.op);
        }
      };
      for (unsigned f = 0; f < instance.rule.factors.size(); ++f) {
        ShardingRule less = instance.rule;
        less.block(f, BlockReason::Composite);
        tryOut("removed factor", less);
      }
      for (unsigned i = 0; i < instance.rule.partials.size(); ++i) {
        ShardingRule less = instance.rule;
        less.partials.erase(less.partials.begin() + i);
        tryOut("removed partial operands", less);
      }
    }
  });
  for (const std::string &op : noticed)
    ops.erase(op);
  EXPECT_EQ(join(ops), "none") << "of these ops nothing was taken out";
  report("control of the search", counts,
         {{"removed factor", 700}, {"removed partial operands", 500}});
}

/// The factor over `count` parts. What is within other factors is opened: they
/// are split into single elements.
SmallVector<FactorPart> partsToSplit(const ShardingRule &rule, unsigned factor,
                                     int64_t count) {
  SmallVector<FactorPart> parts = {{factor, count, 0}};
  if (graph::whyNotSplit(rule, parts) != BlockReason::Minor)
    return parts;
  std::set<unsigned> outer;
  for (const auto &tensors : {rule.operands, rule.results})
    for (const graph::TensorFactors &tensor : tensors)
      for (const graph::DimFactors &dim : tensor)
        if (auto at = llvm::find(dim, factor); at != dim.end())
          outer.insert(dim.begin(), at);
  for (unsigned f : outer)
    parts.push_back({f, rule.factors[f].size, 0});
  return parts;
}

TEST_F(Sharding, BrokenRulesAreCaught) {
  ControlCounts counts;
  forEachCase([&](Instance &instance, const ShardingCase &) {
    for (const BrokenRule &broken : breakRule(instance.rule)) {
      ControlCount &count = counts[broken.what];
      int run = count.run;
      for (unsigned factor : broken.factors)
        for (int64_t times : {2, 3}) {
          auto parts = partsToSplit(instance.rule, factor, times);
          BlockReason reason = graph::whyNotSplit(instance.rule, parts);
          if (reason == BlockReason::None)
            reason = graph::whyNotSplit(broken.rule, parts);
          if (reason != BlockReason::None) {
            ++count.notRun[graph::reasonText(reason).str()];
            continue;
          }
          bool caught = !check(instance, broken.rule, parts).empty();
          EXPECT_TRUE(caught) << broken.what << ", " << partsText(parts) << ": "
                              << graph::ruleText(broken.rule);
          count.add(caught);
        }
      if (count.run == run)
        ++count.notRun["rules not at all"];
    }
    // Local ops that know their place must be in it.
    for (unsigned f = 0; f < instance.rule.factors.size(); ++f) {
      FactorPart first = {f, 2, 0}, second = {f, 2, 1};
      if (graph::whyNotSplit(instance.rule, first) != BlockReason::None ||
          localText(instance, first) == localText(instance, second))
        continue;
      ControlCount &count = counts["exchanged parts"];
      if (instance.rule.factors[f].size % 2 != 0) {
        ++count.notRun["parts of two sizes"];
        continue;
      }
      bool caught = !check(instance, instance.rule, first, true).empty();
      EXPECT_TRUE(caught) << "exchanged parts of factor " << f;
      count.add(caught);
    }
    for (const graph::PartialRule &partial : instance.rule.partials) {
      graph::PartialRule other = partial;
      other.kind =
          partial.kind == Splitting::Sum ? Splitting::Max : Splitting::Sum;
      ControlCount &count = counts["wrong partial operands"];
      bool both = llvm::any_of(instance.rule.partials, [&](const auto &known) {
        return known.operands == other.operands && known.kind == other.kind;
      });
      if (both) {
        ++count.notRun["right, too"];
        continue;
      }
      bool caught = !checkPartial(instance, other, 2).empty();
      if (!caught && other.kind == Splitting::Max &&
          other.operands.size() == 1) {
        // As in the search's excuse: this rule is not wrong.
        ++count.notRun["rising"];
        continue;
      }
      EXPECT_TRUE(caught) << "another kind of partial operand "
                          << other.operands[0];
      count.add(caught);
    }
  });
  report("control", counts,
         {{"dropped reduction", 150},
          {"sum to max", 140},
          {"max to sum", 10},
          {"swapped factors", 3000},
          {"exchanged parts", 10},
          {"wrong partial operands", 200}});
}

} // namespace
