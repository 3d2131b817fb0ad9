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

/// Of a step that generates: how many tokens a window has. It predicts, too.
inline constexpr llvm::StringLiteral kWindow = "graph.window";
/// A unit attribute of such a step that takes one token at a time, in the order
/// of the window, whose place is one of the step's scalars.
inline constexpr llvm::StringLiteral kByPosition = "graph.by_position";
/// Behind its name, the step that takes a window and leaves the same behind.
inline constexpr llvm::StringLiteral kWindowSuffix = ".window";

/// On a graph.state: the variable of its outermost module, which stands before
/// its name because another module has the same names.
inline constexpr llvm::StringLiteral kApart = "graph.apart";

// Of evaluations and predictions, see separate-items.
/// A unit attribute of the step for one item of those that full batches leave
/// over. Its update makes metrics of their sums.
inline constexpr llvm::StringLiteral kForItem = "graph.for_item";
/// What in a step needs several items at once, in words.
inline constexpr llvm::StringLiteral kMixes = "graph.mixes";
/// A unit attribute of a step whose ops say what grows with the batch.
inline constexpr llvm::StringLiteral kBatchMarked = "graph.batch_marked";
/// On such an op: the dim of its result that is as long as the batch, and the
/// power of the batch's size that the number is proportional to.
inline constexpr llvm::StringLiteral kBatchDim = "graph.batch_dim";
inline constexpr int64_t kNotByItem = -2; ///< several, or it is another op
inline constexpr llvm::StringLiteral kBatchPower = "graph.batch_power";

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
