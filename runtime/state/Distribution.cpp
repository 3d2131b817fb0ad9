#include "runtime/state/Distribution.h"

#include "runtime/state/Philox.h"

#include <algorithm>
#include <bit>
#include <cmath>

using namespace dlrt;

double dlrt::portableLog(double x) {
  constexpr double ln2High = 0x1.62e42feep-1; // short: k times it is exact
  constexpr double ln2Low = 0x1.a39ef35793c76p-33;
  uint64_t bits = std::bit_cast<uint64_t>(x);
  int64_t k = static_cast<int64_t>(bits >> 52) - 1023;
  double m =
      std::bit_cast<double>((bits & 0xfffffffffffff) | uint64_t(1023) << 52);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++k;
  }
  // log m = 2 artanh(s) with s = (m - 1) / (m + 1), |s| < 0.172.
  double f = m - 1;
  double s = f / (2 + f);
  double z = s * s;
  double sum = 0;
  for (int n = 23; n >= 3; n -= 2)
    sum = (sum + 1.0 / n) * z;
  // 2 s = f - s f: the large part f stays exact.
  double rest = 2 * s * sum - s * f;
  double exponent = static_cast<double>(k);
  return exponent * ln2High + (f + (rest + exponent * ln2Low));
}

/// sum of (-1)^n x^(2n) / (2n)!, |x| <= pi / 4
static double cosSeries(double x) {
  double z = x * x, sum = 1;
  for (int n = 18; n >= 2; n -= 2)
    sum = 1 - sum * z / (n * (n - 1));
  return sum;
}

static double sinSeries(double x) {
  double z = x * x, sum = 1;
  for (int n = 19; n >= 3; n -= 2)
    sum = 1 - sum * z / (n * (n - 1));
  return x * sum;
}

double dlrt::portableCosTurns(double x) {
  constexpr double twoPi = 6.283185307179586;
  // The nearest quarter turn and what is left are exact.
  double quarter = std::floor(4 * x + 0.5);
  double angle = (x - quarter * 0.25) * twoPi;
  switch (static_cast<int>(quarter) & 3) {
  case 0:
    return cosSeries(angle);
  case 1:
    return -sinSeries(angle);
  case 2:
    return -cosSeries(angle);
  default:
    return sinSeries(angle);
  }
}

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
  PhiloxCounter w = words(seed, key, index);
  double u1 = (static_cast<double>(w[0] >> 8) + 1) * 0x1p-24;
  double u2 = unitInterval(w[1]);
  double z = std::sqrt(-2 * portableLog(u1)) * portableCosTurns(u2);
  return mean + deviation * z;
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
