#include "test/compiler/ShardingInstance.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <iostream>

using namespace mlir;

namespace dl::test {

using graph::FactorPart;
using graph::InBlocks;
using graph::ShardingRule;
using graph::Splitting;

Instance::Instance(MLIRContext &context, const ShardingCase &shardingCase)
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

Instance::~Instance() {
  if (op)
    op->erase();
}

Merge mergeOf(Splitting splitting) {
  return splitting == Splitting::Sum   ? Merge::Sum
         : splitting == Splitting::Max ? Merge::Max
                                       : Merge::Same;
}

/// Which block of each dim a part has: where several factors of a dim are
/// split, the outermost one counts most. Or which block of each factor.
static Blocks blocksOf(const graph::TensorFactors &tensor,
                       ArrayRef<FactorPart> parts, const ShardingRule &rule,
                       InBlocks inBlocks) {
  Blocks blocks;
  for (const graph::DimFactors &dim : tensor) {
    DimBlock block;
    for (unsigned factor : dim) {
      DimBlock::Digit digit{rule.factors[factor].size, 1, 0};
      for (const FactorPart &part : parts)
        if (part.factor == factor) {
          block.index = block.index * part.count + part.index;
          block.count *= part.count;
          digit.count = part.count;
          digit.index = part.index;
        }
      if (inBlocks == InBlocks::Placed)
        block.digits.push_back(digit);
    }
    blocks.push_back(block);
  }
  return blocks;
}

/// Steps to the next coordinate; false after the last.
static bool next(MutableArrayRef<FactorPart> parts) {
  for (FactorPart &part : parts) {
    if (++part.index < part.count)
      return true;
    part.index = 0;
  }
  return false;
}

/// The coordinate of the part at the other end.
static SmallVector<FactorPart> opposite(ArrayRef<FactorPart> parts) {
  SmallVector<FactorPart> result(parts);
  for (FactorPart &part : result)
    part.index = part.count - 1 - part.index;
  return result;
}

static std::string checkTrial(Instance &instance, const ShardingRule &rule,
                              SmallVector<FactorPart> parts, size_t trial,
                              bool exchanged, InBlocks inBlocks) {
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
      local.push_back(
          takeBlock(whole, blocksOf(factors, parts, rule, inBlocks)));
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
      error = gathered[i].add(
          result, blocksOf(rule.results[i], parts, rule, inBlocks), merge);
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
                  ArrayRef<FactorPart> parts, bool exchanged,
                  InBlocks inBlocks) {
  for (size_t trial = 0; trial < instance.results.size(); ++trial)
    if (std::string error =
            checkTrial(instance, rule, SmallVector<FactorPart>(parts), trial,
                       exchanged, inBlocks);
        !error.empty())
      return error;
  return "";
}

std::string partsText(ArrayRef<FactorPart> parts) {
  std::string text;
  for (const FactorPart &part : parts)
    text += (text.empty() ? "factor " : ", factor ") +
            std::to_string(part.factor) + " over " + std::to_string(part.count);
  return text;
}

Sharding::Sharding() : context(MLIRContext::Threading::DISABLED) {
  context.loadDialect<graph::GraphDialect, arith::ArithDialect,
                      math::MathDialect>();
  cases = shardingCases(context, missing);
}

std::ostream &counted() { return std::cout << "counted: sharding: "; }

std::string join(const std::set<std::string> &words) {
  return words.empty() ? "none" : llvm::join(words, ", ");
}

} // namespace dl::test
