#include "dialects/graph/PipelineOrder.h"

#include <gtest/gtest.h>
#include <map>
#include <tuple>

using namespace dl::graph;

namespace {

double unit(const PipelineWork &) { return 1; }

double lengthOf(const Pipeline &pipeline) {
  double length = 0;
  for (const PipelineSpan &span : followPipeline(pipeline, unit))
    length = std::max(length, span.end);
  return length;
}

/// Of a rank: the most micro-batches, times stages, that are forward and have
/// not come back.
int64_t mostKept(const std::vector<PipelineWork> &list, PipelinePhase back) {
  int64_t kept = 0, most = 0;
  for (const PipelineWork &work : list) {
    kept += work.phase == PipelinePhase::Forward;
    kept -= work.phase == back;
    most = std::max(most, kept);
  }
  return most;
}

std::vector<Pipeline> allShapes() {
  std::vector<Pipeline> shapes;
  for (int64_t ranks = 1; ranks <= 8; ++ranks)
    for (int64_t micros = 1; micros <= 18; ++micros) {
      for (PipelineSchedule one :
           {PipelineSchedule::GPipe, PipelineSchedule::OneForwardOneBackward,
            PipelineSchedule::ZeroBubbleH1})
        shapes.push_back({one, ranks, 1, micros});
      for (int64_t perRank = 2; perRank <= 4; ++perRank)
        shapes.push_back(
            {PipelineSchedule::Interleaved, ranks, perRank, micros});
      shapes.push_back({PipelineSchedule::ZeroBubbleV, ranks, 2, micros});
    }
  return shapes;
}

} // namespace

/// Every rank does the work of its stages, each once, and none waits for ever.
TEST(PipelineOrder, IsWholeAndEnds) {
  for (const Pipeline &pipeline : allShapes()) {
    SCOPED_TRACE(testing::Message()
                 << static_cast<int>(pipeline.schedule) << ": "
                 << pipeline.ranks << " ranks, " << pipeline.stagesPerRank
                 << " stages on each, " << pipeline.micros << " micro-batches");
    std::map<std::tuple<PipelinePhase, int64_t, int64_t>, int64_t> seen;
    auto lists = pipelineOrder(pipeline);
    ASSERT_EQ(static_cast<int64_t>(lists.size()), pipeline.ranks);
    for (int64_t rank = 0; rank < pipeline.ranks; ++rank)
      for (const PipelineWork &work : lists[rank]) {
        EXPECT_EQ(pipeline.rankOf(work.stage), rank);
        ++seen[{work.phase, work.stage, work.micro}];
      }
    int64_t works = 3 * pipeline.stages() * pipeline.micros;
    EXPECT_EQ(static_cast<int64_t>(seen.size()), works);
    for (const auto &[work, count] : seen)
      EXPECT_EQ(count, 1);
    EXPECT_EQ(static_cast<int64_t>(followPipeline(pipeline, unit).size()),
              works);
  }
}

/// What ranks wait if all phases take one unit of time: of 1f1b the way there
/// and back; of interleaved the same in stages that are as much shorter; of
/// zb-h1 what gradients of weights do not fill, and of zb-v the way there
/// alone.
TEST(PipelineOrder, Waits) {
  for (int64_t ranks = 2; ranks <= 8; ++ranks) {
    int64_t micros = 3 * ranks;
    auto waits = [&](PipelineSchedule schedule, int64_t perRank) {
      return lengthOf({schedule, ranks, perRank, micros}) -
             static_cast<double>(3 * perRank * micros);
    };
    auto way = static_cast<double>(ranks - 1);
    EXPECT_EQ(waits(PipelineSchedule::GPipe, 1), 2 * way);
    EXPECT_EQ(waits(PipelineSchedule::OneForwardOneBackward, 1), 2 * way);
    EXPECT_EQ(waits(PipelineSchedule::ZeroBubbleH1, 1), way);
    EXPECT_EQ(waits(PipelineSchedule::ZeroBubbleV, 2), way);
    for (int64_t perRank = 2; perRank <= 4; ++perRank)
      EXPECT_EQ(waits(PipelineSchedule::Interleaved, perRank), 2 * way);
  }
}

/// What the published schedules keep at most for the backward.
TEST(PipelineOrder, Memory) {
  int64_t ranks = 4, micros = 16;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    auto kept = [&](PipelineSchedule schedule, int64_t perRank) {
      return mostKept(pipelineOrder({schedule, ranks, perRank, micros})[rank],
                      PipelinePhase::WeightGradient);
    };
    EXPECT_EQ(kept(PipelineSchedule::GPipe, 1), micros);
    EXPECT_EQ(kept(PipelineSchedule::OneForwardOneBackward, 1), ranks - rank);
    EXPECT_EQ(kept(PipelineSchedule::ZeroBubbleH1, 1), ranks);
    EXPECT_EQ(kept(PipelineSchedule::ZeroBubbleV, 2), 2 * ranks);
    EXPECT_EQ(kept(PipelineSchedule::Interleaved, 2),
              2 * (ranks - 1 - rank) + ranks + 1);
  }
}

TEST(PipelineOrder, StagesOfARank) {
  Pipeline looped{PipelineSchedule::Interleaved, 3, 2, 1};
  Pipeline turned{PipelineSchedule::ZeroBubbleV, 3, 2, 1};
  for (int64_t stage = 0; stage < 6; ++stage) {
    EXPECT_EQ(looped.rankOf(stage), stage % 3);
    EXPECT_EQ(turned.rankOf(stage), stage < 3 ? stage : 5 - stage);
  }
  EXPECT_EQ(whyNotOnEachRank("1f1b", 1), "");
  EXPECT_EQ(whyNotOnEachRank("interleaved", 3), "");
  EXPECT_EQ(whyNotOnEachRank("zb-v", 2), "");
  EXPECT_EQ(whyNotOnEachRank("1f1b", 3),
            "1f1b has one stage on each rank, not 3");
  EXPECT_EQ(whyNotOnEachRank("interleaved", 1),
            "interleaved has 2 to 65536 stages on each rank, not 1");
  EXPECT_EQ(whyNotOnEachRank("zb-v", 3),
            "zb-v has two stages on each rank, not 3");
}
