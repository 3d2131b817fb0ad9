// Draws a token by its logit.
#ifndef DLRT_TRAIN_SAMPLING_H
#define DLRT_TRAIN_SAMPLING_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <span>
#include <vector>

namespace dlrt {

/// How a token is drawn from logits: those of tokens that a text has already
/// become smaller, all are divided by `temperature`, then what is unlikely is
/// left out, in the order below, then one is drawn by softmax. The names are
/// those of Hugging Face's generate().
struct Sampling {
  double temperature = 1; ///< 0: the likeliest, of equal ones the first
  uint64_t topK = 0; ///< as many likeliest ones, and what equals them; 0: all
  /// The least number of likeliest ones that have this share together (Holtzman
  /// et al., "The Curious Case of Neural Text Degeneration", 2020).
  double topP = 1;
  /// Those that are at least so many times as likely as the likeliest (Nguyen
  /// et al., "Turning Up the Heat: Min-p Sampling", 2024).
  double minP = 0;
  /// A positive logit of a token that the text has is divided by it, a negative
  /// one multiplied (Keskar et al., "CTRL", 2019).
  double repetitionPenalty = 1;
};

/// `text` is what has been written, `at` in [0, 1) draws. A logit of -inf has
/// no chance; NaN and inf are errors. A token of the text beyond the logits is
/// none of theirs.
Expected<uint64_t> drawToken(std::span<const double> logits,
                             const Sampling &sampling,
                             std::span<const uint64_t> text, double at);

} // namespace dlrt

#endif
