// Goes on with tokens, by a model that predicts the next one.
#ifndef DLRT_TRAIN_GENERATION_H
#define DLRT_TRAIN_GENERATION_H

#include "runtime/base/Status.h"
#include "runtime/train/Sampling.h"
#include "runtime/train/Session.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace dlrt {

/// What p.generate() of a model has become: a step that makes logits of tokens.
struct LanguageModel {
  uint32_t step = 0; ///< of the plan
  fb::DType tokens = fb::DType::I64, logits = fb::DType::F32;
  uint64_t length = 0;     ///< of a window, in tokens
  uint64_t vocabulary = 0; ///< logits of a token
  uint64_t itemTokens = 0; ///< in a batch: one, or a window's
  bool byPosition = false; ///< keeps what is needed of earlier tokens
  double seconds = 0;      ///< of a run, as dlcc expects of one core
  /// Of one by position the step that reads a window at once, and leaves behind
  /// what as many runs would; null if there is none.
  std::shared_ptr<const LanguageModel> whole;

  /// Those that a text may have; logits of others do not count.
  uint64_t knownTokens() const {
    return readsText() ? std::min<uint64_t>(vocabulary, 256) : vocabulary;
  }
  /// Tokens are the bytes of a text.
  bool readsText() const { return tokens == fb::DType::U8; }
};

/// The one of this name; without a name, the only one.
Expected<LanguageModel> findLanguageModel(const Session &session,
                                          const std::string &name);

struct GenerationOptions {
  std::vector<uint64_t> prompt; ///< at least one token
  uint64_t newTokens = 200, samples = 1;
  /// A sample ends behind the first of these that it writes as a whole.
  std::vector<std::vector<uint64_t>> stops;
  Sampling sampling;
};

struct Generation {
  struct Sample {
    std::vector<uint64_t> tokens; ///< with the prompt
    bool stopped = false;         ///< behind one of `stops`
  };
  std::vector<Sample> samples;
  bool complete = true;
};

/// One sample after the other. Each new token is drawn from what the model
/// makes of those before it, by the session's seed, the sample and the position
/// alone. A window that is full goes on without its first quarter, or where no
/// caches have places, with the last tokens. States must be there. `sees` is
/// told each new token and its sample; what it returns says whether to go on.
/// Refuses a model that gives probabilities, or that is seen to look at tokens
/// behind those that it predicts from.
Expected<Generation>
generate(Session &session, const LanguageModel &model,
         const GenerationOptions &options,
         const std::function<bool(uint64_t sample, uint64_t token)> &sees);

} // namespace dlrt

#endif
