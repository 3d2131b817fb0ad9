#include "dialects/graph/Sharding.h"
#include "dialects/graph/Graph.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace dl::graph {

unsigned ShardingRule::add(int64_t size, Splitting splitting) {
  factors.push_back({size, splitting, BlockReason::None});
  return factors.size() - 1;
}

unsigned ShardingRule::addPlaced(int64_t size, Splitting splitting) {
  factors.push_back({size, splitting, BlockReason::None, /*isPlaced=*/true});
  return factors.size() - 1;
}

unsigned ShardingRule::addBlocked(int64_t size, BlockReason reason) {
  factors.push_back({size, Splitting::Blocked, reason});
  return factors.size() - 1;
}

void ShardingRule::block(unsigned factor, BlockReason reason) {
  if (factors[factor].splitting == Splitting::Blocked)
    return; // The first reason stays.
  factors[factor].splitting = Splitting::Blocked;
  factors[factor].reason = reason;
}

StringRef reasonText(BlockReason reason) {
  switch (reason) {
  case BlockReason::None:
    return "none";
  case BlockReason::WindowHalo:
    return "window halo";
  case BlockReason::Shifted:
    return "shifted";
  case BlockReason::Skipped:
    return "skipped";
  case BlockReason::IndexMerge:
    return "index merge";
  case BlockReason::IndexInPayload:
    return "index in payload";
  case BlockReason::Normalised:
    return "normalised";
  case BlockReason::Flattening:
    return "flattening";
  case BlockReason::Composite:
    return "composite";
  case BlockReason::Minor:
    return "minor";
  case BlockReason::Uneven:
    return "uneven";
  }
  return "?";
}

static StringRef splittingText(Splitting splitting) {
  switch (splitting) {
  case Splitting::Parallel:
    return "parallel";
  case Splitting::Sum:
    return "sum";
  case Splitting::Max:
    return "max";
  case Splitting::Blocked:
    return "blocked";
  }
  return "?";
}

/// i, j, k, ... z, i1, j1, ...
static std::string factorName(unsigned factor) {
  constexpr unsigned kLetters = 'z' - 'i' + 1;
  std::string name(1, static_cast<char>('i' + factor % kLetters));
  return factor < kLetters ? name : name + std::to_string(factor / kLetters);
}

static std::string tensorText(const TensorFactors &dims) {
  std::string text = "[";
  for (auto [i, factors] : llvm::enumerate(dims)) {
    text += i ? ", " : "";
    text += factors.empty() ? "1" : "";
    for (unsigned factor : factors)
      text += factorName(factor);
  }
  return text + "]";
}

static std::string tensorsText(ArrayRef<TensorFactors> tensors) {
  std::string text = "(";
  for (auto [i, tensor] : llvm::enumerate(tensors))
    text += (i ? ", " : "") + tensorText(tensor);
  return text + ")";
}

std::string ruleText(const ShardingRule &rule) {
  std::string text =
      tensorsText(rule.operands) + " -> " + tensorsText(rule.results);
  for (auto [i, factor] : llvm::enumerate(rule.factors)) {
    text += " " + factorName(i) + "=" + std::to_string(factor.size);
    if (factor.splitting == Splitting::Blocked)
      text += ":blocked(" + reasonText(factor.reason).str() + ")";
    else if (factor.splitting != Splitting::Parallel)
      text += ":" + splittingText(factor.splitting).str();
  }
  for (auto [i, partial] : llvm::enumerate(rule.partials)) {
    text += i ? ", " : " through ";
    for (auto [k, operand] : llvm::enumerate(partial.operands))
      text += (k ? "+" : "") + std::to_string(operand);
    text += ": " + splittingText(partial.kind).str();
  }
  return text;
}

ShardingRule inDigits(const ShardingRule &rule,
                      ArrayRef<SmallVector<int64_t>> sizes) {
  ShardingRule fine;
  fine.partials = rule.partials;
  fine.isReshape = rule.isReshape;
  SmallVector<DimFactors> digits; // of each factor
  for (auto [factor, list] : llvm::zip_equal(rule.factors, sizes)) {
    digits.emplace_back();
    for (int64_t size : list) {
      digits.back().push_back(fine.factors.size());
      fine.factors.push_back(factor);
      fine.factors.back().size = size;
    }
  }
  for (auto [from, to] : {std::pair(&rule.operands, &fine.operands),
                          std::pair(&rule.results, &fine.results)})
    for (const TensorFactors &tensor : *from) {
      to->emplace_back();
      for (const DimFactors &dim : tensor) {
        to->back().emplace_back();
        for (unsigned factor : dim)
          llvm::append_range(to->back().back(), digits[factor]);
      }
    }
  return fine;
}

