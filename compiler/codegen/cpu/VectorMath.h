// Elementary functions on vectors of float or double, emitted as IR.
//
// Kernels must not depend on a machine's libm: not for symbols, and not for
// bits. These are branch-free, use IEEE operations and fused multiply-adds that
// the source spells out, and give the same bits for AVX2 and AVX-512 (payload
// and sign of a NaN aside). They hold for the whole range, infinities, zeros of
// both signs, denormals and NaN, and assume rounding to nearest without
// flushing of denormals.
//
// `x` is a fixed vector of float or double with any number of lanes. Errors are
// the largest seen against a reference of 64 bits precision, in units of the
// last place.
#pragma once

#include "llvm/IR/IRBuilder.h"

namespace dl::codegen {

/// e^x.
llvm::Value *emitExp(llvm::IRBuilderBase &builder, llvm::Value *x);

/// Natural logarithm: -inf at 0, NaN below.
llvm::Value *emitLog(llvm::IRBuilderBase &builder, llvm::Value *x);

llvm::Value *emitSin(llvm::IRBuilderBase &builder, llvm::Value *x);
llvm::Value *emitCos(llvm::IRBuilderBase &builder, llvm::Value *x);

llvm::Value *emitTanh(llvm::IRBuilderBase &builder, llvm::Value *x);

llvm::Value *emitErf(llvm::IRBuilderBase &builder, llvm::Value *x);

/// x^y with the special cases of C's pow: 1 where y is 0 or x is 1, NaN for
/// negative x and y without an integer value, and so on.
llvm::Value *emitPow(llvm::IRBuilderBase &builder, llvm::Value *x,
                     llvm::Value *y);

} // namespace dl::codegen
