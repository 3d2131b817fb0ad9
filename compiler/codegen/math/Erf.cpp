// The error function.
#include "compiler/codegen/math/Functions.h"
#include "compiler/codegen/math/Parts.h"

using llvm::ArrayRef;

namespace dl::formula {

// erf x = 1 - e^-y, y = x (2 / sqrt(pi) + x Q(x)), for 0 <= x <= 4 and 6: an
// error of y counts as much as it moves erf x, then the errors are 2^-27.8 and
// 2^-57.5.
static constexpr double erfQFloat[] = {
    0x1.45f2fep-1, 0x1.a4f94ap-4,   -0x1.39bf3cp-6, -0x1.5cdf1ap-13,
    0x1.b6798p-10, -0x1.4d52f2p-11, 0x1.f0b904p-14, -0x1.396e42p-17};
static constexpr double erfQDouble[] = {
    0x1.45f306dc9c89p-1,    0x1.a4f4e2a1b296cp-4,   -0x1.3966859401127p-6,
    -0x1.b6b68b15df5dp-13,  0x1.bca67b1c1178fp-10,  -0x1.35654921e6529p-11,
    0x1.b2291889bb626p-16,  0x1.0e813dd9ea31bp-14,  -0x1.f2bc0d9d7302bp-16,
    0x1.c9dfc80cf3a5bp-19,  0x1.7be1c782f19e5p-19,  -0x1.d24eedf7176ddp-20,
    0x1.65ab1a86c1b86p-22,  0x1.2ac3f301e2bep-23,   -0x1.326f6a93ee2cbp-23,
    0x1.1bdfeb90309d7p-24,  -0x1.6a0f8fe40673ep-26, 0x1.5955f0408e4fap-28,
    -0x1.f6388f9c89aa1p-31, 0x1.143f0a75c7aa9p-33,  -0x1.beb0499ce2a8ep-37,
    0x1.f58ae6ee4af69p-41,  -0x1.5d7cfc4c8a20fp-45, 0x1.c74cb90d8df77p-51};
// 2 / sqrt(pi) in two parts.
static constexpr double slopeFloatHead = 0x1.20dd76p+0;
static constexpr double slopeFloatTail = -0x1.f7ac92p-25;
static constexpr double slopeDoubleHead = 0x1.20dd750429b6dp+0;
static constexpr double slopeDoubleTail = 0x1.1ae3a914fed8p-56;

Vec erf(Vec signedX) {
  Vec x = signedX.abs().atMost(signedX.pick(4.0, 6.0)); // 1 beyond
  Vec q = polynomial(x, x.pick<ArrayRef<double>>(erfQFloat, erfQDouble));
  Vec low = x * fma(x, q, x.splat(x.pick(slopeFloatTail, slopeDoubleTail)));
  Vec y = fma(x, x.pick(slopeFloatHead, slopeDoubleHead), low);
  return expm1(-y).abs().withSign(signedX.sign());
}

} // namespace dl::formula
