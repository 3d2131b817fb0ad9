// The natural logarithm.
#include "compiler/codegen/math/Functions.h"
#include "compiler/codegen/math/Parts.h"

using llvm::ArrayRef;

namespace dl::formula {

// 2 atanh(s) = 2 s + s z R(z), z = s^2, for |s| < 0.1716, relative errors
// 2^-30.2 and 2^-59.5.
static constexpr double logRFloat[] = {0x1.55557ap-1, 0x1.995eb8p-2,
                                       0x1.31e344p-2};
static constexpr double logRDouble[] = {
    0x1.5555555555592p-1, 0x1.999999997fd7ep-2, 0x1.24924941f49f1p-2,
    0x1.c71c52064e83fp-3, 0x1.74663f9425bc1p-3, 0x1.39a1a85bdf818p-3,
    0x1.2f06267a8f138p-3};

SplitNumber splitNumber(Vec x) {
  // Denormals first become normal.
  double smallest = x.pick(0x1p-126, 0x1p-1022);
  double digits = x.pick(23.0, 52.0);
  Vec isDenormal = (x < smallest).named("isDenormal");
  Vec normal = select(isDenormal, x * x.pick(0x1p23, 0x1p52), x);
  Vec extra = select(isDenormal, x.splat(digits), x.splat(0));

  // Counting from sqrt(1/2), so that the mantissa of numbers near 1 is near 1.
  int64_t one = x.pick(INT64_C(0x3f800000), INT64_C(0x3ff0000000000000));
  int64_t root = x.pick(INT64_C(0x3f3504f3), INT64_C(0x3fe6a09e667f3bcd));
  int64_t field = x.pick(INT64_C(0x7fffff), INT64_C(0xfffffffffffff));
  Vec shifted = normal.bits().addInt(normal.splatInt(one - root));
  Vec mantissa =
      (shifted & normal.splatInt(field)).addInt(normal.splatInt(root));

  // The biased exponent as the last bits of a number that size is itself.
  double anchor = x.pick(0x1p23, 0x1p52), bias = x.pick(127.0, 1023.0);
  Vec biased = (shifted >> x.pick(23, 52)) | x.splat(anchor).bits();
  return {(biased.number() - (anchor + bias)) - extra, mantissa.number()};
}

Vec log(Vec x) {
  SplitNumber parts = splitNumber(x);
  // log(1 + f) = f - (h - s (h + z R)), with s = f / (2 + f) and h = f^2 / 2:
  // what is rounded most is smallest.
  Vec f = (parts.mantissa - 1.0).named("f");
  Vec s = (f / (f + 2.0)).named("s");
  Vec z = (s * s).named("z");
  Vec r = polynomial(z, x.pick<ArrayRef<double>>(logRFloat, logRDouble)) * z;
  Vec h = (f * f * 0.5).named("h");
  Vec tail =
      fma(parts.exponent, x.pick(ln2FloatTail, ln2DoubleTail), s * (h + r));
  Vec log =
      fma(parts.exponent, x.pick(ln2FloatHead, ln2DoubleHead), f - (h - tail));

  // x itself for +inf and NaN.
  Vec outside = select(x < 0.0, x.nan(), x);
  outside = select(x == 0.0, -x.infinity(), outside);
  return select((x > 0.0) & (x < x.infinity()), log, outside);
}

} // namespace dl::formula
