// Elementary functions and random words, as formulas.
//
// Kernels must not depend on a machine's libm: not for symbols, and not for
// bits. These formulas have no branches and no tables, use IEEE operations and
// explicit fused multiply-adds only, and give the same bits on every target
// (payload and sign of a NaN aside). They hold for all arguments: infinities,
// zeros of both signs, denormals and NaN. They assume rounding to nearest and
// no flushing of denormals.
//
// The bounds are in units of the last place, and hold for all of millions of
// arguments against a reference of 64 bits; test/codegen/VectorMathTest.cpp
// checks them.
#pragma once

#include "compiler/codegen/math/Vec.h"

#include <array>

namespace dl::formula {

/// e^x. Float and double: 1.1 ulp.
Vec exp(Vec x);

/// Natural logarithm: -inf at 0, NaN below. Float and double: 1 ulp.
Vec log(Vec x);

/// Sine and cosine, x in radians, where it is not far. Float: 1.6 ulp. Double:
/// 1 ulp.
Vec sin(Vec x);
Vec cos(Vec x);
/// Where it is, beyond 10^12 or 10^9, they take six times as long; targets
/// branch. NaN at infinities.
Vec isFarAngle(Vec x);
Vec sinFar(Vec x);
Vec cosFar(Vec x);

/// Hyperbolic tangent. Float and double: 2 ulp.
Vec tanh(Vec x);

/// The error function. Float and double: 2 ulp.
Vec erf(Vec x);

/// x^y with the special cases of C's pow: 1 where y is 0 or x is 1, NaN for
/// negative x and y without an integer value, and so on. Float: 0.51 ulp.
/// Double: 1.5 ulp.
Vec pow(Vec x, Vec y);

/// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
/// SC'11): the words for counter (counter, step, micro) and key (seed ^ key).
/// All arguments are I64, the words I32. `inWide`: numbers of 32 bits stay in
/// the low halves of 64, as vectors multiply them, until the end.
std::array<Vec, 4> philox(Vec counter, Vec seed, Vec step, Vec micro, Vec key,
                          bool inWide);

} // namespace dl::formula
