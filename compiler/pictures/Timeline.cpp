#include "compiler/pictures/Timeline.h"
#include "compiler/pictures/Ranks.h"
#include "compiler/pictures/StepParts.h"
#include "dialects/graph/Communication.h"
#include "dialects/graph/PipelineOrder.h"
#include "llvm/ADT/StringMap.h"
#include <algorithm>

using namespace mlir;

namespace dl::pictures {

double Timeline::idle() const {
  double busy = 0;
  for (const Fragment &fragment : fragments)
    busy += fragment.end - fragment.begin;
  double all = end * static_cast<double>(stages.size());
  return all > 0 ? 1 - busy / all : 0;
}

double Timeline::idleOfEqual() const {
  double count = static_cast<double>(stages.size());
  return (count - 1) / (static_cast<double>(micros) + count - 1);
}

void simulate(Timeline &timeline) {
  auto count = static_cast<int64_t>(timeline.stages.size());
  auto lists = graph::pipelineOrder(count, timeline.micros,
                                    timeline.schedule == "gpipe");
  std::vector<std::vector<double>> forward(
      count, std::vector<double>(timeline.micros, -1));
  auto backward = forward;
  std::vector<size_t> next(count, 0);
  std::vector<double> free(count, 0);
  for (bool progress = true; progress;) {
    progress = false;
    for (int64_t stage = 0; stage < count; ++stage)
      while (next[stage] < lists[stage].size()) {
        auto [isForward, m] = lists[stage][next[stage]];
        double ready = isForward ? (stage == 0 ? 0 : forward[stage - 1][m])
                       : stage + 1 == count ? forward[stage][m]
                                            : backward[stage + 1][m];
        if (ready < 0)
          break; // another stage comes first
        const TimelineStage &own = timeline.stages[stage];
        double begin = std::max(ready, free[stage]);
        double end = begin + (isForward ? own.forward : own.backward);
        timeline.fragments.push_back(
            {static_cast<int>(stage),
             isForward ? Part::Forward : Part::Backward, m, begin, end});
        (isForward ? forward : backward)[stage][m] = free[stage] = end;
        ++next[stage];
        progress = true;
      }
  }
  for (int64_t stage = 0; stage < count; ++stage) {
    double begin = free[stage], end = begin + timeline.stages[stage].update;
    if (end > begin)
      timeline.fragments.push_back(
          {static_cast<int>(stage), Part::Update, 0, begin, end});
    timeline.end = std::max(timeline.end, end);
  }
}

/// Seconds of the kernels of a step, by their part.
static TimelineStage costOf(ModuleOp unit, plan::PlanOp plan, StringRef step) {
  TimelineStage cost;
  StepFunctions functions = findStep(unit, step);
  if (!functions.step)
    return cost;
  StepParts parts(functions.step);
  llvm::StringMap<Part> partOf;
  for (auto kernel : functions.step.getOps<graph::KernelOp>())
    partOf.try_emplace(kernel.getName(), parts.of(kernel));
  for (auto stepOp : plan.getOps<plan::StepOp>()) {
    if (stepOp.getName() != step)
      continue;
    for (auto program : stepOp.getBody().getOps<plan::ProgramOp>()) {
      if (program.getKind() != plan::ProgramKind::Full)
        continue;
      for (plan::CommandOpInterface command : plan::commandsOf(program)) {
        auto part = partOf.find(StringRef(command.getTitle()).ltrim('@'));
        auto seconds = command.getSeconds();
        if (part == partOf.end() || !seconds)
          continue; // a copy, an exchange
        (part->second == Part::Backward ? cost.backward
         : part->second == Part::Update ? cost.update
                                        : cost.forward) +=
            seconds->convertToDouble();
      }
    }
  }
  return cost;
}

Timeline describeTimeline(ArrayRef<ModuleOp> units,
                          ArrayRef<plan::PlanOp> plans, StringRef step) {
  Timeline timeline;
  RankNames names(units.front());
  timeline.schedule = names.schedule();
  timeline.micros = names.micros();
  timeline.title = names.model() + ": step " + step.str();
  timeline.stages.resize(names.stages());
  std::vector<std::vector<int64_t>> ranks(names.stages());
  for (auto [unit, plan] : llvm::zip(units, plans)) {
    std::vector<int64_t> own = names.ranksOf(unit);
    int64_t stage = names.stageOf(own.front());
    TimelineStage cost = costOf(unit, plan, step);
    cost.forward /= static_cast<double>(timeline.micros);
    cost.backward /= static_cast<double>(timeline.micros);
    TimelineStage &slowest = timeline.stages[stage];
    if (cost.forward + cost.backward >= slowest.forward + slowest.backward)
      slowest = cost;
    ranks[stage].insert(ranks[stage].end(), own.begin(), own.end());
  }
  for (auto [number, stage] : llvm::enumerate(timeline.stages)) {
    llvm::sort(ranks[number]);
    stage.name =
        "stage " + std::to_string(number) + " · " + rankText(ranks[number]);
  }
  simulate(timeline);
  return timeline;
}

} // namespace dl::pictures
