// Elementary functions on vectors of float or double, emitted as IR.
//
// Kernels must not depend on a machine's libm: not for symbols, and not for
// bits. These functions have no branches and no tables, use IEEE operations and
// explicit fused multiply-adds only, and give the same bits for AVX2 and
// AVX-512 (payload and sign of a NaN aside). They hold for all arguments:
// infinities, zeros of both signs, denormals and NaN. They assume rounding to
// nearest and no flushing of denormals.
//
// `x` is a fixed vector of float or double with any number of lanes. The bounds
// are in units of the last place, and hold for all of millions of arguments
// against a reference of 64 bits; test/codegen/VectorMathTest.cpp checks them.
#pragma once

#include "llvm/IR/IRBuilder.h"

namespace dl::cpu {

/// x / y, correctly rounded, where LLVM's division would be the slowest
/// instruction by far without one: y is a constant and x is made of a byte and
/// constants, such as a pixel.
llvm::Value *emitDivide(llvm::IRBuilderBase &builder, llvm::Value *x,
                        llvm::Value *y);

/// e^x. Float and double: 1.1 ulp.
llvm::Value *emitExp(llvm::IRBuilderBase &builder, llvm::Value *x);

/// Natural logarithm: -inf at 0, NaN below. Float and double: 1 ulp.
llvm::Value *emitLog(llvm::IRBuilderBase &builder, llvm::Value *x);

/// Sine and cosine, x in radians. Float: 1.6 ulp up to 10^12. Double: 1 ulp up
/// to 10^9, then an absolute error of 2 * 10^-16 up to 10^14. Beyond, results
/// stay in [-1, 1] and mean nothing more. NaN at infinities.
llvm::Value *emitSin(llvm::IRBuilderBase &builder, llvm::Value *x);
llvm::Value *emitCos(llvm::IRBuilderBase &builder, llvm::Value *x);

/// Hyperbolic tangent. Float and double: 2 ulp.
llvm::Value *emitTanh(llvm::IRBuilderBase &builder, llvm::Value *x);

/// The error function. Float and double: 2 ulp.
llvm::Value *emitErf(llvm::IRBuilderBase &builder, llvm::Value *x);

/// x^y with the special cases of C's pow: 1 where y is 0 or x is 1, NaN for
/// negative x and y without an integer value, and so on. Float: 0.51 ulp.
/// Double: 1.5 ulp.
llvm::Value *emitPow(llvm::IRBuilderBase &builder, llvm::Value *x,
                     llvm::Value *y);

} // namespace dl::cpu
