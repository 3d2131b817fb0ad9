// The predicted course of a step on the stages of a pipeline.
#pragma once

#include "compiler/pictures/Course.h"
#include "dialects/graph/PipelineOrder.h"
#include "dialects/plan/Plan.h"
#include "mlir/IR/BuiltinOps.h"
#include <array>
#include <string>
#include <vector>

namespace dl::pictures {

/// What the ranks at one place of a pipeline compute, in seconds on one core.
struct TimelineRow {
  std::string name; // "stage 0 · ranks 0, 1", "stages 0, 2 · rank 0"
  /// Of one micro-batch at each of its stages, by graph::PipelinePhase, as if
  /// they took equally long, and after all of them.
  std::array<double, graph::kPipelinePhases> phases = {};
  double update = 0;
};

/// A phase of one micro-batch at one stage, or a row's update.
struct Fragment {
  int64_t row;
  std::optional<graph::PipelineWork> work; // none: the update
  double begin, end;
};

struct Timeline {
  std::string title;
  graph::Pipeline pipeline;
  std::vector<TimelineRow> rows;
  std::vector<Fragment> fragments;
  double end = 0;
  /// Of the commands themselves, which fill waits where the schedule has some.
  Course course;

  /// The part of all ranks' time in which they compute nothing.
  double idle() const;
  /// What is idle if all phases take equally long, and updates no time.
  double idleOfEqual() const;
};

/// Of a training step, from the kernels of all classes of ranks; where several
/// are at a place, the slowest counts.
Timeline describeTimeline(llvm::ArrayRef<mlir::ModuleOp> units,
                          llvm::ArrayRef<plan::PlanOp> plans,
                          llvm::StringRef step);

std::string writeTimelineSvg(const Timeline &timeline);

} // namespace dl::pictures
