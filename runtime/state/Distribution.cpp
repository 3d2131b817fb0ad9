#include "runtime/state/Distribution.h"

#include "runtime/state/Philox.h"

#include <algorithm>
#include <bit>
#include <cmath>

using namespace dlrt;

// What normalElements() does for many elements at once has no branches, so that
// it becomes vector instructions; each element has the bits that it has alone.

static inline double logOf(double x) {
  constexpr double ln2High = 0x1.62e42feep-1; // short: k times it is exact
  constexpr double ln2Low = 0x1.a39ef35793c76p-33;
  uint64_t bits = std::bit_cast<uint64_t>(x);
  double m =
      std::bit_cast<double>((bits & 0xfffffffffffff) | uint64_t(1023) << 52);
  bool large = m > 1.4142135623730951;
  m = large ? m * 0.5 : m;
  double exponent = static_cast<int32_t>(bits >> 52) - (large ? 1022 : 1023);
  // log m = 2 artanh(s) with s = (m - 1) / (m + 1), |s| < 0.172.
  double f = m - 1;
  double s = f / (2 + f);
  double z = s * s;
  double sum = 0;
  for (int n = 23; n >= 3; n -= 2)
    sum = (sum + 1.0 / n) * z;
  // 2 s = f - s f: the large part f stays exact.
  double rest = 2 * s * sum - s * f;
  return exponent * ln2High + (f + (rest + exponent * ln2Low));
}

/// For an even quarter +-cos, the sum of (-1)^n x^(2n) / (2n)!, else -+sin,
/// both of |x| <= pi / 4.
static inline double cosOfTurns(double x) {
  constexpr double twoPi = 6.283185307179586;
  // The nearest quarter turn and what is left are exact.
  int32_t quarter = static_cast<int32_t>(4 * x + 0.5);
  double angle = (x - quarter * 0.25) * twoPi;
  bool odd = quarter & 1;
  double z = angle * angle, sum = 1;
  for (int n = 18; n >= 2; n -= 2)
    sum = 1 - sum * z / (odd ? 1.0 * n * (n + 1) : 1.0 * n * (n - 1));
  sum = odd ? angle * sum : sum;
  return (quarter + 1) & 2 ? -sum : sum;
}

double dlrt::portableLog(double x) { return logOf(x); }

double dlrt::portableCosTurns(double x) { return cosOfTurns(x); }

static PhiloxCounter words(uint64_t seed, uint64_t key, uint64_t index) {
  return philox(
      {static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32), 0, 0},
      philoxKey(seed, key));
}

double dlrt::uniformElement(uint64_t seed, uint64_t key, uint64_t index,
                            double a, double b) {
  return a + (b - a) * unitInterval(words(seed, key, index)[0]);
}

double dlrt::normalElement(uint64_t seed, uint64_t key, uint64_t index,
                           double mean, double deviation) {
  double value;
  normalElements(seed, key, {&index, 1}, mean, deviation, &value);
  return value;
}

void dlrt::normalElements(uint64_t seed, uint64_t key,
                          std::span<const uint64_t> indices, double mean,
                          double deviation, double *values) {
  constexpr size_t kBlock = 64;
  double u1[kBlock], u2[kBlock];
  for (size_t begin = 0; begin < indices.size(); begin += kBlock) {
    size_t count = std::min(kBlock, indices.size() - begin);
    for (size_t i = 0; i < count; ++i) {
      PhiloxCounter w = words(seed, key, indices[begin + i]);
      u1[i] = (static_cast<int32_t>(w[0] >> 8) + 1) * 0x1p-24;
      u2[i] = static_cast<int32_t>(w[1] >> 8) * 0x1p-24;
    }
    for (size_t i = 0; i < count; ++i)
      values[begin + i] =
          mean + deviation * (std::sqrt(-2 * logOf(u1[i])) * cosOfTurns(u2[i]));
  }
}

/// Far from the mean a normal draw would hardly ever hit: there it is a uniform
/// one, accepted as often as the density there is below its greatest.
double dlrt::truncatedElement(uint64_t seed, uint64_t key, uint64_t index,
                              double mean, double deviation, double low,
                              double high) {
  constexpr uint64_t kMostDraws = 10000;
  double first = (low - mean) / deviation, last = (high - mean) / deviation;
  bool common = first <= 1 && last >= -1 && last - first >= 1;
  double nearest = first > 0 ? first : last < 0 ? last : 0;
  for (uint64_t draw = 0; draw < kMostDraws; ++draw) {
    if (common) {
      double value = normalElement(seed, key + draw, index, mean, deviation);
      if (value >= std::min(low, high) && value <= std::max(low, high))
        return value;
      continue;
    }
    PhiloxCounter w = words(seed, key + draw, index);
    double z = first + (last - first) * unitInterval(w[0]);
    double accept = (static_cast<double>(w[1] >> 8) + 1) * 0x1p-24;
    if (portableLog(accept) <= 0.5 * (nearest * nearest - z * z))
      return mean + deviation * z;
  }
  return mean + deviation * nearest;
}
