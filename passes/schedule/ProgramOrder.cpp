#include "passes/schedule/ProgramOrder.h"
#include "llvm/ADT/STLExtras.h"
#include <queue>

using namespace mlir;

namespace dl::schedule {

Readers::Readers(graph::StepOp func) {
  for (auto kernel : func.getOps<graph::KernelOp>())
    for (Value operand : kernel->getOperands())
      readers[rootOf(operand)].push_back(kernel);
}

ArrayRef<graph::KernelOp> Readers::of(Value root) const {
  auto it = readers.find(root);
  return it == readers.end() ? ArrayRef<graph::KernelOp>() : it->second;
}

bool canOverwrite(OpResult newValue, Value oldValue) {
  auto kernel = cast<graph::KernelOp>(newValue.getOwner());
  int64_t shared = -1;
  if (auto inplace = kernel.getInplace())
    shared = (*inplace)[newValue.getResultNumber()];
  for (OpOperand &operand : kernel->getOpOperands())
    if (oldValue && rootOf(operand.get()) == oldValue &&
        operand.getOperandNumber() != shared)
      return false;
  return true;
}

namespace {

/// Kernels and what must come before what.
class OrderGraph {
public:
  OrderGraph(graph::StepOp func, const Readers &readers,
             ArrayRef<StateUpdate> updates)
      : kernels(func.getOps<graph::KernelOp>().begin(),
                func.getOps<graph::KernelOp>().end()),
        successors(kernels.size()), waitsFor(kernels.size(), 0) {
    for (auto [index, kernel] : llvm::enumerate(kernels))
      indexOf[kernel] = index;
    for (graph::KernelOp kernel : kernels)
      for (Value operand : kernel->getOperands())
        if (Operation *producer = rootOf(operand).getDefiningOp())
          addEdge(producer, kernel);
    for (const StateUpdate &update : updates)
      if (update.oldValue)
        for (graph::KernelOp reader : readers.of(update.oldValue))
          addEdge(reader, update.newValue.getOwner());
  }

  std::vector<graph::KernelOp>
  sort(llvm::function_ref<bool(graph::KernelOp)> needsMemory) {
    using Entry = std::pair<bool, unsigned>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
    for (unsigned index = 0; index < kernels.size(); ++index)
      if (waitsFor[index] == 0)
        ready.push({needsMemory(kernels[index]), index});
    std::vector<graph::KernelOp> result;
    while (!ready.empty()) {
      unsigned index = ready.top().second;
      ready.pop();
      result.push_back(kernels[index]);
      for (unsigned next : successors[index])
        if (--waitsFor[next] == 0)
          ready.push({needsMemory(kernels[next]), next});
    }
    return result;
  }

  /// Whether a kernel must come before itself.
  bool isInCycle(Operation *kernel) const {
    unsigned start = indexOf.lookup(kernel);
    std::vector<bool> seen(kernels.size(), false);
    SmallVector<unsigned, 2> stack(successors[start]);
    while (!stack.empty()) {
      unsigned index = stack.pop_back_val();
      if (index == start)
        return true;
      if (seen[index])
        continue;
      seen[index] = true;
      stack.append(successors[index]);
    }
    return false;
  }

private:
  void addEdge(Operation *before, Operation *after) {
    if (before == after)
      return;
    successors[indexOf.lookup(before)].push_back(indexOf.lookup(after));
    ++waitsFor[indexOf.lookup(after)];
  }

  std::vector<graph::KernelOp> kernels;
  llvm::DenseMap<Operation *, unsigned> indexOf;
  std::vector<SmallVector<unsigned, 2>> successors;
  std::vector<unsigned> waitsFor;
};

} // namespace

KernelOrder
orderKernels(graph::StepOp func, const Readers &readers,
             ArrayRef<StateUpdate> updates,
             llvm::function_ref<bool(graph::KernelOp)> needsMemory) {
  OrderGraph graph(func, readers, updates);
  KernelOrder order{graph.sort(needsMemory), {}};
  auto all = func.getOps<graph::KernelOp>();
  if (order.kernels.size() ==
      static_cast<size_t>(std::distance(all.begin(), all.end())))
    return order;
  for (auto [index, update] : llvm::enumerate(updates))
    if (graph.isInCycle(update.newValue.getOwner()))
      order.stuck.push_back(index);
  return order;
}

} // namespace dl::schedule
