#include "runtime/exec/AnomalyFinder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace dlrt;

template <typename Number>
static bool hasNaN(const uint8_t *begin, uint64_t bytes) {
  for (uint64_t at = 0; at + sizeof(Number) <= bytes; at += sizeof(Number)) {
    Number number;
    std::memcpy(&number, begin + at, sizeof(number));
    if (std::isnan(number))
      return true;
  }
  return false;
}

static bool hasNaN(const AnomalyFinder::Floats &range, uint32_t slot) {
  const uint8_t *begin = range.begin + slot * range.slotBytes;
  return range.isDouble ? hasNaN<double>(begin, range.bytes)
                        : hasNaN<float>(begin, range.bytes);
}

static bool overlap(const AnomalyFinder::Floats &a,
                    const AnomalyFinder::Floats &b) {
  return a.begin < b.begin + b.bytes && b.begin < a.begin + a.bytes;
}

void AnomalyFinder::look(const PreparedProgram &program, uint32_t command,
                         uint32_t slot) {
  const std::vector<Floats> &all = floats.at(&program)[command];
  auto overlaps = [&](const std::vector<Floats> &others, const Floats &range,
                      bool written) {
    return std::ranges::any_of(others, [&](const Floats &other) {
      return other.isWritten == written && overlap(range, other);
    });
  };
  // Where it writes in place, what stands there says nothing of what it read.
  std::string given;
  bool hasThem = false;
  for (const Floats &range : all)
    if (!range.isWritten && !overlaps(all, range, /*written=*/true) &&
        hasNaN(range, slot)) {
      hasThem |= overlaps(made, range, /*written=*/true);
      given = *range.name;
    }
  bool makes = false;
  for (const Floats &range : all) {
    if (!range.isWritten)
      continue;
    bool isInPlace = overlaps(all, range, /*written=*/false);
    bool had = overlaps(made, range, /*written=*/true);
    std::erase_if(made, [&](const Floats &old) { return overlap(old, range); });
    if (!hasNaN(range, slot))
      continue;
    makes = true;
    isKept |= range.isKept;
    hasThem |= isInPlace && had;
    made.push_back(range);
  }
  if (!makes || hasThem)
    return; // they are those of another command
  std::string where = program.commands[command].description;
  origins.push_back(given.empty() ? where
                                  : fmt::format("{}, which reads them in '{}'",
                                                where, given));
}

Status AnomalyFinder::verdict() {
  constexpr size_t most = 3; // the first one is what matters
  std::string text = "NaN begins in ";
  for (size_t i = 0; i < std::min(origins.size(), most); ++i)
    text += (i ? "; in " : "") + origins[i];
  if (origins.size() > most)
    text += fmt::format("; and in {} more", origins.size() - most);
  bool found = isKept && !origins.empty();
  origins.clear();
  made.clear();
  isKept = false;
  return found ? Status(Code::Training, text) : Status();
}
