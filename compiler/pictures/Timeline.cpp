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

/// Fragments as the schedule has them, with an update behind each row's.
static void simulate(Timeline &timeline) {
  std::vector<double> free(timeline.rows.size(), 0);
  auto add = [&](const Fragment &fragment) {
    free[fragment.row] = fragment.end;
    timeline.end = std::max(timeline.end, fragment.end);
    if (fragment.end > fragment.begin)
      timeline.fragments.push_back(fragment);
  };
  auto secondsOf = [&](const graph::PipelineWork &work) {
    return timeline.rows[timeline.pipeline.rankOf(work.stage)]
        .phases[static_cast<unsigned>(work.phase)];
  };
  for (const graph::PipelineSpan &span :
       graph::followPipeline(timeline.pipeline, secondsOf))
    add({span.rank, span.work, span.begin, span.end});
  for (auto [row, cost] : llvm::enumerate(timeline.rows))
    add({static_cast<int64_t>(row), std::nullopt, free[row],
         free[row] + cost.update});
}

double Timeline::idle() const {
  double busy = 0;
  for (const Fragment &fragment : fragments)
    busy += fragment.end - fragment.begin;
  double all = end * static_cast<double>(rows.size());
  return all > 0 ? 1 - busy / all : 0;
}

double Timeline::idleOfEqual() const {
  Timeline equal;
  equal.pipeline = pipeline;
  equal.rows.resize(rows.size());
  for (TimelineRow &row : equal.rows)
    row.phases.fill(1);
  simulate(equal);
  return equal.idle();
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
static TimelineRow costOf(ModuleOp unit, plan::PlanOp plan, StringRef step) {
  TimelineRow cost;
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

/// "stage 1", "stages 1, 3".
static std::string stagesText(const graph::Pipeline &pipeline, int64_t rank) {
  std::string text;
  for (int64_t stage = 0; stage < pipeline.stages(); ++stage)
    if (pipeline.rankOf(stage) == rank)
      text += (text.empty() ? "" : ", ") + std::to_string(stage);
  return (pipeline.stagesPerRank > 1 ? "stages " : "stage ") + text;
}

Timeline describeTimeline(ArrayRef<ModuleOp> units,
                          ArrayRef<plan::PlanOp> plans, StringRef step) {
  Timeline timeline;
  RankNames names(units.front());
  const graph::Pipeline &pipeline = timeline.pipeline = names.pipeline();
  timeline.title = names.model() + ": step " + step.str();
  timeline.rows.resize(pipeline.ranks);
  std::vector<std::vector<int64_t>> ranks(pipeline.ranks);
  std::vector<std::vector<CourseCommand>> courses(pipeline.ranks);
  for (auto [unit, plan] : llvm::zip(units, plans)) {
    std::vector<int64_t> own = names.ranksOf(unit);
    int64_t row = names.pipelineRankOf(own.front());
    TimelineRow cost = costOf(unit, plan, step);
    auto whole = [](const TimelineRow &cost) {
      return std::accumulate(cost.phases.begin(), cost.phases.end(), 0.0);
    };
    for (double &phase : cost.phases)
      phase /= static_cast<double>(pipeline.micros * pipeline.stagesPerRank);
    TimelineRow &slowest = timeline.rows[row];
    if (whole(cost) >= whole(slowest)) {
      slowest = cost;
      courses[row] = courseOf(plan, step);
    }
    ranks[row].insert(ranks[row].end(), own.begin(), own.end());
  }
  for (auto [number, row] : llvm::enumerate(timeline.rows)) {
    llvm::sort(ranks[number]);
    row.name = stagesText(pipeline, static_cast<int64_t>(number)) + " · " +
               rankText(ranks[number]);
  }
  simulate(timeline);
  timeline.course = followCommands(std::move(courses));
  return timeline;
}

} // namespace dl::pictures
