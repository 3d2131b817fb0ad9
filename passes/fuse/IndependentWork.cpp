// Fusion must not order what could run at once, unless that pays.
#include "dialects/graph/TensorBytes.h"
#include "passes/fuse/KernelGroups.h"

using namespace mlir;
using dl::graph::LoopNestOpInterface;

namespace dl {

static double bytesOf(Value value) {
  return static_cast<double>(graph::tensorBytes(value.getType()));
}

/// Of one more op in a group: what it computes, and what has to come from or go
/// to memory for it.
double KernelGroups::secondsOf(const Group &group, Operation *op) const {
  double bytes = 0, flops = 0;
  for (Value operand : realOperands(op))
    if (!llvm::is_contained(group.ops, operand.getDefiningOp()))
      bytes += bytesOf(operand);
  for (Value result : op->getResults())
    bytes += bytesOf(result);
  if (kind(op) == OpKind::Contraction) {
    flops = 2;
    for (int64_t extent : cast<LoopNestOpInterface>(op).getLoopNest().extents)
      flops *= static_cast<double>(extent);
    if (cast<RankedTensorType>(op->getResult(0).getType())
            .getElementType()
            .isF64())
      flops *= 2; // half as many lanes
  }
  return machine.estimateSeconds(flops, bytes);
}

/// Groups after this one may begin later now; their estimates stay as they are.
void KernelGroups::addTime(unsigned g, Operation *op) {
  Group &group = list[g];
  for (unsigned from : group.reads)
    group.start = std::max(group.start, list[from].finish());
  group.seconds += secondsOf(group, op);
}

/// Whether `op` in this group would keep it waiting for other work that now
/// runs beside it, and the memory traffic saved is not worth that.
bool KernelGroups::delaysIndependentWork(unsigned g, Operation *op,
                                         ArrayRef<unsigned> reads) {
  const Group &group = list[g];
  const Group *awaited = nullptr;
  for (unsigned other : reads)
    if (other != g && (!awaited || list[other].finish() > awaited->finish()))
      awaited = &list[other];
  if (!awaited || awaited->finish() <= group.start)
    return false;
  // Parts of a batch are done one after the other.
  if (group.batchPart != 0 && awaited->batchPart != 0 &&
      awaited->batchPart < group.batchPart)
    return false;
  double fused = awaited->finish() + group.seconds;
  double apart = group.finish();
  if (group.contraction)
    apart = std::max(apart, awaited->finish()) + secondsOf({}, op);
  double gain = fused - apart;
  if (gain <= machine.serialSeconds)
    return false;
  auto isInside = [&](Operation *other) {
    auto it = groupOfOp.find(other);
    return it != groupOfOp.end() && it->second == g;
  };
  // A chain of loops waits alone unless others read from it.
  if (!group.contraction && llvm::none_of(group.ops, [&](Operation *member) {
        return llvm::any_of(member->getUsers(), [&](Operation *user) {
          return user != op && !isInside(user);
        });
      }))
    return false;
  double saved = 0; // a value need not be written and read again
  for (Value operand : realOperands(op))
    if (Operation *def = operand.getDefiningOp(); def && isInside(def))
      saved += 2 * bytesOf(operand) / machine.bytesPerSecond;
  bool keepApart = gain > machine.gainOverWait * saved;
  if (!explained.insert(op).second)
    return keepApart;
  emitRemark(op->getLoc()) << op->getName().stripDialect()
                           << (keepApart ? ": not fused with "
                                         : ": fused with ")
                           << group.ops.front()->getName().stripDialect()
                           << ", which "
                           << (keepApart ? "so can run beside "
                                         : "now waits for ")
                           << awaited->ops.front()->getName().stripDialect()
                           << ": with threads for both, apart is "
                           << int64_t(gain * 1e6) << " us faster, and moves "
                           << int64_t(saved * 1e6) << " us of memory more";
  return keepApart;
}

} // namespace dl
