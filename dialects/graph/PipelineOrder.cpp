#include "dialects/graph/PipelineOrder.h"
#include "dialects/graph/Check.h"
#include "dialects/graph/Graph.h"
#include <algorithm>
#include <array>

namespace dl::graph {

llvm::StringRef nameOf(PipelineSchedule schedule) {
  switch (schedule) {
  case PipelineSchedule::GPipe:
    return "gpipe";
  case PipelineSchedule::OneForwardOneBackward:
    return "1f1b";
  case PipelineSchedule::Interleaved:
    return "interleaved";
  case PipelineSchedule::ZeroBubbleH1:
    return "zb-h1";
  case PipelineSchedule::ZeroBubbleV:
    return "zb-v";
  }
  DL_UNREACHABLE("a schedule without a name");
}

std::optional<PipelineSchedule> pipelineScheduleOf(llvm::StringRef name) {
  using enum PipelineSchedule;
  for (PipelineSchedule schedule :
       {GPipe, OneForwardOneBackward, Interleaved, ZeroBubbleH1, ZeroBubbleV})
    if (name == nameOf(schedule))
      return schedule;
  return std::nullopt;
}

int64_t usualStagesPerRank(PipelineSchedule schedule) {
  return schedule == PipelineSchedule::Interleaved ||
                 schedule == PipelineSchedule::ZeroBubbleV
             ? 2
             : 1;
}

/// More than any model has layers.
static constexpr int64_t kMostOnEachRank = 65536;

std::string whyNotOnEachRank(llvm::StringRef name, int64_t stages) {
  std::optional<PipelineSchedule> schedule = pipelineScheduleOf(name);
  if (!schedule)
    return {};
  int64_t usual = usualStagesPerRank(*schedule);
  bool more = *schedule == PipelineSchedule::Interleaved;
  if (stages == usual || (more && stages > usual && stages <= kMostOnEachRank))
    return {};
  std::string has = more ? "2 to " + std::to_string(kMostOnEachRank) + " stages"
                    : usual == 2 ? "two stages"
                                 : "one stage";
  return name.str() + " has " + has + " on each rank, not " +
         std::to_string(stages);
}

int64_t Pipeline::rankOf(int64_t stage) const {
  int64_t rank = stage % ranks;
  bool turned = schedule == PipelineSchedule::ZeroBubbleV && stage >= ranks;
  return turned ? ranks - 1 - rank : rank;
}

Pipeline pipelineOf(MeshOp mesh) {
  Pipeline pipeline;
  pipeline.micros = mesh.getMicroBatches();
  PipelineSchedule schedule = pipelineScheduleOf(mesh.getSchedule()).value();
  if (usualStagesPerRank(schedule) == 1)
    pipeline.schedule = schedule; // of micro-batches on one rank, too
  for (auto axis : mesh.getAxes().getAsRange<AxisAttr>()) {
    if (axis.getName() != mesh.getStages())
      continue;
    pipeline.schedule = schedule;
    pipeline.ranks = axis.getSize();
    pipeline.stagesPerRank = mesh.getStagesPerRank();
  }
  return pipeline;
}

namespace {

using Works = std::vector<PipelineWork>;

void addBackward(Works &list, int64_t stage, int64_t micro) {
  list.push_back({PipelinePhase::InputGradient, stage, micro});
  list.push_back({PipelinePhase::WeightGradient, stage, micro});
}

/// A stage a rank; `ahead` micro-batches go forward before the first one comes
/// back, and gradients of weights are made `late` micro-batches after those of
/// the input.
Works oneStage(int64_t stage, int64_t micros, int64_t ahead, int64_t late) {
  Works list;
  for (int64_t m = 0; m < ahead; ++m)
    list.push_back({PipelinePhase::Forward, stage, m});
  for (int64_t m = 0; m < micros; ++m) {
    if (m + ahead < micros)
      list.push_back({PipelinePhase::Forward, stage, m + ahead});
    list.push_back({PipelinePhase::InputGradient, stage, m});
    if (m >= late)
      list.push_back({PipelinePhase::WeightGradient, stage, m - late});
  }
  for (int64_t m = std::max<int64_t>(micros - late, 0); m < micros; ++m)
    list.push_back({PipelinePhase::WeightGradient, stage, m});
  return list;
}

/// As many micro-batches as there are ranks, or a few more where they do not
/// divide, go through all stages of a rank before the next ones do. (Of fewer
/// the ranks would wait for one another.)
Works interleaved(const Pipeline &pipeline, int64_t rank) {
  int64_t groups = std::max<int64_t>(pipeline.micros / pipeline.ranks, 1);
  int64_t largest = (pipeline.micros + groups - 1) / groups;
  int64_t turns = pipeline.stagesPerRank;
  std::vector<std::pair<int64_t, int64_t>> forward, backward; // stage, micro
  for (int64_t first = 0; first < pipeline.micros;) {
    int64_t left = pipeline.micros - first,
            end = first + (left + groups - 1) / groups;
    for (int64_t turn = 0; turn < turns; ++turn)
      for (int64_t m = first; m < end; ++m) {
        forward.push_back({turn * pipeline.ranks + rank, m});
        backward.push_back({(turns - 1 - turn) * pipeline.ranks + rank, m});
      }
    first = end;
    --groups;
  }
  auto total = static_cast<int64_t>(forward.size());
  int64_t ahead =
      std::min(total, 2 * (pipeline.ranks - 1 - rank) + (turns - 1) * largest);
  Works list;
  for (int64_t k = 0; k < total + ahead; ++k) {
    if (k < total)
      list.push_back(
          {PipelinePhase::Forward, forward[k].first, forward[k].second});
    if (k >= ahead)
      addBackward(list, backward[k - ahead].first, backward[k - ahead].second);
  }
  return list;
}

/// Where ranks do as much as in the steady state, which a pipeline of
/// 2 ranks - 1 micro-batches reaches. Fewer do the same and leave out the
/// others.
Works zeroBubbleV(const Pipeline &pipeline, int64_t rank) {
  int64_t down = rank, up = 2 * pipeline.ranks - 1 - rank; // the two stages
  int64_t micros = std::max(pipeline.micros, 2 * pipeline.ranks - 1);
  int64_t behind = pipeline.ranks - rank; // ranks from here to the turn
  Works list;
  // By phase and direction, how many micro-batches are done.
  std::array<std::array<int64_t, 2>, kPipelinePhases> done = {};
  auto add = [&](PipelinePhase phase, bool isUp) {
    int64_t micro = done[static_cast<unsigned>(phase)][isUp]++;
    if (micro < pipeline.micros)
      list.push_back({phase, isUp ? up : down, micro});
  };
  auto count = [&](PipelinePhase phase, bool isUp) {
    return done[static_cast<unsigned>(phase)][isUp];
  };
  using enum PipelinePhase;
  auto backward = [&](bool isUp) {
    add(InputGradient, isUp);
    add(WeightGradient, isUp);
  };
  for (int64_t i = 0; i < 2 * behind - 1; ++i)
    add(Forward, false);
  for (int64_t i = 0; i < rank; ++i) {
    add(Forward, true);
    add(Forward, false);
  }
  for (int64_t i = 0; i < behind; ++i) {
    add(Forward, true);
    backward(true);
  }
  while (count(Forward, true) < micros) {
    if (count(Forward, false) < micros)
      add(Forward, false);
    backward(false);
    add(Forward, true);
    backward(true);
  }
  for (int64_t i = 0; i < rank; ++i) {
    add(InputGradient, false);
    add(InputGradient, true);
  }
  for (int64_t i = 0; i < behind; ++i)
    backward(false);
  for (bool isUp : {true, false})
    while (count(WeightGradient, isUp) < micros)
      add(WeightGradient, isUp);
  return list;
}

/// What a work reads of other work.
std::optional<PipelineWork> before(const PipelineWork &work, int64_t stages) {
  auto [phase, stage, micro] = work;
  using enum PipelinePhase;
  if (phase == WeightGradient)
    return PipelineWork{InputGradient, stage, micro};
  if (phase == InputGradient)
    return stage + 1 == stages ? PipelineWork{Forward, stage, micro}
                               : PipelineWork{phase, stage + 1, micro};
  if (stage == 0)
    return std::nullopt;
  return PipelineWork{phase, stage - 1, micro};
}

} // namespace

std::vector<std::vector<PipelineWork>> pipelineOrder(const Pipeline &pipeline) {
  std::vector<Works> lists;
  int64_t micros = pipeline.micros;
  for (int64_t rank = 0; rank < pipeline.ranks; ++rank) {
    int64_t ahead = std::min(pipeline.ranks - 1 - rank, micros);
    switch (pipeline.schedule) {
    case PipelineSchedule::GPipe:
      lists.push_back(oneStage(rank, micros, micros, 0));
      break;
    case PipelineSchedule::OneForwardOneBackward:
      lists.push_back(oneStage(rank, micros, ahead, 0));
      break;
    case PipelineSchedule::Interleaved:
      lists.push_back(interleaved(pipeline, rank));
      break;
    case PipelineSchedule::ZeroBubbleH1:
      lists.push_back(oneStage(rank, micros, ahead, rank));
      break;
    case PipelineSchedule::ZeroBubbleV:
      lists.push_back(zeroBubbleV(pipeline, rank));
      break;
    }
  }
  return lists;
}

std::vector<PipelineSpan>
followPipeline(const Pipeline &pipeline,
               llvm::function_ref<double(const PipelineWork &)> secondsOf) {
  std::vector<Works> lists = pipelineOrder(pipeline);
  // When work has ended; -1: not yet.
  std::vector<double> ended(
      kPipelinePhases * pipeline.stages() * pipeline.micros, -1);
  auto endOf = [&](const PipelineWork &work) -> double & {
    int64_t row =
        static_cast<int64_t>(work.phase) * pipeline.stages() + work.stage;
    return ended[row * pipeline.micros + work.micro];
  };
  std::vector<PipelineSpan> spans;
  std::vector<size_t> next(pipeline.ranks, 0);
  std::vector<double> free(pipeline.ranks, 0);
  size_t left = ended.size();
  for (bool progress = true; progress;) {
    progress = false;
    for (int64_t rank = 0; rank < pipeline.ranks; ++rank)
      for (; next[rank] < lists[rank].size(); ++next[rank]) {
        const PipelineWork &work = lists[rank][next[rank]];
        auto first = before(work, pipeline.stages());
        double ready = first ? endOf(*first) : 0;
        if (ready < 0)
          break; // another rank comes first
        double begin = std::max(ready, free[rank]);
        endOf(work) = free[rank] = begin + secondsOf(work);
        spans.push_back({work, rank, begin, free[rank]});
        progress = true;
        --left;
      }
  }
  DL_CHECK(left == 0, "ranks wait for one another");
  return spans;
}

} // namespace dl::graph
