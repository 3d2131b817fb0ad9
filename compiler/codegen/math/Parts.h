// What several elementary functions are made of.
#pragma once

#include "compiler/codegen/math/Vec.h"

namespace dl::formula {

inline constexpr double log2e = 0x1.71547652b82fep+0;
// ln 2 in two parts; the first times any exponent is exact.
inline constexpr double ln2FloatHead = 0x1.62e4p-1;
inline constexpr double ln2FloatTail = 0x1.7f7d1cp-20;
inline constexpr double ln2DoubleHead = 0x1.62e42fefa38p-1;
inline constexpr double ln2DoubleTail = 0x1.ef35793c7673p-45;

/// e^x = 2^power (1 + fraction) with fraction in [-0.3, 0.42]; for x within the
/// range of exp and a little beyond. Where power is 0 the fraction is as
/// accurate as the type allows.
struct ReducedExp {
  Rounded power;
  Vec fraction;
};
ReducedExp reduceExp(Vec x);
/// The same for a sum whose tail is below the head's last bits.
ReducedExp reduceExp(Pair x);

/// 2^power (1 + fraction), also where it is denormal, zero or infinite.
Vec expandExp(const ReducedExp &x);

/// e^x - 1 for x in [-200, 60].
Vec expm1(Vec x);

/// x = 2^exponent * mantissa, mantissa in [sqrt(1/2), sqrt(2)), for positive
/// finite x.
struct SplitNumber {
  Vec exponent, mantissa;
};
SplitNumber splitNumber(Vec x);

} // namespace dl::formula
