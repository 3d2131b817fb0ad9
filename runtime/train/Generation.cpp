#include "runtime/train/Generation.h"

#include "runtime/base/Suggest.h"
#include "runtime/plan/DTypes.h"
#include "runtime/plan/StepPrograms.h"
#include "runtime/state/Parts.h"
#include "runtime/state/Philox.h"
#include "runtime/train/Prediction.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

using namespace dlrt;

namespace {

/// Tells these draws from those of initial weights and of steps.
constexpr uint64_t kStream = 0x67656e6572617465; // "generate"

double uniform(uint64_t seed, uint64_t sample, uint64_t position) {
  PhiloxCounter words = philox({uint32_t(position), uint32_t(position >> 32),
                                uint32_t(sample), uint32_t(sample >> 32)},
                               philoxKey(seed, kStream));
  return unitInterval(words[0]);
}

using Tokens = std::vector<uint64_t>;
using Logits = std::vector<double>;

/// Makes logits of what follows a text.
class Reader {
public:
  Reader(Session &session, const LanguageModel &model)
      : session(session), model(model),
        item(model.itemTokens * sizeOf(model.tokens)) {}

  Expected<Logits> next(const Tokens &text) {
    size_t seen = text.size() - beginOf(text.size());
    std::span<const uint64_t> window = std::span(text).last(seen);
    if (!model.byPosition) {
      DLRT_TRY(run(window, 0, 0));
      return rowOf(seen - 1);
    }
    // What has been read of another text that began alike is still known.
    size_t known = std::ranges::mismatch(read, window).in1 - read.begin();
    for (size_t i = std::min(known, seen - 1); i + 1 < seen; ++i)
      DLRT_TRY(run(window.subspan(i, 1), 0, i));
    read.assign(window.begin(), window.end());
    DLRT_TRY(run(window.last(1), 0, seen - 1));
    return rowOf(0);
  }

  /// Of a text of one token; `behind` fills the window, if there is one.
  Expected<Logits> first(uint64_t token, uint64_t behind) {
    read.clear();
    DLRT_TRY(run({&token, 1}, behind, 0));
    return rowOf(0);
  }

  /// How many tokens of a text are not looked at: all but a window's, of which
  /// the second half goes on alone when it is full.
  uint64_t beginOf(uint64_t size) const {
    uint64_t step = std::max<uint64_t>(1, model.length / 2);
    return size <= model.length
               ? 0
               : (size - model.length + step - 1) / step * step;
  }

private:
  Status run(std::span<const uint64_t> tokens, uint64_t behind,
             uint64_t place) {
    for (size_t i = 0; i < model.itemTokens; ++i)
      put(i, i < tokens.size() ? tokens[i] : behind);
    const fb::PlanT &plan = session.plan();
    Dataset data;
    data.items = data.distinct = 1;
    data.atHand = true;
    data.source = "written so far";
    data.components.resize(
        plan.datasets[plan.steps[model.step]->dataset]->components.size());
    data.components[0].data = item.data();
    data.components[0].itemBytes = item.size();
    DLRT_TRY(session.setData(model.step, std::move(data)));
    return predictToken(session, model.step, place,
                        [&](size_t, std::span<const uint8_t> rows) {
                          logits.assign(rows.begin(), rows.end());
                          return Status();
                        });
  }

  void put(size_t at, uint64_t token) {
    auto narrow = static_cast<int32_t>(token);
    if (model.tokens == fb::DType::U8)
      item[at] = static_cast<uint8_t>(token);
    else if (model.tokens == fb::DType::I32)
      std::memcpy(item.data() + at * sizeof narrow, &narrow, sizeof narrow);
    else
      std::memcpy(item.data() + at * sizeof token, &token, sizeof token);
  }

  Logits rowOf(size_t row) const {
    Logits wide(model.vocabulary);
    const uint8_t *from =
        logits.data() + row * model.vocabulary * sizeOf(model.logits);
    if (model.logits == fb::DType::F64) {
      std::memcpy(wide.data(), from, wide.size() * sizeof(double));
      return wide;
    }
    std::vector<float> narrow(wide.size());
    std::memcpy(narrow.data(), from, narrow.size() * sizeof(float));
    wide.assign(narrow.begin(), narrow.end());
    return wide;
  }

  Session &session;
  const LanguageModel &model;
  std::vector<uint8_t> item, logits; ///< of the last run
  Tokens read;                       ///< by position, from the window's first
};

/// Probabilities taken for logits would make all tokens about equally likely.
bool areProbabilities(const Logits &logits) {
  double sum = 0;
  for (double logit : logits) {
    if (!(logit >= 0 && logit <= 1))
      return false;
    sum += logit;
  }
  return std::abs(sum - 1) < 1e-3;
}

/// Of what is kept of earlier tokens each byte is this one.
Status fillCaches(Session &session, uint8_t byte) {
  for (const fb::StateT *state : statesOf(session.plans()))
    if (state->role == fb::StateRole::Cache) {
      std::vector<uint8_t> values(wholeBytes(*state), byte);
      DLRT_TRY(writeWhole(partsOf(session.plans(), *state), values.data(),
                          session.device()));
    }
  return {};
}

/// What would be written by a model that is none that can go on with a text.
Status checkPrompt(Session &session, const LanguageModel &model,
                   const Tokens &prompt) {
  for (uint64_t token : prompt)
    if (token >= model.vocabulary)
      return {Code::Usage, fmt::format("token {} of the prompt: the model "
                                       "knows 0 to {}",
                                       token, model.vocabulary - 1)};
  // What nobody attends to changes no bit: caches of later tokens, or these.
  Reader reader(session, model);
  DLRT_TRY(fillCaches(session, 0x3f)); // 0.747 in f32
  auto others = reader.first(prompt[0], model.vocabulary - 1);
  if (!others)
    return others.takeError();
  DLRT_TRY(fillCaches(session, 0));
  auto logits = reader.first(prompt[0], 0);
  if (!logits)
    return logits.takeError();
  if (areProbabilities(*logits))
    return {Code::Usage, "it gives probabilities; logits are wanted, without a "
                         "softmax"};
  if (std::memcmp(logits->data(), others->data(),
                  model.vocabulary * sizeof(double)) != 0)
    return {Code::Usage, "what it makes of a token depends on later ones; a "
                         "causal model is wanted"};
  return {};
}

} // namespace

