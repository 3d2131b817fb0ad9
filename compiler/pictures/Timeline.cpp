#include "compiler/pictures/Timeline.h"
#include "compiler/pictures/Ranks.h"
#include "compiler/pictures/StepParts.h"
#include "dialects/graph/Communication.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <algorithm>
#include <numeric>

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
  Timeline equal;
  equal.schedule = schedule;
  equal.micros = micros;
  equal.stages.resize(stages.size());
  for (TimelineStage &stage : equal.stages)
    stage.phases.fill(1);
  simulate(equal);
  return equal.idle();
}

void simulate(Timeline &timeline) {
  using graph::PipelinePhase;
  auto count = static_cast<int64_t>(timeline.stages.size());
  auto lists = graph::pipelineOrder(
      count, timeline.micros,
      graph::pipelineScheduleOf(timeline.schedule)
          .value_or(graph::PipelineSchedule::OneForwardOneBackward));
  // When a phase of a micro-batch has ended at a stage; -1: not yet.
  std::array<std::vector<std::vector<double>>, graph::kPipelinePhases> ended;
  for (auto &phase : ended)
    phase.assign(count, std::vector<double>(timeline.micros, -1));
  auto endOf = [&](PipelinePhase phase, int64_t stage, int64_t m) -> double & {
    return ended[static_cast<unsigned>(phase)][stage][m];
  };
  auto readyAt = [&](PipelinePhase phase, int64_t stage, int64_t m) {
    if (phase == PipelinePhase::WeightGradient)
      return endOf(PipelinePhase::InputGradient, stage, m);
    if (phase == PipelinePhase::Forward)
      return stage == 0 ? 0 : endOf(phase, stage - 1, m);
    return stage + 1 == count ? endOf(PipelinePhase::Forward, stage, m)
                              : endOf(phase, stage + 1, m);
  };
  std::vector<size_t> next(count, 0);
  std::vector<double> free(count, 0);
  for (bool progress = true; progress;) {
    progress = false;
    for (int64_t stage = 0; stage < count; ++stage)
      while (next[stage] < lists[stage].size()) {
        auto [phase, m] = lists[stage][next[stage]];
        double ready = readyAt(phase, stage, m);
        if (ready < 0)
          break; // another stage comes first
        double seconds =
            timeline.stages[stage].phases[static_cast<unsigned>(phase)];
        double begin = std::max(ready, free[stage]), end = begin + seconds;
        if (seconds > 0)
          timeline.fragments.push_back(
              {static_cast<int>(stage), phase, m, begin, end});
        endOf(phase, stage, m) = free[stage] = end;
        ++next[stage];
        progress = true;
      }
  }
  for (int64_t stage = 0; stage < count; ++stage) {
    double begin = free[stage], end = begin + timeline.stages[stage].update;
    if (end > begin)
      timeline.fragments.push_back(
          {static_cast<int>(stage), std::nullopt, 0, begin, end});
    timeline.end = std::max(timeline.end, end);
  }
}

/// Kernels of the backward that another stage waits for.
static llvm::StringSet<> sentGradients(graph::StepOp step,
                                       const StepParts &parts) {
  llvm::DenseSet<Operation *> sent;
  llvm::StringSet<> names;
  for (Operation &op : llvm::reverse(step.getBody().front())) {
    auto kernel = dyn_cast<graph::KernelOp>(op);
    bool isSent =
        isa<graph::SendOp>(op) ||
        llvm::any_of(op.getUsers(), [&](Operation *user) {
          return sent.contains(user) &&
                 (isa<graph::SendOp>(user) || parts.of(user) == Part::Backward);
        });
    if (!isSent)
      continue;
    sent.insert(&op);
    if (kernel)
      names.insert(kernel.getName());
  }
  return names;
}

/// Of a step's program for full batches.
static std::vector<plan::CommandOpInterface> commandsOfStep(plan::PlanOp plan,
                                                            StringRef step) {
  std::vector<plan::CommandOpInterface> commands;
  for (auto stepOp : plan.getOps<plan::StepOp>())
    if (stepOp.getName() == step)
      for (auto program : stepOp.getBody().getOps<plan::ProgramOp>())
        if (program.getKind() == plan::ProgramKind::Full)
          llvm::append_range(commands, plan::commandsOf(program));
  return commands;
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
  llvm::StringSet<> sent = sentGradients(functions.step, parts);
  for (plan::CommandOpInterface command : commandsOfStep(plan, step)) {
    auto part = partOf.find(StringRef(command.getTitle()).ltrim('@'));
    auto seconds = command.getSeconds();
    if (part == partOf.end() || !seconds)
      continue; // a copy, an exchange
    using graph::PipelinePhase;
    PipelinePhase phase =
        part->second != Part::Backward ? PipelinePhase::Forward
        : sent.contains(part->first()) ? PipelinePhase::InputGradient
                                       : PipelinePhase::WeightGradient;
    (part->second == Part::Update
         ? cost.update
         : cost.phases[static_cast<unsigned>(phase)]) +=
        seconds->convertToDouble();
  }
  return cost;
}

static std::vector<CourseCommand> courseOf(plan::PlanOp plan, StringRef step) {
  std::vector<CourseCommand> course;
  llvm::DenseMap<Value, unsigned> numbers;
  for (plan::CommandOpInterface command : commandsOfStep(plan, step)) {
    numbers[command.getDone()] = static_cast<unsigned>(course.size());
    CourseCommand &added = course.emplace_back();
    if (auto seconds = command.getSeconds())
      added.seconds = seconds->convertToDouble();
    for (Value before : command.getAfter())
      added.after.push_back(numbers.lookup(before));
    if (auto exchange = dyn_cast<plan::CommunicateOp>(*command))
      added.exchange = exchange.getOrder();
  }
  return course;
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
  std::vector<std::vector<CourseCommand>> courses(names.stages());
  for (auto [unit, plan] : llvm::zip(units, plans)) {
    std::vector<int64_t> own = names.ranksOf(unit);
    int64_t stage = names.stageOf(own.front());
    TimelineStage cost = costOf(unit, plan, step);
    auto whole = [](const TimelineStage &cost) {
      return std::accumulate(cost.phases.begin(), cost.phases.end(), 0.0);
    };
    for (double &phase : cost.phases)
      phase /= static_cast<double>(timeline.micros);
    TimelineStage &slowest = timeline.stages[stage];
    if (whole(cost) >= whole(slowest)) {
      slowest = cost;
      courses[stage] = courseOf(plan, step);
    }
    ranks[stage].insert(ranks[stage].end(), own.begin(), own.end());
  }
  for (auto [number, stage] : llvm::enumerate(timeline.stages)) {
    llvm::sort(ranks[number]);
    stage.name =
        "stage " + std::to_string(number) + " · " + rankText(ranks[number]);
  }
  simulate(timeline);
  timeline.course = followCommands(std::move(courses));
  return timeline;
}

} // namespace dl::pictures
