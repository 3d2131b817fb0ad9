// Items that are drawn with replacement, each as often as its weight says:
// PyTorch's WeightedRandomSampler.
#ifndef DLRT_DATA_WEIGHTEDDRAWS_H
#define DLRT_DATA_WEIGHTEDDRAWS_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace dlrt {

/// By inversion: a number of 53 bits that follows from seed, epoch and position
/// is looked up among the sums of the weights. So any position can be asked
/// for, as of a Permutation: by a run that resumes, or by one rank of many.
class WeightedDraws {
public:
  /// Refuses weights that are negative or no numbers, and all that are zero.
  static Expected<WeightedDraws> make(std::span<const double> weights);
  /// The weights of a .npy file of one dimension, f32 or f64, one for each of
  /// so many items.
  static Expected<WeightedDraws> read(const std::string &path, uint64_t items);

  /// The item at a position of an epoch.
  uint64_t operator()(uint64_t seed, uint64_t epoch, uint64_t position) const;
  /// Other weights seldom have the same.
  uint64_t hash() const;

private:
  std::vector<double> sums; ///< of the weights up to each item, with its own
};

} // namespace dlrt

#endif
