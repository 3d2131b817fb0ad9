// How a step function's arguments and results are marked, and the step's
// scalars.
#pragma once

#include "dialects/graph/StepScalars.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <string>

namespace dl {

inline constexpr llvm::StringLiteral kState = "graph.state";
inline constexpr llvm::StringLiteral kInput = "graph.input";
inline constexpr llvm::StringLiteral kScalars = "graph.scalars";

using graph::readScalar;
using graph::StepScalar;

/// The state that an argument of a step holds, or null.
mlir::FlatSymbolRefAttr stateOf(mlir::Value value);
/// For messages: "'fc1.weight'", "input 0", "a value".
std::string describe(mlir::Value value);
/// The argument with the step's scalars, or null.
mlir::Value scalarsOf(mlir::func::FuncOp function);

} // namespace dl
