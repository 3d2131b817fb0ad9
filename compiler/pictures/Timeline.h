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

/// What a stage computes, in seconds on one core.
struct TimelineStage {
  std::string name; // "stage 0, ranks 0, 1"
  /// Of one micro-batch, by graph::PipelinePhase, and after all of them.
  std::array<double, graph::kPipelinePhases> phases = {};
  double update = 0;
};

/// A phase of one micro-batch at one stage, or the stage's update.
struct Fragment {
  int stage;
  std::optional<graph::PipelinePhase> phase; // none: the update
  int64_t micro;                             // from 0
  double begin, end;
};

struct Timeline {
  std::string title, schedule;
  int64_t micros = 1;
  std::vector<TimelineStage> stages;
  std::vector<Fragment> fragments;
  double end = 0;
  /// Of the commands themselves, which fill waits where the schedule has some.
  Course course;

  /// The part of all stages' time in which they compute nothing.
  double idle() const;
  /// What is idle if all phases take equally long, and updates no time.
  double idleOfEqual() const;
};

/// Every fragment begins when its stage is free, in the order of the schedule,
/// and its input is there. Communication takes no time.
void simulate(Timeline &timeline);

/// Of a training step, from the kernels of all classes of ranks; where several
/// are at a stage, the slowest counts.
Timeline describeTimeline(llvm::ArrayRef<mlir::ModuleOp> units,
                          llvm::ArrayRef<plan::PlanOp> plans,
                          llvm::StringRef step);

std::string writeTimelineSvg(const Timeline &timeline);

} // namespace dl::pictures
