// Steps and what goes in and out of them.
#pragma once

#include "dialects/graph/Graph.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace dl::graph {

/// What an argument of a step is; null for any other value.
PortAttr portOf(mlir::Value value);
/// What an operand of graph.return is; null for that of another op.
PortAttr portOf(mlir::OpOperand &returned);

/// The state whose old value this is, or null.
mlir::FlatSymbolRefAttr stateOf(mlir::Value value);
/// The state whose new value is returned here, or null.
mlir::FlatSymbolRefAttr stateOf(mlir::OpOperand &returned);
/// Whether this is the argument with the step's scalars.
bool isScalars(mlir::Value value);

/// A unit attribute of steps whose results are written for each item.
inline constexpr llvm::StringLiteral kPredicts = "graph.predicts";

/// The module's graph.program, or null.
ProgramOp programOf(mlir::ModuleOp module);
/// Micro-batches of an update; 1 for a module that does not say.
int64_t accumulationOf(mlir::ModuleOp module);

/// "state @fc.weight".
std::string portText(PortAttr port);
/// What portText wrote; a plain port where no keyword of a port follows, null
/// after an error.
PortAttr parsePort(mlir::AsmParser &parser);

} // namespace dl::graph
