// Elementary functions on vectors of float or double, emitted as IR: the
// formulas of compiler/codegen/math/Functions.h, which has their bounds.
//
// They give the same bits for AVX2 and AVX-512 (payload and sign of a NaN
// aside). `x` is a fixed vector of float or double with any number of lanes.
#pragma once

#include "llvm/IR/IRBuilder.h"

#include <array>

namespace dl::cpu {

llvm::Value *emitExp(llvm::IRBuilderBase &builder, llvm::Value *x);
llvm::Value *emitLog(llvm::IRBuilderBase &builder, llvm::Value *x);
llvm::Value *emitSin(llvm::IRBuilderBase &builder, llvm::Value *x);
llvm::Value *emitCos(llvm::IRBuilderBase &builder, llvm::Value *x);
llvm::Value *emitTanh(llvm::IRBuilderBase &builder, llvm::Value *x);
llvm::Value *emitErf(llvm::IRBuilderBase &builder, llvm::Value *x);
llvm::Value *emitPow(llvm::IRBuilderBase &builder, llvm::Value *x,
                     llvm::Value *y);

/// The words of Philox4x32-10 for counter (counter, step, micro) and key
/// (seed ^ key), as <lanes x i32>. All arguments are <lanes x i64>.
std::array<llvm::Value *, 4> emitPhilox(llvm::IRBuilderBase &builder,
                                        llvm::Value *counter, llvm::Value *seed,
                                        llvm::Value *step, llvm::Value *micro,
                                        llvm::Value *key);

/// x / y with the bits of IEEE's division, so no formula: other targets divide.
/// Where y is a constant and x is made of a byte and constants, such as a
/// pixel, it has none: LLVM's would be the slowest instruction by far.
llvm::Value *emitDivide(llvm::IRBuilderBase &builder, llvm::Value *x,
                        llvm::Value *y);

} // namespace dl::cpu
