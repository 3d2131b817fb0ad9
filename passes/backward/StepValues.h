// How a step function's arguments and results are marked, and the step's
// scalars.
#pragma once

#include "dialects/graph/GraphBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <string>

namespace dl {

inline constexpr llvm::StringLiteral kState = "graph.state";
inline constexpr llvm::StringLiteral kInput = "graph.input";
inline constexpr llvm::StringLiteral kScalars = "graph.scalars";

/// Positions in the step's scalars.
enum class StepScalar { Seed, Step, Micro, GroupItems, Epoch };

/// The state that an argument of a step holds, or null.
mlir::FlatSymbolRefAttr stateOf(mlir::Value value);
/// For messages: "'fc1.weight'", "input 0", "a value".
std::string describe(mlir::Value value);
/// The argument with the step's scalars, or null.
mlir::Value scalarsOf(mlir::func::FuncOp function);
/// One of the scalars, i64, in a shape that broadcasts to that of `like`. It is
/// not reshaped without need: a reshape is a border between kernels.
mlir::Value readScalar(graph::GraphBuilder &builder, mlir::Value scalars,
                       StepScalar which, mlir::Value like);

} // namespace dl
