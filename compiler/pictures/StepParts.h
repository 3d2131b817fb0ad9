// Which part of the step each op, kernel and value belongs to.
#pragma once

#include "compiler/pictures/Picture.h"
#include "dialects/graph/Graph.h"

namespace dl::pictures {

/// A function of a step that is not its short version: micro-batch, update.
struct StepFunctions {
  graph::StepOp step;   // null if there is no such step
  graph::StepOp update; // null without accumulation
};
StepFunctions findStep(mlir::ModuleOp module, llvm::StringRef name);

/// "conv1.weight", of an argument or a returned value; empty if it is no state.
llvm::StringRef stateOfArgument(mlir::Value value);
llvm::StringRef stateOfResult(mlir::OpOperand &returned);

/// A constant that fills a whole tensor.
bool isSplat(mlir::Operation *op);

class StepParts {
public:
  explicit StepParts(graph::StepOp function);

  /// Of an op or a kernel of the function, or an op in a kernel.
  Part of(mlir::Operation *op) const { return parts.lookup(op); }
  /// Of a value: input, or that of the op (in a kernel) that makes it.
  Part of(mlir::Value value) const;

private:
  void classify(mlir::Operation *op, bool inUpdate);
  void classifyKernel(graph::KernelOp kernel, bool inUpdate);
  void pullIntoUpdate(graph::StepOp function);

  llvm::DenseMap<mlir::Operation *, Part> parts;
  llvm::DenseMap<mlir::Value, Part> values;
};

} // namespace dl::pictures
