#include "passes/partition/MicroBatches.h"
#include "dialects/graph/PipelineOrder.h"
#include "dialects/graph/Step.h"
#include "dialects/graph/StepRole.h"
#include <queue>

using namespace mlir;

namespace dl::partition {

std::optional<int64_t> stageOf(Operation *op) {
  auto stage = op->getAttrOfType<IntegerAttr>(kStage);
  return stage ? std::optional(stage.getInt()) : std::nullopt;
}

bool addsMicroBatches(graph::ReshardOp op, const Mesh &mesh) {
  if (!mesh.time)
    return false;
  TensorSharding from = TensorSharding::of(op.getFrom(), mesh);
  TensorSharding to = TensorSharding::of(op.getTo(), mesh);
  auto partial = [&](const TensorSharding &sharding) {
    return llvm::is_contained(sharding.sum, *mesh.time) ||
           llvm::is_contained(sharding.max, *mesh.time);
  };
  return partial(from) && !to.uses(*mesh.time);
}

MicroBatches::MicroBatches(graph::StepOp step, const Mesh &mesh)
    : step(step), mesh(mesh) {
  if (!mesh.time || !step->hasAttr(kMicroBatches))
    return;
  for (BlockArgument argument : step.getArguments())
    if (argumentSharding(argument, mesh).uses(*mesh.time))
      values.insert(argument);
  for (Operation &op : step.getOps()) {
    bool reads = llvm::any_of(op.getOperands(), [&](Value operand) {
      return values.contains(operand);
    });
    // (Also of what all have: each micro-batch's own part of it.)
    if (auto factors = op.getAttrOfType<graph::ShardingAttr>(kFactors))
      reads |= TensorSharding::of(factors, mesh).uses(*mesh.time);
    bool makes = reads;
    if (auto reshard = dyn_cast<graph::ReshardOp>(op)) {
      makes = TensorSharding::of(reshard.getTo(), mesh).uses(*mesh.time);
      reads = makes || addsMicroBatches(reshard, mesh);
    }
    if (reads)
      ops.insert(&op);
    if (makes)
      values.insert(op.result_begin(), op.result_end());
  }
}

/// When each stage works forward and backward on each micro-batch, if all take
/// as long as one another.
struct MicroBatches::Times {
  Times(int64_t stages, int64_t micros, bool gpipe)
      : forward(stages, std::vector<int64_t>(micros, -1)), backward(forward) {
    auto lists = graph::pipelineOrder(stages, micros, gpipe);
    std::vector<size_t> next(stages, 0);
    bool left = true;
    for (int64_t now = 0; left; ++now) {
      left = false;
      std::vector<std::pair<int64_t *, int64_t>> done;
      for (int64_t stage = 0; stage < stages; ++stage) {
        if (next[stage] == lists[stage].size())
          continue;
        left = true;
        auto [isForward, m] = lists[stage][next[stage]];
        bool ready = isForward
                         ? stage == 0 || forward[stage - 1][m] >= 0
                         : (stage + 1 == stages ? forward[stage][m] >= 0
                                                : backward[stage + 1][m] >= 0);
        if (!ready)
          continue;
        done.push_back(
            {isForward ? &forward[stage][m] : &backward[stage][m], now});
        ++next[stage];
      }
      for (auto [place, time] : done)
        *place = time;
    }
  }

  std::vector<std::vector<int64_t>> forward, backward;
};

std::vector<WorkItem> MicroBatches::order() const {
  std::vector<WorkItem> items;
  llvm::DenseMap<Operation *, unsigned> first;
  for (Operation &op : step.getOps()) {
    first[&op] = items.size();
    if (!isPerMicro(&op))
      items.push_back({&op});
    else
      for (int64_t m = 0; m < mesh.microBatches; ++m)
        items.push_back({&op, m});
  }
  if (ops.empty())
    return items;

  // What must come before what.
  std::vector<SmallVector<unsigned, 2>> after(items.size());
  std::vector<unsigned> waits(items.size(), 0);
  auto edge = [&](unsigned from, unsigned to) {
    after[from].push_back(to);
    ++waits[to];
  };
  for (unsigned index = 0; index < items.size(); ++index) {
    const WorkItem &item = items[index];
    auto reshard = dyn_cast<graph::ReshardOp>(item.op);
    if (reshard && item.micro > 0 && addsMicroBatches(reshard, mesh))
      edge(index - 1, index);
    for (Value operand : item.op->getOperands()) {
      Operation *maker = operand.getDefiningOp();
      if (!maker)
        continue;
      unsigned from = first.lookup(maker);
      int64_t count = isPerMicro(maker) ? mesh.microBatches : 1;
      if (count > 1 && isPerMicro(operand) && item.micro >= 0)
        edge(from + item.micro, index);
      else if (count > 1 && isPerMicro(operand))
        for (int64_t m = 0; m < count; ++m)
          edge(from + m, index);
      else
        edge(from + count - 1, index); // the last one has it
    }
  }

  Times times(mesh.stages ? mesh.size(*mesh.stages) : 1, mesh.microBatches,
              mesh.gpipe);
  std::vector<int64_t> ready(items.size(), 0);
  auto timeOf = [&](unsigned index) {
    const WorkItem &item = items[index];
    if (item.micro < 0)
      return ready[index];
    int64_t stage = stageOf(item.op).value_or(0);
    bool isForward =
        graph::roleOf(item.op->getLoc()) == graph::StepRole::Forward;
    return std::max(ready[index], isForward
                                      ? times.forward[stage][item.micro]
                                      : times.backward[stage][item.micro]);
  };
  using Entry = std::pair<int64_t, unsigned>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  for (unsigned index = 0; index < items.size(); ++index)
    if (waits[index] == 0)
      open.push({timeOf(index), index});
  std::vector<WorkItem> sorted;
  while (!open.empty()) {
    auto [time, index] = open.top();
    open.pop();
    sorted.push_back(items[index]);
    for (unsigned next : after[index]) {
      ready[next] = std::max(ready[next], time);
      if (--waits[next] == 0)
        open.push({timeOf(next), next});
    }
  }
  return sorted;
}

} // namespace dl::partition
