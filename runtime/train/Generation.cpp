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
#include <optional>
#include <utility>

using namespace dlrt;

namespace {

/// Behind the name of a step that takes a position at a time, that of the one
/// that takes a window.
constexpr const char windowSuffix[] = ".window";

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

/// Of one row, those of tokens that a text may have.
Logits logitsOf(const LanguageModel &model, const uint8_t *row) {
  Logits wide(model.vocabulary);
  if (model.logits == fb::DType::F64) {
    std::memcpy(wide.data(), row, wide.size() * sizeof(double));
  } else {
    std::vector<float> narrow(wide.size());
    std::memcpy(narrow.data(), row, narrow.size() * sizeof(float));
    wide.assign(narrow.begin(), narrow.end());
  }
  wide.resize(model.knownTokens());
  return wide;
}

/// A step on one row of tokens.
class TokenStep {
public:
  TokenStep(Session &session, const LanguageModel &model)
      : session(session), model(model),
        item(model.itemTokens * sizeOf(model.tokens)) {}

  /// Of its row the first ones are `tokens`, and all others `behind`; `place`
  /// is where a row of one token lies in the window.
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
    logits.clear();
    DLRT_TRY(predictToken(session, model.step, place,
                          [&](size_t tensor, std::span<const uint8_t> rows) {
                            if (tensor == 0)
                              logits.assign(rows.begin(), rows.end());
                            return Status();
                          }));
    const uint64_t length = model.byPosition ? 1 : model.length;
    if (logits.size() != length * rowBytes())
      return {Code::Plan, "a step of another shape than its plan says"};
    return {};
  }

  /// Of the last run, what follows token `row`.
  Logits rowOf(size_t row) const {
    return logitsOf(model, logits.data() + row * rowBytes());
  }

  /// The bits of what follows the first tokens.
  std::vector<uint8_t> firstRows(size_t count) const {
    return {logits.begin(), logits.begin() + ptrdiff_t(count * rowBytes())};
  }

private:
  size_t rowBytes() const { return model.vocabulary * sizeOf(model.logits); }

  void put(size_t at, uint64_t token) {
    auto narrow = static_cast<int32_t>(token);
    if (model.tokens == fb::DType::U8)
      item[at] = static_cast<uint8_t>(token);
    else if (model.tokens == fb::DType::I32)
      std::memcpy(item.data() + at * sizeof narrow, &narrow, sizeof narrow);
    else
      std::memcpy(item.data() + at * sizeof token, &token, sizeof token);
  }

  Session &session;
  const LanguageModel &model;
  std::vector<uint8_t> item, logits;
};

/// Makes logits of what follows a text.
class Reader {
public:
  Reader(Session &session, const LanguageModel &model)
      : model(model), one(session, model) {
    if (model.whole)
      window.emplace(session, *model.whole);
  }

  Expected<Logits> next(const Tokens &text) {
    size_t seen = text.size() - beginOf(text.size());
    std::span<const uint64_t> all = std::span(text).last(seen);
    if (!model.byPosition) {
      DLRT_TRY(one.run(all, 0, 0));
      return one.rowOf(seen - 1);
    }
    // What has been read of another text that began alike is still known.
    size_t known = std::ranges::mismatch(read, all).in1 - read.begin();
    known = std::min(known, seen - 1);
    read.assign(all.begin(), all.end());
    if (window && double(seen - known) * model.seconds > model.whole->seconds) {
      DLRT_TRY(window->run(all, 0, 0));
      return window->rowOf(seen - 1);
    }
    for (size_t i = known; i < seen; ++i)
      DLRT_TRY(one.run(all.subspan(i, 1), 0, i));
    return one.rowOf(0);
  }

private:
  /// How many tokens of a text are not looked at: all but a window's. Where
  /// those of a window are known by their places, a full one goes on without
  /// its first quarter.
  uint64_t beginOf(uint64_t size) const {
    if (size <= model.length)
      return 0;
    uint64_t step =
        model.byPosition ? std::max<uint64_t>(1, model.length / 4) : 1;
    return (size - model.length + step - 1) / step * step;
  }

