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

/// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
/// SC'11): words 0 and 1 for counter (index, step, micro) and key (seed ^ key),
/// as <lanes x i32>. All arguments are <lanes x i64>.
std::pair<llvm::Value *, llvm::Value *>
emitPhilox(llvm::IRBuilderBase &builder, llvm::Value *index, llvm::Value *seed,
           llvm::Value *step, llvm::Value *micro, llvm::Value *key);

} // namespace dl::cpu
