// Payload ops (arith, math, graph.philox) on whole vectors.
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/IR/IRBuilder.h"

namespace dl::cpu {

/// The vector type that holds `lanes` values of a scalar type of a payload.
llvm::Type *vectorType(llvm::LLVMContext &context, mlir::Type scalar,
                       unsigned lanes);

/// Emits one payload op with vector operands; its results in order. Null where
/// the op is not part of the payload language.
llvm::SmallVector<llvm::Value *, 2>
emitPayloadOp(llvm::IRBuilderBase &builder, mlir::Operation *op,
              llvm::ArrayRef<llvm::Value *> operands, unsigned lanes);

/// Of the bits of bf16, i16, the numbers as f32.
llvm::Value *emitWidened(llvm::IRBuilderBase &builder, llvm::Value *bits,
                         unsigned lanes);
/// The nearest numbers of bf16 to those of a vector of f32, as f32.
llvm::Value *emitNearestBf16(llvm::IRBuilderBase &builder, llvm::Value *floats);

} // namespace dl::cpu
