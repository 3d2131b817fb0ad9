// The predicted course of a step on the stages of a pipeline.
#pragma once

#include "compiler/pictures/Picture.h"
#include "dialects/plan/Plan.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace dl::pictures {

/// What a stage computes, in seconds on one core.
struct TimelineStage {
  std::string name; // "stage 0, ranks 0, 1"
  /// Of one micro-batch, and after all of them.
  double forward = 0, backward = 0, update = 0;
};

/// One direction of one micro-batch at one stage, or the stage's update.
struct Fragment {
  int stage;
  Part part;
  int64_t micro; // from 0
  double begin, end;
};

struct Timeline {
  std::string title, schedule;
  int64_t micros = 1;
  std::vector<TimelineStage> stages;
  std::vector<Fragment> fragments;
  double end = 0;

  /// The part of all stages' time in which they compute nothing.
  double idle() const;
  /// What is idle if all fragments take equally long: (S - 1) / (M + S - 1).
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
