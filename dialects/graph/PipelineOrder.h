// Schedules of a pipeline: what each stage does in which order.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <vector>

namespace dl::graph {

enum class PipelineSchedule {
  /// All micro-batches forward, then all backward. Huang et al., "GPipe", 2019.
  GPipe,
  /// As soon as a micro-batch has come back, it goes first. Narayanan et al.,
  /// "PipeDream", 2019.
  OneForwardOneBackward,
  /// 1f1b in which stage s makes the gradients of its weights s micro-batches
  /// later: then no stage keeps more than the first one, and what waited for
  /// the last gradients works. Qi et al., "Zero Bubble Pipeline Parallelism",
  /// 2024: ZB-H1.
  ZeroBubbleH1,
};

/// "gpipe", "1f1b", "zb-h1".
std::optional<PipelineSchedule> pipelineScheduleOf(llvm::StringRef name);
/// For messages: "gpipe, 1f1b and zb-h1".
inline constexpr llvm::StringLiteral kPipelineSchedules =
    "gpipe, 1f1b and zb-h1";

/// Of a micro-batch at a stage. Only the gradient of the stage's input is
/// waited for by another stage, so it comes before those of its weights.
enum class PipelinePhase { Forward, InputGradient, WeightGradient };
inline constexpr unsigned kPipelinePhases = 3;

struct PipelineWork {
  PipelinePhase phase;
  int64_t micro;
};

/// The work of each stage in its order.
std::vector<std::vector<PipelineWork>>
pipelineOrder(int64_t stages, int64_t micros, PipelineSchedule schedule);

} // namespace dl::graph
