// The step's scalars, i64[8]: what a step knows besides its data and states.
#pragma once

#include "dialects/graph/GraphBuilder.h"

namespace dl::graph {

/// Settings, f64, lie behind them in memory.
inline constexpr int64_t numStepScalars = 8;

/// The sixth, where items run one by one: how many have gone before.
inline constexpr auto itemPlace = static_cast<StepScalar>(5);

/// The seventh, where tokens come one at a time: its place in the window.
inline constexpr auto tokenPlace = static_cast<StepScalar>(6);

/// One of the scalars, i64, in a shape that broadcasts to that of `like`. It is
/// not reshaped without need: a reshape is a border between kernels.
mlir::Value readScalar(GraphBuilder &builder, mlir::Value scalars,
                       StepScalar which, mlir::Value like);

} // namespace dl::graph
