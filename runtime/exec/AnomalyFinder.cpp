#include "runtime/exec/AnomalyFinder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace dlrt;

namespace {
/// The upper half of a float.
struct Bf16 {
  uint16_t bits;
};
} // namespace

template <typename Number> static bool isNaN(Number number) {
  return std::isnan(number);
}
static bool isNaN(Bf16 number) { return (number.bits & 0x7fff) > 0x7f80; }

template <typename Number>
static bool hasNaN(const uint8_t *begin, uint64_t bytes) {
  for (uint64_t at = 0; at + sizeof(Number) <= bytes; at += sizeof(Number)) {
    Number number;
    std::memcpy(&number, begin + at, sizeof(number));
    if (isNaN(number))
      return true;
  }
  return false;
}

static bool hasNaN(const AnomalyFinder::Floats &range, uint32_t slot) {
  const uint8_t *begin = range.begin + slot * range.slotBytes;
  switch (range.dtype) {
  case fb::DType::F64:
    return hasNaN<double>(begin, range.bytes);
  case fb::DType::BF16:
    return hasNaN<Bf16>(begin, range.bytes);
  default:
    return hasNaN<float>(begin, range.bytes);
  }
}

static bool overlap(const AnomalyFinder::Floats &a,
                    const AnomalyFinder::Floats &b) {
  return a.begin < b.begin + b.bytes && b.begin < a.begin + a.bytes;
}

void AnomalyFinder::look(const PreparedProgram &program, uint32_t command,
                         uint32_t slot) {
  const std::vector<Floats> &all = floats.at(&program)[command];
  auto overlaps = [&](const Floats &range, bool written) {
    return std::ranges::any_of(all, [&](const Floats &other) {
      return other.isWritten == written && overlap(range, other);
    });
  };
  auto madeIn = [&](const Floats &range) {
    Origins from = 0;
    for (const Made &each : made)
      from |= overlap(range, each.range) ? each.from : 0;
    return from;
  };
  // Where it writes in place, what stands there says nothing of what it read.
  Origins from = 0;
  std::string given;
  for (const Floats &range : all)
    if (!range.isWritten && !overlaps(range, /*written=*/true) &&
        hasNaN(range, slot)) {
      from |= madeIn(range);
      given = *range.name;
    }
  std::vector<const Floats *> bad;
  bool isReceived = false;
  for (const Floats &range : all) {
    if (!range.isWritten)
      continue;
    bool isInPlace = overlaps(range, /*written=*/false);
    Origins had = madeIn(range);
    std::erase_if(made,
                  [&](const Made &old) { return overlap(old.range, range); });
    if (!hasNaN(range, slot))
      continue;
    bad.push_back(&range);
    isReceived |= range.isReceived;
    from |= isInPlace ? had : 0;
  }
  if (bad.empty())
    return;
  if (from == 0) {
    std::string where = program.commands[command].description;
    if (isReceived)
      where = "another rank";
    else if (!given.empty())
      where += fmt::format(", which reads them in '{}'", given);
    from = Origins(1) << std::min(origins.size(), mostOrigins - 1);
    origins.push_back(std::move(where));
  }
  for (const Floats *range : bad) {
    made.push_back({*range, from});
    guilty |= range->isKept ? from : 0;
  }
}

Status AnomalyFinder::verdict() {
  constexpr size_t most = 3;     // the first one is what matters
  std::vector<std::string> told; // ranks of one process say the same
  for (size_t i = 0; i < std::min(origins.size(), mostOrigins); ++i)
    if (guilty >> i & 1 && std::ranges::find(told, origins[i]) == told.end())
      told.push_back(std::move(origins[i]));
  origins.clear();
  made.clear();
  guilty = 0;
  if (told.empty())
    return {};
  std::string text = "NaN begins in ";
  for (size_t i = 0; i < std::min(told.size(), most); ++i)
    text += (i ? "; in " : "") + told[i];
  if (told.size() > most)
    text += fmt::format("; and in {} more", told.size() - most);
  return {Code::Training, text};
}
