// Random words.
#include "compiler/codegen/math/Functions.h"

namespace dl::formula {

std::array<Vec, 4> philox(Vec counter, Vec seed, Vec step, Vec micro, Vec key,
                          bool inWide) {
  Vec lowHalf = counter.splatInt(0xFFFFFFFF);
  auto low = [&](Vec x) { return inWide ? x : x.toInt32(); };
  auto high = [&](Vec x) { return low(x >> 32); };
  auto product = [&](Vec x, uint32_t m) {
    return (inWide ? x & lowHalf : x.toInt64())
        .mulInt(counter.splatInt(m))
        .named("product");
  };
  Vec k = seed ^ key;
  Vec k0 = low(k).named("k0"), k1 = high(k).named("k1");
  Vec c0 = low(counter), c1 = high(counter), c2 = low(step), c3 = low(micro);
  for (int round = 0; round < 10; ++round) {
    Vec p0 = product(c0, 0xD2511F53), p1 = product(c2, 0xCD9E8D57);
    Vec n0 = ((high(p1) ^ c1) ^ k0).named("c0");
    Vec n2 = ((high(p0) ^ c3) ^ k1).named("c2");
    c0 = n0, c1 = low(p1), c2 = n2, c3 = low(p0);
    k0 = k0.addInt(k0.splatInt(0x9E3779B9)).named("k0");
    k1 = k1.addInt(k1.splatInt(0xBB67AE85)).named("k1");
  }
  if (!inWide)
    return {c0, c1, c2, c3};
  return {c0.toInt32(), c1.toInt32(), c2.toInt32(), c3.toInt32()};
}

} // namespace dl::formula
