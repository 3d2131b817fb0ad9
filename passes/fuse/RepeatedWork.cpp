// A kernel computes what is between two values in memory where it is read: at
// each place at which it is read. Reads at other places add up along a chain.
//
// Example: x = x * slice(x), 20 times. The last x is two of the one before, at
// two places, each of which is two of the one before that: a million of the
// first.
#include "dialects/graph/PayloadFacts.h"
#include "passes/fuse/KernelGroups.h"

using namespace mlir;
using dl::graph::LoopNestOpInterface;

namespace dl {

/// The op that makes a value in the group, where that is computed where it is
/// read; sums and products are in memory.
Operation *KernelGroups::madeInPlace(const Group &group, Value value) const {
  Operation *def = value.getDefiningOp();
  auto it = groupOfOp.find(def);
  bool isInside = it != groupOfOp.end() && &list[it->second] == &group;
  return isInside && kind(def) == OpKind::Elementwise ? def : nullptr;
}

/// What is read at the same place is evaluated once, whoever reads it; what is
/// read at other places, with all that it takes itself.
KernelGroups::Repeats KernelGroups::repeatsIn(const Group &group,
                                              Operation *op) const {
  Repeats own;
  auto nest = cast<LoopNestOpInterface>(op).getLoopNest();
  for (auto [operand, access] : llvm::zip(op->getOperands(), nest.accesses)) {
    Operation *def = operand.getDefiningOp();
    if (def && kind(def) == OpKind::Free) {
      own.elsewhere += repeats.lookup(def).all;
      for (Value real : realOperands(def))
        if (Operation *made = madeInPlace(group, real))
          own.elsewhere += repeats.lookup(made).all;
    } else if (Operation *made = madeInPlace(group, operand)) {
      if (access.map.isIdentity() && !access.outside)
        own.same.push_back(made);
      else
        own.elsewhere += repeats.lookup(made).all;
    }
  }
  // All that is at the same place, each once.
  SmallVector<Operation *> open(own.same.begin(), own.same.end());
  llvm::SmallPtrSet<Operation *, 16> seen(open.begin(), open.end());
  own.all = 1 + own.elsewhere;
  while (!open.empty() && own.all <= kMostRepeated) {
    const Repeats &next = repeats.find(open.pop_back_val())->second;
    own.all += next.elsewhere;
    for (Operation *made : next.same)
      if (seen.insert(made).second)
        open.push_back(made);
  }
  own.all = std::min(own.all, 2 * kMostRepeated);
  return own;
}

/// The same of what every reader makes for itself, of free ops alone.
uint64_t KernelGroups::evaluationsOfFree(Operation *op) const {
  auto loops = cast<LoopNestOpInterface>(op);
  bool isView = graph::payloadFacts(loops).isView;
  uint64_t sum = isView ? 0 : 1;
  for (Value operand : op->getOperands())
    if (Operation *def = operand.getDefiningOp();
        def && kinds.contains(def) && kind(def) == OpKind::Free)
      sum += repeats.lookup(def).all;
  return std::min(sum, 2 * kMostRepeated);
}

bool KernelGroups::repeatsTooMuch(const Group &group, Operation *op) const {
  return repeatsIn(group, op).all > kMostRepeated;
}

bool KernelGroups::freeRepeatsTooMuch(Operation *op) {
  return (repeats[op].all = evaluationsOfFree(op)) > kMostRepeated;
}

} // namespace dl
