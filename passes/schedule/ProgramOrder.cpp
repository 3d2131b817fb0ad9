#include "passes/schedule/ProgramOrder.h"
#include "llvm/ADT/DenseSet.h"
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

  /// A number for each kernel, equal for those that must come before one
  /// another; 0 for all that are in no such knot. By Tarjan's algorithm,
  /// without recursion.
  std::vector<unsigned> knots() const {
    unsigned count = kernels.size(), time = 0, knotCount = 0;
    std::vector<unsigned> knot(count, 0), found(count, 0), low(count, 0);
    std::vector<unsigned> next(count, 0); // successor to look at
    std::vector<bool> open(count, false);
    SmallVector<unsigned> path, stack;
    auto enter = [&](unsigned index) {
      found[index] = low[index] = ++time;
      open[index] = true;
      path.push_back(index);
      stack.push_back(index);
    };
    for (unsigned start = 0; start < count; ++start) {
      if (!found[start])
        enter(start);
      while (!path.empty()) {
        unsigned index = path.back();
        if (next[index] < successors[index].size()) {
          unsigned other = successors[index][next[index]++];
          if (!found[other])
            enter(other);
          else if (open[other])
            low[index] = std::min(low[index], found[other]);
          continue;
        }
        path.pop_back();
        if (!path.empty())
          low[path.back()] = std::min(low[path.back()], low[index]);
        if (low[index] != found[index])
          continue;
        bool isKnot = stack.back() != index;
        knotCount += isKnot;
        for (unsigned member = count; member != index;) {
          member = stack.pop_back_val();
          open[member] = false;
          knot[member] = isKnot ? knotCount : 0;
        }
      }
    }
    return knot;
  }

  unsigned numberOf(Operation *kernel) const { return indexOf.lookup(kernel); }

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
  std::vector<unsigned> knots = graph.knots();
  llvm::SmallDenseSet<unsigned> seen;
  for (auto [index, update] : llvm::enumerate(updates))
    if (unsigned knot = knots[graph.numberOf(update.newValue.getOwner())];
        knot && seen.insert(knot).second)
      order.stuck.push_back(index);
  return order;
}

} // namespace dl::schedule
