#include "passes/schedule/ProgramOrder.h"
#include "llvm/ADT/STLExtras.h"
#include <queue>

using namespace mlir;

namespace dl::schedule {

Value rootOf(Value value) {
  while (auto reshape = value.getDefiningOp<graph::ReshapeOp>())
    value = reshape->getOperand(0);
  return value;
}

Readers::Readers(func::FuncOp func) {
  for (auto kernel : func.getOps<graph::KernelOp>())
    for (Value operand : kernel->getOperands())
      readers[rootOf(operand)].push_back(kernel);
}

ArrayRef<graph::KernelOp> Readers::of(Value root) const {
  auto it = readers.find(root);
  return it == readers.end() ? ArrayRef<graph::KernelOp>() : it->second;
}

FailureOr<std::vector<graph::KernelOp>>
orderKernels(func::FuncOp func, const Readers &readers,
             ArrayRef<StateUpdate> updates,
             llvm::function_ref<bool(graph::KernelOp)> needsMemory) {
  std::vector<graph::KernelOp> kernels(func.getOps<graph::KernelOp>().begin(),
                                       func.getOps<graph::KernelOp>().end());
  llvm::DenseMap<Operation *, unsigned> indexOf;
  for (auto [index, kernel] : llvm::enumerate(kernels))
    indexOf[kernel] = index;

  std::vector<SmallVector<unsigned, 2>> successors(kernels.size());
  std::vector<unsigned> waitsFor(kernels.size(), 0);
  auto order = [&](Operation *before, Operation *after) {
    if (before == after)
      return;
    successors[indexOf.lookup(before)].push_back(indexOf.lookup(after));
    ++waitsFor[indexOf.lookup(after)];
  };
  for (graph::KernelOp kernel : kernels)
    for (Value operand : kernel->getOperands())
      if (Operation *producer = rootOf(operand).getDefiningOp())
        order(producer, kernel);
  for (const StateUpdate &update : updates)
    if (update.oldValue)
      for (graph::KernelOp reader : readers.of(update.oldValue))
        order(reader, update.newValue.getOwner());

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
  if (result.size() == kernels.size())
    return result;
  for (const StateUpdate &update : updates)
    if (waitsFor[indexOf.lookup(update.newValue.getOwner())])
      return update.newValue.getOwner()->emitOpError("overwrites the state '")
             << update.name << "' whose old value is still needed after it";
  return func.emitOpError("has kernels that wait for each other");
}

} // namespace dl::schedule
