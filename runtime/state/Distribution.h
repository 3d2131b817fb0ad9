// Elements of random initial values. The same bits on every machine: log and
// cos are ours, because the C library's differ between versions.
#ifndef DLRT_STATE_DISTRIBUTION_H
#define DLRT_STATE_DISTRIBUTION_H

#include <cstdint>
#include <span>

namespace dlrt {

/// Natural logarithm of a positive normal number, within 2 ULP.
double portableLog(double x);
/// cos(2 pi x) for x in [0, 1), absolute error below 3e-16.
double portableCosTurns(double x);

/// Element `index` of the stream (seed, key): a + (b - a) * u with u in [0, 1).
double uniformElement(uint64_t seed, uint64_t key, uint64_t index, double a,
                      double b);
/// mean + deviation * z, z by Box and Muller from the element's two words.
double normalElement(uint64_t seed, uint64_t key, uint64_t index, double mean,
                     double deviation);
/// Of many elements at once, in two thirds of the time; the same bits.
void normalElements(uint64_t seed, uint64_t key,
                    std::span<const uint64_t> indices, double mean,
                    double deviation, double *values);
/// The same, drawn again until it lies in [low, high]; where the deviation is
/// negative, the normal numbers turned round, `low` is the upper bound.
double truncatedElement(uint64_t seed, uint64_t key, uint64_t index,
                        double mean, double deviation, double low, double high);

} // namespace dlrt

#endif
