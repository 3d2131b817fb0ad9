// Ops of payloads as C++ expressions.
#pragma once

#include "compiler/codegen/math/CudaText.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"
#include <string>

namespace dl::cuda {

/// Of a scalar in an expression: "float", "bool", "long long". Integers are
/// signed, whatever the tensor says; ops know better.
std::string valueType(mlir::Type scalar);
/// Of an element in memory: a bool is an unsigned char.
std::string memoryType(mlir::Type element);
std::string floatLiteral(double value, mlir::Type type);

/// The formula that an op is, if it is one.
std::optional<formula::Function> formulaOf(mlir::Operation *op);

/// The expressions of an op's results over those of its operands, which are
/// names or literals; none where there is no text for the op.
llvm::SmallVector<std::string, 2>
payloadText(mlir::Operation *op, llvm::ArrayRef<std::string> operands);

} // namespace dl::cuda
