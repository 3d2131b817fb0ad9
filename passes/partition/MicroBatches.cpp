#include "passes/partition/MicroBatches.h"
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

MicroBatches::MicroBatches(graph::StepOp step, const Mesh &mesh,
                           const OpShardings &shardings)
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
    if (auto it = shardings.find(&op); it != shardings.end())
      reads |= llvm::is_contained(it->second.axes(), *mesh.time);
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

/// When each stage does which work, if all takes as long as any other.
struct MicroBatches::Times {
  explicit Times(const graph::Pipeline &pipeline)
      : pipeline(pipeline),
        times(graph::kPipelinePhases * pipeline.stages() * pipeline.micros) {
    for (const graph::PipelineSpan &span : graph::followPipeline(
             pipeline, [](const graph::PipelineWork &) { return 1.0; }))
      times[placeOf(span.work)] = static_cast<int64_t>(span.begin);
  }

  int64_t of(const graph::PipelineWork &work) const {
    return times[placeOf(work)];
  }

private:
  int64_t placeOf(const graph::PipelineWork &work) const {
    int64_t row =
        static_cast<int64_t>(work.phase) * pipeline.stages() + work.stage;
    return row * pipeline.micros + work.micro;
  }

  graph::Pipeline pipeline;
  std::vector<int64_t> times;
};

/// Ops of the backward that no other stage waits for, but an update.
llvm::DenseSet<Operation *> MicroBatches::weightGradients() const {
  llvm::DenseSet<Operation *> sent, found;
  if (!mesh.stages)
    return found;
  for (Operation &op : llvm::reverse(step.getBody().front())) {
    if (!isPerMicro(&op))
      continue;
    if (isa<graph::TransferOp>(op) ||
        llvm::any_of(op.getUsers(),
                     [&](Operation *user) { return sent.contains(user); }))
      sent.insert(&op);
    else if (graph::roleOf(op.getLoc()) != graph::StepRole::Forward)
      found.insert(&op);
  }
  return found;
}

/// Ops that only work on the batch: a loss may want to know of all its targets
/// how many count before the first micro-batch comes back.
llvm::DenseSet<Operation *> MicroBatches::worksOnBatchAlone() const {
  llvm::DenseSet<Operation *> found;
  for (Operation &op : step.getOps())
    if (llvm::all_of(op.getOperands(), [&](Value operand) {
          Operation *maker = operand.getDefiningOp();
          return maker ? found.contains(maker) : !graph::stateOf(operand);
        }))
      found.insert(&op);
  return found;
}

/// When each item is due at the earliest: at its stage's turn, or where it
/// waits for none, when the first that needs it is; 0 of what is done once for
/// all.
std::vector<int64_t>
MicroBatches::dueTimes(ArrayRef<WorkItem> items,
                       ArrayRef<SmallVector<unsigned, 2>> after) const {
  Times times(mesh.pipeline);
  llvm::DenseSet<Operation *> weights = weightGradients();
  llvm::DenseSet<Operation *> onBatch = worksOnBatchAlone();
  std::vector<int64_t> due(items.size(), 0);
  for (size_t index = items.size(); index-- > 0;) {
    auto [op, micro] = items[index];
    std::optional<int64_t> stage =
        mesh.stages ? stageOf(op) : std::optional<int64_t>(0);
    if (micro < 0)
      continue;
    if (!stage || onBatch.contains(op)) {
      for (auto [n, next] : llvm::enumerate(after[index]))
        due[index] = n == 0 ? due[next] : std::min(due[index], due[next]);
      continue;
    }
    using graph::PipelinePhase;
    PipelinePhase phase =
        graph::roleOf(op->getLoc()) == graph::StepRole::Forward
            ? PipelinePhase::Forward
        : weights.contains(op) ? PipelinePhase::WeightGradient
                               : PipelinePhase::InputGradient;
    due[index] = times.of({phase, *stage, micro});
  }
  return due;
}

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

  std::vector<int64_t> due = dueTimes(items, after);
  std::vector<int64_t> ready(items.size(), 0);
  auto timeOf = [&](unsigned index) {
    return std::max(ready[index], due[index]);
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