  const LanguageModel &model;
  TokenStep one;                   ///< of a position, or of a window
  std::optional<TokenStep> window; ///< for many tokens at once
  Tokens read;                     ///< by position, from the window's first
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

/// What is kept of earlier tokens is zeros, or 0.747 in f32; integers, which
/// may be indices, are small.
Status fillCaches(Session &session, bool filler) {
  for (const fb::StateT *state : statesOf(session.plans()))
    if (state->role == fb::StateRole::Cache) {
      bool isFloat = state->dtype == fb::DType::F32 ||
                     state->dtype == fb::DType::F64 ||
                     state->dtype == fb::DType::BF16;
      std::vector<uint8_t> values(wholeBytes(*state));
      size_t step = isFloat ? 1 : sizeOf(state->dtype); // the lowest byte
      for (size_t i = 0; filler && i < values.size(); i += step)
        values[i] = isFloat ? 0x3f : 1;
      DLRT_TRY(writeWhole(partsOf(session.plans(), *state), values.data(),
                          session.device()));
    }
  return {};
}

/// The bits of what follows some tokens of a text, while all that is to come
/// later is made of `filler`: caches, or tokens of a window.
Expected<std::vector<uint8_t>> beginning(Session &session,
                                         const LanguageModel &model,
                                         std::span<const uint64_t> tokens,
                                         bool filler) {
  TokenStep step(session, model);
  if (!model.byPosition) {
    DLRT_TRY(step.run(tokens, filler, 0));
    return step.firstRows(tokens.size());
  }
  DLRT_TRY(fillCaches(session, filler));
  std::vector<uint8_t> all;
  for (size_t i = 0; i < tokens.size(); ++i) {
    DLRT_TRY(step.run(tokens.subspan(i, 1), 0, i));
    std::vector<uint8_t> row = step.firstRows(1);
    all.insert(all.end(), row.begin(), row.end());
  }
  return all;
}

/// What would be written by a model that is none that can go on with a text.
/// One that looks at later tokens shows it with the first half of a window, or
/// with a few tokens where they come one at a time.
Status checkPrompt(Session &session, const LanguageModel &model,
                   const Tokens &prompt) {
  for (uint64_t token : prompt)
    if (token >= model.knownTokens())
      return {Code::Usage, fmt::format("the prompt has token {}; the model "
                                       "knows 0 to {}",
                                       token, model.knownTokens() - 1)};
  DLRT_TRY(session.runInitial(model.step));
  constexpr uint64_t few = 3; // each takes two runs
  uint64_t tried = std::max<uint64_t>(1, model.length / 2);
  if (model.byPosition)
    tried = std::min(tried, few);
  Tokens text; // of tokens that it does know
  for (size_t i = 0; i < tried; ++i)
    text.push_back(prompt[i % prompt.size()]);
  auto ones = beginning(session, model, text, true);
  if (!ones)
    return ones.takeError();
  auto zeros = beginning(session, model, text, false);
  if (!zeros)
    return zeros.takeError();
  if (model.length > 1 && *zeros != *ones)
    return {Code::Usage,
            "what it makes of a token depends on later ones, in whose place "
            "there is nothing yet; a causal model is wanted, which hides them "
            "by -inf"};
  if (areProbabilities(logitsOf(model, zeros->data())))
    return {Code::Usage, "it gives probabilities; logits are wanted, without a "
                         "softmax"};
  return {};
}

} // namespace

static LanguageModel languageModel(const Session &session, uint32_t number) {
  const fb::StepT &step = *session.plan().steps[number];
  const fb::InputComponentT &tokens =
      *session.plan().datasets[step.dataset]->components[0];
  const fb::ProgramT &program = fullProgram(step);
  LanguageModel model;
  model.step = number;
  model.tokens = tokens.dtype;
  model.logits = program.metrics[0]->dtype;
  model.length = step.window;
  model.vocabulary = program.metrics[0]->shape[2];
  model.itemTokens = tokens.shape[0];
  model.byPosition = step.by_position;
  for (const auto &command : program.commands)
    model.seconds += command->seconds;
  return model;
}

