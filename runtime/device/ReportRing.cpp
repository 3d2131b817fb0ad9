#include "runtime/device/ReportRing.h"

#include "runtime/plan/DTypes.h"
#include "runtime/plan/SourceText.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

using namespace dlrt;

ReportRing::ReportRing(const PlanSet &set, const Ranks &ranks)
    : set(set), places(set.first().steps.size()) {
  std::vector<uint32_t> speakers; // of each plan, the first rank at hand
  std::vector<bool> known(set.plans.size());
  for (uint32_t r = 0; r < ranks.count; ++r) {
    uint32_t plan = set.planOfRank[ranks.first + r];
    if (!known[plan])
      speakers.push_back(r);
    known[plan] = true;
  }
  size_t most = 0;
  for (size_t s = 0; s < places.size(); ++s)
    for (size_t p = 0; p < set.first().steps[s]->programs.size(); ++p) {
      auto programOf = [&](uint32_t rank) -> const fb::ProgramT & {
        return *set.of(ranks.first + rank).steps[s]->programs[p];
      };
      Places &out = places[s][static_cast<size_t>(programOf(0).kind)];
      for (uint32_t rank : speakers)
        for (const auto &flag : programOf(rank).errors) {
          out.push_back({rank, flag->buffer, sizeof(int32_t)});
          out.flagOf.push_back(flag.get());
        }
      out.flags = out.size();
      for (const auto &metric : programOf(0).metrics)
        if (metric->shape.empty())
          out.push_back({0, metric->buffer,
                         static_cast<uint32_t>(sizeOf(metric->dtype))});
      most = std::max(most, out.size());
    }
  for (Entry &entry : entries)
    entry.words.assign(most, 0);
}

void ReportRing::judge(Entry &entry) const {
  for (size_t f = 0; f < entry.places->flags; ++f) {
    if (entry.words[f] == 0)
      continue;
    const fb::ErrorFlagT &flag = *entry.places->flagOf[f];
    // An op that knows the item counts down from the largest i32
    // (graph.index_check).
    auto left = static_cast<uint32_t>(entry.words[f]);
    uint32_t most = std::numeric_limits<int32_t>::max();
    std::string item = left > most / 2 && left <= most
                           ? fmt::format(", item {} of the batch", most - left)
                           : std::string();
    entry.failure = {
        Code::Training,
        fmt::format("{}{} ({})", flag.message, item,
                    sourceText(*set.first().sources[flag.source]))};
    return;
  }
}

Expected<Report> ReportRing::of(Ticket ticket) const {
  const Entry &entry = entries[ticket % entries.size()];
  if (entry.ticket != ticket)
    return Status(Code::Bug, fmt::format("launch {} is waited for too late: {} "
                                         "later ones have run",
                                         ticket, entries.size()));
  if (!entry.failure.ok())
    return entry.failure;
  const Places &known = *entry.places;
  return Report{
      std::span(entry.words).subspan(known.flags, known.size() - known.flags)};
}
