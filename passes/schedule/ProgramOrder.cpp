#include "passes/schedule/ProgramOrder.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include <queue>

using namespace mlir;

namespace dl::schedule {

SmallVector<Operation *> workOf(graph::StepOp func) {
  SmallVector<Operation *> work;
  for (Operation &op : func.getOps())
    if (isa<graph::KernelOp, graph::CommunicationOpInterface>(op))
      work.push_back(&op);
  return work;
}

Readers::Readers(graph::StepOp func) {
  for (Operation *op : workOf(func))
    for (Value operand : op->getOperands())
      readers[rootOf(operand)].push_back(op);
}

ArrayRef<Operation *> Readers::of(Value root) const {
  auto it = readers.find(root);
  return it == readers.end() ? ArrayRef<Operation *>() : it->second;
}

bool canOverwrite(OpResult newValue, Value oldValue) {
  Operation *maker = newValue.getOwner();
  int64_t shared = -1;
  if (auto kernel = dyn_cast<graph::KernelOp>(maker);
      kernel && kernel.getInplace())
    shared = (*kernel.getInplace())[newValue.getResultNumber()];
  for (OpOperand &operand : maker->getOpOperands())
    if (oldValue && rootOf(operand.get()) == oldValue &&
        operand.getOperandNumber() != shared)
      return false;
  return true;
}

namespace {

/// Work and what must come before what.
class OrderGraph {
public:
  OrderGraph(graph::StepOp func, const Readers &readers,
             ArrayRef<StateUpdate> updates)
      : work(workOf(func)), successors(work.size()), predecessors(work.size()),
        waitsFor(work.size(), 0), fencesBefore(work.size(), 0) {
    unsigned fences = 0;
    for (auto [index, op] : llvm::enumerate(work)) {
      indexOf[op] = index;
      fencesBefore[index] = fences;
      fences += isa<graph::SendOp, graph::ReceiveOp>(op);
    }
    Operation *exchange = nullptr;
    for (Operation *op : work) {
      for (Value operand : op->getOperands())
        if (Operation *producer = rootOf(operand).getDefiningOp())
          addEdge(producer, op);
      if (!isa<graph::CommunicationOpInterface>(op))
        continue;
      if (exchange)
        addEdge(exchange, op);
      exchange = op;
    }
    for (const StateUpdate &update : updates)
      if (update.oldValue)
        for (Operation *reader : readers.of(update.oldValue))
          addEdge(reader, update.newValue.getOwner());
  }

  std::vector<Operation *> sort(const ValueMemory &memory) {
    for (Operation *op : work)
      for (Value operand : op->getOperands())
        ++reads[memory.owner(rootOf(operand))];
    using Entry = std::tuple<unsigned, bool, unsigned>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
    std::vector<bool> isReady(work.size(), false), hasRun(work.size(), false);
    auto becomesReady = [&](unsigned index) {
      isReady[index] = true;
      ready.push({fencesBefore[index], !freesMemory(index, memory), index});
    };
    // What waits for one more could follow that at once.
    auto judgeAgain = [&](unsigned waiter) {
      for (unsigned index : predecessors[waiter])
        if (isReady[index] && !hasRun[index] && freesMemory(index, memory))
          ready.push({fencesBefore[index], false, index});
    };
    for (unsigned index = 0; index < work.size(); ++index)
      if (waitsFor[index] == 0)
        becomesReady(index);
    std::vector<Operation *> result;
    while (!ready.empty()) {
      unsigned index = std::get<2>(ready.top());
      ready.pop();
      if (hasRun[index])
        continue;
      hasRun[index] = true;
      result.push_back(work[index]);
      for (Value operand : work[index]->getOperands())
        ++readsDone[memory.owner(rootOf(operand))];
      SmallVector<unsigned> open; // judged when all know that this has run
      for (unsigned next : successors[index])
        if (--waitsFor[next] == 0)
          open.push_back(next);
      llvm::for_each(open, becomesReady);
      for (unsigned next : successors[index])
        if (waitsFor[next] == 1)
          judgeAgain(next);
    }
    return result;
  }

  /// A number for each, equal for those that must come before one
  /// another; 0 for all that are in no such knot. By Tarjan's algorithm,
  /// without recursion.
  std::vector<unsigned> knots() const {
    unsigned count = work.size(), time = 0, knotCount = 0;
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

  unsigned numberOf(Operation *op) const { return indexOf.lookup(op); }

private:
  /// Not counted: a number, such as a bias correction, which no update should
  /// wait for.
  static constexpr int64_t bytesOfNumber = 8;

  static int64_t taken(Operation *op, const ValueMemory &memory) {
    int64_t all = 0;
    for (Value result : op->getResults())
      if (int64_t bytes = memory.taken(result); bytes > bytesOfNumber)
        all += bytes;
    return all;
  }

  /// Whether it takes no memory, or less than what nobody reads any more behind
  /// it and those that then can follow at once and take none: the first half of
  /// an update, say, whose second half has the gradient's last reader.
  bool freesMemory(unsigned index, const ValueMemory &memory) const {
    int64_t takes = taken(work[index], memory);
    if (takes == 0)
      return true;
    llvm::MapVector<Value, size_t> readsNow; // by it and its followers
    auto run = [&](Operation *op) {
      for (Value operand : op->getOperands())
        ++readsNow[memory.owner(rootOf(operand))];
    };
    run(work[index]);
    llvm::MapVector<unsigned, unsigned> edges; // to each that waits for it
    for (unsigned next : successors[index])
      ++edges[next];
    for (auto [next, count] : edges)
      if (waitsFor[next] == count && taken(work[next], memory) == 0)
        run(work[next]);
    int64_t frees = 0;
    for (auto [owner, count] : readsNow)
      if (readsDone.lookup(owner) + count == reads.lookup(owner))
        frees += memory.freed(owner);
    return frees > takes;
  }

  void addEdge(Operation *before, Operation *after) {
    if (before == after)
      return;
    successors[indexOf.lookup(before)].push_back(indexOf.lookup(after));
    predecessors[indexOf.lookup(after)].push_back(indexOf.lookup(before));
    ++waitsFor[indexOf.lookup(after)];
  }

  SmallVector<Operation *> work;
  llvm::DenseMap<Operation *, unsigned> indexOf;
  std::vector<SmallVector<unsigned, 2>> successors, predecessors;
  std::vector<unsigned> waitsFor;
  /// Messages between stages of a pipeline keep their places among the work:
  /// a gradient of weights is not to hold up what another stage waits for.
  std::vector<unsigned> fencesBefore;
  llvm::DenseMap<Value, size_t> reads, readsDone; // of an owner's memory
};

} // namespace

WorkOrder orderWork(graph::StepOp func, const Readers &readers,
                    ArrayRef<StateUpdate> updates, const ValueMemory &memory) {
  OrderGraph graph(func, readers, updates);
  WorkOrder order{graph.sort(memory), {}};
  if (order.work.size() == workOf(func).size())
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
