// Schedules of a pipeline: which stages a rank has, and what it does in which
// order.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dl::graph {

class MeshOp;

enum class PipelineSchedule {
  /// All micro-batches forward, then all backward. Huang et al., "GPipe", 2019.
  GPipe,
  /// As soon as a micro-batch has come back, it goes first. Narayanan et al.,
  /// "PipeDream", 2019.
  OneForwardOneBackward,
  /// 1f1b in which each rank has several stages, every `ranks`-th one: waits
  /// are that much shorter, and more is sent. Narayanan et al., "Efficient
  /// Large-Scale Language Model Training on GPU Clusters", 2021.
  Interleaved,
  /// 1f1b in which stage s makes the gradients of its weights s micro-batches
  /// later: then no stage keeps more than the first one, and what waited for
  /// the last gradients works. Qi et al., "Zero Bubble Pipeline Parallelism",
  /// 2024: ZB-H1.
  ZeroBubbleH1,
  /// Two stages on each rank, the second ones in the opposite order: the first
  /// rank has the first and the last stage, so that a micro-batch that turns
  /// round does not wait, and gradients of weights fill the rest. Qi et al.,
  /// "Pipeline Parallelism with Controllable Memory", 2024: ZB-V.
  ZeroBubbleV,
};

/// "gpipe", "1f1b", "interleaved", "zb-h1", "zb-v".
std::optional<PipelineSchedule> pipelineScheduleOf(llvm::StringRef name);
llvm::StringRef nameOf(PipelineSchedule schedule);
/// For messages.
inline constexpr llvm::StringLiteral kPipelineSchedules =
    "gpipe, 1f1b, interleaved, zb-h1 and zb-v";

/// Where nobody says otherwise.
int64_t usualStagesPerRank(PipelineSchedule schedule);
/// Nothing, or what a schedule of this name has instead, "1f1b has one stage on
/// each rank, not 3".
std::string whyNotOnEachRank(llvm::StringRef schedule, int64_t stages);

struct Pipeline {
  PipelineSchedule schedule = PipelineSchedule::OneForwardOneBackward;
  int64_t ranks = 1;
  int64_t stagesPerRank = 1;
  int64_t micros = 1;

  int64_t stages() const { return ranks * stagesPerRank; }
  /// Along the axis of the pipeline.
  int64_t rankOf(int64_t stage) const;
};

/// Of a verified mesh; of one rank where its stages have no axis.
Pipeline pipelineOf(MeshOp mesh);

/// Of a micro-batch at a stage. Only the gradient of the stage's input is
/// waited for by another stage, so it comes before those of its weights.
enum class PipelinePhase { Forward, InputGradient, WeightGradient };
inline constexpr unsigned kPipelinePhases = 3;

struct PipelineWork {
  PipelinePhase phase;
  int64_t stage;
  int64_t micro;
};

/// The work of each rank in its order.
std::vector<std::vector<PipelineWork>> pipelineOrder(const Pipeline &pipeline);

struct PipelineSpan {
  PipelineWork work;
  int64_t rank;
  double begin, end;
};
/// All work, that of a rank in its order: each begins when its rank is free and
/// what it reads is there. Communication takes no time.
std::vector<PipelineSpan>
followPipeline(const Pipeline &pipeline,
               llvm::function_ref<double(const PipelineWork &)> secondsOf);

} // namespace dl::graph
