// Evaluates whole steps with the ops' references.
#pragma once

#include "dialects/graph/Graph.h"
#include <string>

namespace dl::graph {

/// An op's results, or an error emitted at one without a reference.
mlir::FailureOr<llvm::SmallVector<HostTensor>>
evaluateOp(mlir::Operation &op, llvm::ArrayRef<HostTensor> operands);

/// The step's results, or an error emitted at an op without a reference.
mlir::FailureOr<llvm::SmallVector<HostTensor>>
evaluateStep(StepOp step, llvm::ArrayRef<HostTensor> arguments);

/// "f64 [2,2] [1, 2.5, 3, 4]", flat and row-major.
std::string tensorText(const HostTensor &tensor);

} // namespace dl::graph
