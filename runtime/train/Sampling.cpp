#include "runtime/train/Sampling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

using namespace dlrt;

using Tokens = std::vector<uint64_t>;

/// Each token of the text counts once.
static void penalize(std::vector<double> &logits,
                     std::span<const uint64_t> text, double penalty) {
  if (penalty == 1)
    return;
  std::vector<bool> isWritten(logits.size());
  for (uint64_t token : text)
    if (token < logits.size())
      isWritten[token] = true;
  for (size_t token = 0; token < logits.size(); ++token)
    if (double &logit = logits[token]; isWritten[token])
      logit = logit > 0 ? logit / penalty : logit * penalty;
}

/// The likeliest ones, and what equals the last of them.
static void keepTopK(Tokens &tokens, std::span<const double> logits,
                     uint64_t k) {
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

/// Sorts them, the likeliest first.
static void keepTopP(Tokens &tokens, std::span<const double> logits, double p,
                     const std::function<double(uint64_t)> &chance) {
  if (p >= 1)
    return;
  std::ranges::sort(tokens, [&](uint64_t a, uint64_t b) {
    return logits[a] != logits[b] ? logits[a] > logits[b] : a < b;
  });
  double all = 0, sum = 0;
  for (uint64_t token : tokens)
    all += chance(token);
  size_t kept = 0;
  while (kept < tokens.size() && (kept == 0 || sum < p * all))
    sum += chance(tokens[kept++]);
  tokens.resize(kept);
}

Expected<uint64_t> dlrt::drawToken(std::span<const double> given,
                                   const Sampling &sampling,
                                   std::span<const uint64_t> text, double at) {
  std::vector<double> logits(given.begin(), given.end());
  penalize(logits, text, sampling.repetitionPenalty);
  Tokens tokens;
  tokens.reserve(logits.size());
  for (uint64_t token = 0; token < logits.size(); ++token) {
    if (std::isnan(given[token]) || given[token] == HUGE_VAL)
      return Status(Code::Training, fmt::format("the logit of token {} is {}",
                                                token, given[token]));
    if (std::isfinite(logits[token]))
      tokens.push_back(token);
  }
  if (tokens.empty())
    return Status(Code::Training, "all logits are -inf");
  uint64_t likeliest = *std::ranges::max_element(
      tokens, {}, [&](uint64_t token) { return logits[token]; });
  if (sampling.temperature == 0)
    return likeliest;
  // As many times as likely as the likeliest.
  auto chance = [&](uint64_t token) {
    return std::exp((logits[token] - logits[likeliest]) / sampling.temperature);
  };
  keepTopK(tokens, logits, sampling.topK);
  keepTopP(tokens, logits, sampling.topP, chance);
  if (sampling.minP > 0)
    std::erase_if(
        tokens, [&](uint64_t token) { return chance(token) < sampling.minP; });
  std::vector<double> sums(tokens.size());
  double sum = 0;
  for (size_t i = 0; i < tokens.size(); ++i)
    sums[i] = sum += chance(tokens[i]);
  size_t drawn = std::ranges::upper_bound(sums, at * sum) - sums.begin();
  return tokens[std::min(drawn, sums.size() - 1)];
}
