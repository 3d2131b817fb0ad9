// One small instance of every op, and values to feed it.
#pragma once

#include "dialects/graph/Evaluate.h"
#include "mlir/IR/MLIRContext.h"
#include <string>
#include <vector>

namespace dl::test {

/// An op on operands of these types. Values of float operands spread over
/// [low, high], those of integer operands run through 0..modulus-1.
struct OpCase {
  std::string op;
  std::vector<std::string> operands;
  std::string attributes = "{}";
  double low = -2, high = 2;
  int64_t modulus = 3;
};

/// Cases of all ops on tensors.
const std::vector<OpCase> &opCases();

/// The op inside a function `f` that returns its results; null on an error.
mlir::OwningOpRef<mlir::ModuleOp> buildCase(mlir::MLIRContext &context,
                                            const OpCase &opCase);
/// The op of such a function.
mlir::Operation *opOf(mlir::ModuleOp module);
graph::StepOp functionOf(mlir::ModuleOp module);

/// Values for the arguments of a function.
llvm::SmallVector<graph::HostTensor> caseArguments(const OpCase &opCase,
                                                   mlir::TypeRange types);

void loadDialects(mlir::MLIRContext &context);
std::string caseText(const OpCase &opCase);

} // namespace dl::test