/// Of its data set a step reads the tokens alone.
static bool readsTokens(const Session &session, const LanguageModel &model) {
  std::vector<bool> read = session.readComponents(model.step);
  return std::count(read.begin() + 1, read.end(), true) == 0;
}

/// With the step that reads a window at once, where there is one.
static Expected<LanguageModel> wholeModel(const Session &session,
                                          uint32_t number) {
  LanguageModel model = languageModel(session, number);
  const std::string &name = session.plan().steps[number]->name;
  bool fits = readsTokens(session, model);
  for (uint32_t other : session.generationSteps())
    if (model.byPosition &&
        session.plan().steps[other]->name == name + windowSuffix) {
      LanguageModel whole = languageModel(session, other);
      fits &= readsTokens(session, whole) && !whole.byPosition &&
              whole.length == model.length && whole.tokens == model.tokens &&
              whole.logits == model.logits &&
              whole.vocabulary == model.vocabulary;
      model.whole = std::make_shared<LanguageModel>(std::move(whole));
    }
  if (!fits)
    return Status(Code::Plan,
                  fmt::format("step '{}' reads more than tokens, or '{}{}' "
                              "others",
                              name, name, windowSuffix));
  return model;
}

Expected<LanguageModel> dlrt::findLanguageModel(const Session &session,
                                                const std::string &name) {
  std::vector<uint32_t> steps;
  std::vector<std::string> names;
  std::string list;
  for (uint32_t step : session.generationSteps()) {
    std::string known = displayName(*session.plan().steps[step]);
    if (known.ends_with(windowSuffix)) // another's
      continue;
    if (known == name)
      return wholeModel(session, step);
    steps.push_back(step);
    list += (list.empty() ? "'" : ", '") + known + "'";
    names.push_back(std::move(known));
  }
  if (steps.empty())
    return Status(Code::Usage, "the model has no p.generate()");
  if (!name.empty())
    return Status(Code::Usage, fmt::format("there is no p.generate() '{}'{}",
                                           name, didYouMean(name, names)));
  if (steps.size() > 1)
    return Status(Code::Usage,
                  fmt::format("the model has several p.generate(), {}; "
                              "--generation NAME says which",
                              list));
  return wholeModel(session, steps[0]);
}

/// What is new of the text ends with one of them.
static bool isStop(std::span<const uint64_t> written,
                   const std::vector<std::vector<uint64_t>> &stops) {
  return std::ranges::any_of(stops, [&](const std::vector<uint64_t> &stop) {
    return written.size() >= stop.size() &&
           std::ranges::equal(written.last(stop.size()), stop);
  });
}

Expected<Generation>
dlrt::generate(Session &session, const LanguageModel &model,
               const GenerationOptions &options,
               const std::function<bool(uint64_t, uint64_t)> &sees) {
  std::string name = fmt::format(
      "p.generate '{}'", displayName(*session.plan().steps[model.step]));
  DLRT_TRY(checkPrompt(session, model, options.prompt).within(name));
  Reader reader(session, model);
  Generation result;
  for (uint64_t s = 0; s < options.samples && result.complete; ++s) {
    Generation::Sample &sample = result.samples.emplace_back();
    Tokens &text = sample.tokens = options.prompt;
    for (uint64_t i = 0;
         i < options.newTokens && result.complete && !sample.stopped; ++i) {
      auto logits = reader.next(text);
      if (!logits)
        return logits.takeError().within(name);
      auto token = drawToken(*logits, options.sampling, text,
                             uniform(session.options().seed, s, text.size()));
      if (!token)
        return token.takeError().within(name);
      text.push_back(*token);
      result.complete = sees(s, *token);
      sample.stopped =
          isStop(std::span(text).subspan(options.prompt.size()), options.stops);
    }
  }
  return result;
}
