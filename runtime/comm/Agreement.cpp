#include "runtime/comm/Agreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

using namespace dlrt;

static void putText(std::vector<uint8_t> &bytes, const std::string &text) {
  uint32_t size = static_cast<uint32_t>(text.size());
  const auto *raw = reinterpret_cast<const uint8_t *>(&size);
  bytes.insert(bytes.end(), raw, raw + sizeof(size));
  bytes.insert(bytes.end(), text.begin(), text.end());
}

/// A sequence of texts; empty if the bytes are none.
static std::vector<std::string> takeTexts(const std::vector<uint8_t> &bytes) {
  std::vector<std::string> texts;
  for (size_t at = 0; at < bytes.size();) {
    uint32_t size = 0;
    if (bytes.size() - at < sizeof(size))
      return {};
    std::memcpy(&size, &bytes[at], sizeof(size));
    at += sizeof(size);
    if (bytes.size() - at < size)
      return {};
    texts.emplace_back(bytes.begin() + static_cast<ptrdiff_t>(at),
                       bytes.begin() + static_cast<ptrdiff_t>(at + size));
    at += size;
  }
  return texts;
}

std::vector<uint8_t> dlrt::packFacts(const RankFacts &facts) {
  std::vector<uint8_t> bytes;
  putText(bytes, facts.host);
  putText(bytes, std::to_string(static_cast<int>(facts.failure.code())));
  putText(bytes, facts.failure.message());
  for (const auto &[name, value] : facts.facts) {
    putText(bytes, name);
    putText(bytes, value);
  }
  return bytes;
}

RankFacts dlrt::unpackFacts(const std::vector<uint8_t> &bytes) {
  std::vector<std::string> texts = takeTexts(bytes);
  RankFacts facts;
  if (texts.size() < 3 || texts.size() % 2 != 1) {
    facts.host = "?";
    facts.failure = {Code::Plan, "it runs another version of dlrun"};
    return facts;
  }
  facts.host = texts[0];
  if (int code = std::atoi(texts[1].c_str()); code != 0)
    facts.failure = {static_cast<Code>(code), texts[2]};
  for (size_t i = 3; i < texts.size(); i += 2)
    facts.facts.push_back({texts[i], texts[i + 1]});
  return facts;
}

/// "rank 3 (host b)", "ranks 2, 3 (host b)", "ranks 4 to 9, 12 (…)".
static std::string ranksText(const std::vector<RankFacts> &ranks,
                             const std::vector<uint32_t> &which) {
  std::string numbers, hosts;
  for (size_t i = 0; i < which.size();) {
    size_t end = i + 1;
    while (end < which.size() && which[end] == which[end - 1] + 1)
      ++end;
    if (!numbers.empty())
      numbers += ", ";
    numbers += end - i > 2 ? fmt::format("{} to {}", which[i], which[end - 1])
                           : fmt::format("{}", which[i]);
    i = end - i > 2 ? end : i + 1;
  }
  std::vector<std::string> seen;
  for (uint32_t rank : which)
    if (std::find(seen.begin(), seen.end(), ranks[rank].host) == seen.end())
      seen.push_back(ranks[rank].host);
  for (size_t i = 0; i < seen.size() && i < 4; ++i)
    hosts += (i == 0 ? "" : ", ") + seen[i];
  return fmt::format("rank{} {} (host{} {}{})", which.size() == 1 ? "" : "s",
                     numbers, seen.size() == 1 ? "" : "s", hosts,
                     seen.size() > 4 ? ", …" : "");
}

/// Values with the ranks that have them, the most common first; of equally
/// common ones that of the lowest rank.
static std::vector<std::pair<std::string, std::vector<uint32_t>>>
groupsOf(const std::vector<std::string> &values) {
  std::vector<std::pair<std::string, std::vector<uint32_t>>> groups;
  std::map<std::string, size_t> known;
  for (uint32_t rank = 0; rank < values.size(); ++rank) {
    auto [at, isNew] = known.insert({values[rank], groups.size()});
    if (isNew)
      groups.push_back({values[rank], {}});
    groups[at->second].second.push_back(rank);
  }
  std::stable_sort(groups.begin(), groups.end(), [](auto &a, auto &b) {
    return a.second.size() > b.second.size();
  });
  return groups;
}

static Status failureOf(const std::vector<RankFacts> &ranks) {
  std::vector<std::string> texts;
  for (const RankFacts &facts : ranks)
    texts.push_back(facts.failure.ok() ? "" : facts.failure.message());
  auto groups = groupsOf(texts);
  if (groups.size() == 1)
    return ranks[0].failure;
  std::string text;
  for (const auto &[message, which] : groups)
    if (!message.empty())
      text += fmt::format("{}{}: {}", text.empty() ? "" : "; ",
                          ranksText(ranks, which), message);
  return {Code::Plan, text};
}

Status dlrt::compareFacts(const std::vector<RankFacts> &ranks) {
  DLRT_TRY(failureOf(ranks));
  std::string text;
  for (size_t f = 0; f < ranks[0].facts.size(); ++f) {
    std::vector<std::string> values;
    for (const RankFacts &facts : ranks)
      values.push_back(facts.facts.size() == ranks[0].facts.size() &&
                               facts.facts[f].first == ranks[0].facts[f].first
                           ? facts.facts[f].second
                           : "not told");
    auto groups = groupsOf(values);
    if (groups.size() == 1)
      continue;
    text += fmt::format("{}{}: ", text.empty() ? "" : "; ",
                        ranks[0].facts[f].first);
    for (size_t g = 0; g < groups.size(); ++g)
      text += fmt::format("{}{} on {}", g == 0 ? "" : ", ", groups[g].first,
                          ranksText(ranks, groups[g].second));
  }
  if (text.empty())
    return {};
  return {Code::Plan, "the ranks do not agree: " + text};
}

Status dlrt::agree(Transport &transport, const RankFacts &mine) {
  auto all = transport.gather(packFacts(mine));
  if (!all)
    return all.takeError();
  std::vector<RankFacts> ranks;
  for (const std::vector<uint8_t> &bytes : *all)
    ranks.push_back(unpackFacts(bytes));
  return compareFacts(ranks);
}
