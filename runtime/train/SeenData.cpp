#include "runtime/train/SeenData.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <vector>

using namespace dlrt;

std::string dlrt::seenData(const Session &session) {
  std::string files, items;
  for (uint32_t step : session.trainingSteps()) {
    for (std::optional<uint64_t> hash :
         session.dataset(step).samples(session.readComponents(step)))
      files += (files.empty() ? "" : " ") +
               (hash ? fmt::format("{:016x}", *hash) : "-");
    const auto &data =
        *session.plan().datasets[session.plan().steps[step]->dataset];
    items +=
        " " + selectionWord(data, data.shuffle && session.options().shuffle);
    if (const auto &draws = session.dataset(step).draws)
      items += fmt::format(",drawn~{:016x}", draws->hash());
  }
  return files + items;
}

/// The words of files, or those of items.
static std::vector<std::string> wordsOf(const std::string &text, bool items) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;)
    if (word.starts_with("items:") == items)
      words.push_back(word);
  return words;
}

static bool mayBeSame(const std::vector<std::string> &before,
                      const std::vector<std::string> &now) {
  for (size_t i = 0; i < std::min(before.size(), now.size()); ++i)
    if (before[i] != now[i] && before[i] != "-" && now[i] != "-")
      return false;
  return true;
}

std::optional<std::string> dlrt::otherData(const std::string &before,
                                           const std::string &now) {
  if (!mayBeSame(wordsOf(before, false), wordsOf(now, false)))
    return "";
  if (!mayBeSame(wordsOf(before, true), wordsOf(now, true)))
    return ": the plan takes other items of them, or in another order, so that "
           "an evaluation may see some that were trained on";
  return std::nullopt;
}
