// Rules that are wrong in one place, for the control of their tests.
#pragma once

#include "dialects/graph/Sharding.h"
#include <string>
#include <vector>

namespace dl::test {

/// A rule that is wrong in one place, and which factors show it.
struct BrokenRule {
  std::string what;
  graph::ShardingRule rule;
  llvm::SmallVector<unsigned> factors;
};

inline bool has(const graph::TensorFactors &tensor, unsigned factor) {
  return llvm::any_of(tensor, [&](const graph::DimFactors &dim) {
    return llvm::is_contained(dim, factor);
  });
}

inline void exchange(graph::TensorFactors &tensor, unsigned a, unsigned b) {
  for (graph::DimFactors &dim : tensor)
    for (unsigned &factor : dim)
      factor = factor == a ? b : factor == b ? a : factor;
}

inline std::vector<BrokenRule> breakRule(const graph::ShardingRule &rule) {
  std::vector<BrokenRule> broken;
  auto isFree = [&](unsigned f) {
    return rule.factors[f].splitting != graph::Splitting::Blocked;
  };
  for (unsigned f = 0; f < rule.factors.size(); ++f) {
    graph::Splitting s = rule.factors[f].splitting;
    if (s != graph::Splitting::Sum && s != graph::Splitting::Max)
      continue;
    broken.push_back({"dropped reduction", rule, {f}});
    broken.back().rule.factors[f].splitting = graph::Splitting::Parallel;
    bool isSum = s == graph::Splitting::Sum;
    broken.push_back({isSum ? "sum to max" : "max to sum", rule, {f}});
    broken.back().rule.factors[f].splitting =
        isSum ? graph::Splitting::Max : graph::Splitting::Sum;
  }
  size_t operands = rule.operands.size(),
         tensors = operands + rule.results.size();
  auto tensor = [&](graph::ShardingRule &r,
                    size_t t) -> graph::TensorFactors & {
    return t < operands ? r.operands[t] : r.results[t - operands];
  };
  graph::ShardingRule original = rule;
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

} // namespace dl::test