Interval blockOf(int64_t size, int64_t count, int64_t index) {
  int64_t block = llvm::divideCeil(size, count);
  return {std::min(index * block, size), std::min((index + 1) * block, size)};
}

/// Whether the blocks of split factors are blocks of the dim.
static BlockReason whyNotSplitDim(const ShardingRule &rule,
                                  const DimFactors &dim,
                                  ArrayRef<int64_t> counts) {
  int64_t rest = 1;
  for (unsigned factor : dim)
    rest *= rule.factors[factor].size;
  int64_t whole = rest;
  bool outerIsOpen = false; // Some outer factor has more than one element left.
  for (unsigned factor : dim) {
    int64_t size = rule.factors[factor].size, count = counts[factor];
    rest = size ? rest / size : 0;
    if (count > 1 && outerIsOpen)
      return BlockReason::Minor;
    bool outermost = rest * size == whole;
    bool meets = outermost ? llvm::divideCeil(size, count) * rest ==
                                 llvm::divideCeil(whole, count)
                           : size % count == 0;
    if (count > 1 && !meets)
      return BlockReason::Uneven;
    outerIsOpen |= size != 1 && count != size;
  }
  return BlockReason::None;
}

BlockReason whyNotSplit(const ShardingRule &rule, ArrayRef<FactorPart> parts,
                        InBlocks inBlocks) {
  SmallVector<int64_t> counts(rule.factors.size(), 1);
  for (const FactorPart &part : parts) {
    const Factor &factor = rule.factors[part.factor];
    if (part.count > 1 && factor.splitting == Splitting::Blocked)
      return factor.reason;
    counts[part.factor] = part.count;
  }
  for (const auto &tensors : {rule.operands, rule.results})
    for (const TensorFactors &tensor : tensors)
      for (const DimFactors &dim : tensor) {
        if (inBlocks == InBlocks::Placed && llvm::none_of(dim, [&](unsigned f) {
              return rule.factors[f].isPlaced;
            }))
          continue;
        if (BlockReason reason = whyNotSplitDim(rule, dim, counts);
            reason != BlockReason::None)
          return reason;
      }
  return BlockReason::None;
}

Shard::Shard(ShardingRule owned, ArrayRef<FactorPart> parts)
    : rule(std::move(owned)), isSplit(rule.factors.size(), false) {
  for (const Factor &factor : rule.factors)
    intervals.push_back({0, factor.size});
  for (const FactorPart &part : parts) {
    intervals[part.factor] =
        blockOf(rule.factors[part.factor].size, part.count, part.index);
    isSplit[part.factor] = part.count > 1;
  }
}

bool Shard::isEmpty() const {
  return llvm::any_of(intervals, [](Interval i) { return i.size() == 0; });
}

Splitting Shard::combination() const {
  for (auto [factor, split] : llvm::zip(rule.factors, isSplit))
    if (split && factor.splitting != Splitting::Parallel)
      return factor.splitting;
  return Splitting::Parallel;
}

Box Shard::boxOf(const TensorFactors &dims) const {
  Box box;
  for (const DimFactors &dim : dims) {
    // Where outer factors are single elements wherever an inner one is split,
    // the part is one block.
    int64_t offset = 0, size = 1;
    for (unsigned factor : dim) {
      offset = offset * rule.factors[factor].size + intervals[factor].begin;
      size *= intervals[factor].size();
    }
    box.offsets.push_back(offset);
    box.sizes.push_back(size);
  }
  return box;
}

LogicalResult verifyShardingRule(Operation *op, const ShardingRule &rule) {
  auto error = [&] {
    return op->emitError() << "sharding rule " << ruleText(rule) << ": ";
  };
  auto check = [&](TypeRange types,
                   ArrayRef<TensorFactors> tensors) -> LogicalResult {
    if (types.size() != tensors.size())
      return error() << "needs " << types.size() << " tensors, has "
                     << tensors.size();
    for (auto [type, tensor] : llvm::zip(types, tensors)) {
      ArrayRef<int64_t> shape = cast<RankedTensorType>(type).getShape();
      if (shape.size() != tensor.size())
        return error() << "a tensor has " << shape.size() << " dims, not "
                       << tensor.size();
      SmallVector<int> uses(rule.factors.size());
      for (auto [size, dim] : llvm::zip(shape, tensor)) {
        int64_t product = 1;
        for (unsigned factor : dim) {
          product *= rule.factors[factor].size;
          if (++uses[factor] > 1 &&
              rule.factors[factor].splitting != Splitting::Blocked)
            return error() << "a factor is twice in a tensor";
        }
        if (product != size)
          return error() << "a dim of size " << size << " has factors of "
                         << product;
      }
    }
    return success();
  };
  if (failed(check(op->getOperandTypes(), rule.operands)))
    return failure();
  return check(op->getResultTypes(), rule.results);
}

} // namespace dl::graph
