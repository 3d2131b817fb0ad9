#include "runtime/data/Selections.h"

#include "runtime/base/Numbers.h"

#include <fmt/format.h>

#include <algorithm>

using namespace dlrt;

/// In place of an epoch, which is never reached: the order of a split is none
/// of those in which its items come.
static constexpr uint64_t splitEpoch = ~uint64_t(0);

Expected<Selections> Selections::make(const fb::DatasetT &dataset,
                                      uint64_t itemsOfFiles) {
  Selections made;
  if (dataset.selections.empty())
    return made;
  const fb::SelectionT &last = *dataset.selections.back();
  bool fits = last.shuffled ? itemsOfFiles == last.of
                            : itemsOfFiles >= last.first + last.items;
  if (!fits)
    return Status{
        Code::Training,
        fmt::format("the files have {} items; the plan divides {} of them into "
                    "parts (compile it with these files)",
                    itemsOfFiles, last.of)};
  for (const auto &one : dataset.selections)
    made.all.push_back(
        {one->first, one->shuffled,
         one->shuffled ? Permutation(one->of, static_cast<uint64_t>(one->seed),
                                     splitEpoch)
                       : Permutation()});
  return made;
}

bool Selections::keepOrder() const {
  return std::ranges::none_of(all, [](const One &one) { return one.shuffled; });
}

uint64_t Selections::operator()(uint64_t item) const {
  for (const One &one : all) {
    item += one.first;
    if (one.shuffled)
      item = one.order(item);
  }
  return item;
}

std::string dlrt::itemsText(const fb::DatasetT &dataset, uint64_t items) {
  std::string text = withCommas(items);
  if (dataset.sampler)
    text += fmt::format(" draws by {} of {}", dataset.sampler->weights,
                        withCommas(dataset.sampler->of));
  if (dataset.selections.empty())
    return text + " items";
  text +=
      fmt::format(" of {} items", withCommas(dataset.selections.back()->of));
  const char *before = ", drawn with seed ";
  for (const auto &one : dataset.selections) {
    if (one->shuffled)
      text += fmt::format("{}{}", before, one->seed);
    else if (dataset.selections.size() == 1)
      text += fmt::format(", from item {}", withCommas(one->first));
    else
      continue;
    before = " and ";
  }
  return text;
}

std::string dlrt::selectionWord(const fb::DatasetT &dataset, bool shuffled) {
  std::string text = "items:";
  for (const auto &one : dataset.selections)
    text += fmt::format("{}+{}/{}{},", one->items, one->first, one->of,
                        one->shuffled ? fmt::format("~{}", one->seed) : "");
  return text + (shuffled ? "shuffled" : "in_order");
}