/// The likeliest ones, and what equals the last of them.
static void keepTopK(std::vector<uint64_t> &tokens,
                     std::span<const double> logits, uint64_t k) {
  if (k == 0 || k >= tokens.size())
    return;
  std::vector<double> sorted;
  sorted.reserve(tokens.size());
  for (uint64_t token : tokens)
    sorted.push_back(logits[token]);
  auto last = sorted.begin() + ptrdiff_t(k - 1);
  std::nth_element(sorted.begin(), last, sorted.end(), std::greater<>());
  double least = *last;
  std::erase_if(tokens, [&](uint64_t token) { return logits[token] < least; });
}

Expected<uint64_t> dlrt::drawToken(std::span<const double> logits,
                                   const Sampling &sampling, double at) {
  std::vector<uint64_t> tokens;
  tokens.reserve(logits.size());
  for (uint64_t token = 0; token < logits.size(); ++token)
    if (std::isfinite(logits[token]))
      tokens.push_back(token);
  if (tokens.empty())
    return Status(Code::Training, "no logit is finite: what is predicted is "
                                  "not a number");
  uint64_t likeliest = *std::ranges::max_element(
      tokens, {}, [&](uint64_t token) { return logits[token]; });
  if (sampling.temperature == 0)
    return likeliest;
  keepTopK(tokens, logits, sampling.topK);
  if (sampling.topP < 1)
    std::ranges::sort(tokens, [&](uint64_t a, uint64_t b) {
      return logits[a] != logits[b] ? logits[a] > logits[b] : a < b;
    });
  std::vector<double> sums(tokens.size()); // of chances
  double sum = 0;
  for (size_t i = 0; i < tokens.size(); ++i)
    sums[i] = sum += std::exp((logits[tokens[i]] - logits[likeliest]) /
                              sampling.temperature);
  if (sampling.topP < 1) {
    auto last = std::ranges::lower_bound(sums, sampling.topP * sum);
    sums.resize(std::min<size_t>(sums.size(), last - sums.begin() + 1));
    sum = sums.back();
  }
  size_t drawn = std::ranges::upper_bound(sums, at * sum) - sums.begin();
  return tokens[std::min(drawn, sums.size() - 1)];
}

static LanguageModel languageModel(const Session &session, uint32_t number) {
  const fb::StepT &step = *session.plan().steps[number];
  const fb::InputComponentT &tokens =
      *session.plan().datasets[step.dataset]->components[0];
  const fb::MetricT &logits = *fullProgram(step).metrics[0];
  return {number,          tokens.dtype,    logits.dtype,    step.window,
          logits.shape[2], tokens.shape[0], step.by_position};
}

Expected<LanguageModel> dlrt::findLanguageModel(const Session &session,
                                                const std::string &name) {
  std::vector<uint32_t> steps = session.generationSteps();
  std::vector<std::string> names;
  std::string list;
  for (uint32_t step : steps) {
    names.push_back(displayName(*session.plan().steps[step]));
    list += (list.empty() ? "'" : ", '") + names.back() + "'";
    if (names.back() == name)
      return languageModel(session, step);
  }
  if (steps.empty())
    return Status(Code::Usage, "the model has no p.generate()");
  if (!name.empty())
    return Status(Code::Usage, fmt::format("there is no p.generate() '{}'{}",
                                           name, didYouMean(name, names)));
  if (steps.size() > 1)
    return Status(Code::Usage,
                  fmt::format("--generation NAME: which of {}?", list));
  return languageModel(session, steps[0]);
}

Expected<Generation>
dlrt::generate(Session &session, const LanguageModel &model,
               const GenerationOptions &options,
               const std::function<bool(uint64_t, uint64_t)> &sees) {
  std::string name = displayName(*session.plan().steps[model.step]);
  DLRT_TRY(checkPrompt(session, model, options.prompt).within(name));
  Reader reader(session, model);
  Generation result;
  for (uint64_t s = 0; s < options.samples && result.complete; ++s) {
    Tokens &text = result.samples.emplace_back(options.prompt);
    for (uint64_t i = 0; i < options.newTokens && result.complete; ++i) {
      auto logits = reader.next(text);
      if (!logits)
        return logits.takeError();
      auto token = drawToken(*logits, options.sampling,
                             uniform(session.options().seed, s, text.size()));
      if (!token)
        return token.takeError().within(name);
      text.push_back(*token);
      result.complete = sees(s, *token);
    }
  }
  return result;
}
