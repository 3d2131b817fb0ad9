#include "runtime/device/ReportRing.h"

#include "runtime/plan/DTypes.h"
#include "runtime/plan/SourceText.h"
#include "runtime/plan/StepPrograms.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

using namespace dlrt;

std::vector<ReportedValue> dlrt::reportedValues(const PlanSet &set,
                                                const Ranks &ranks, size_t step,
                                                size_t program) {
  std::vector<ReportedValue> values;
  std::vector<bool> known(set.plans.size());
  for (uint32_t r = 0; r < ranks.count; ++r) {
    uint32_t plan = set.planOfRank[ranks.first + r];
    if (known[plan])
      continue;
    known[plan] = true;
    for (const auto &flag :
         set.plans[plan]->steps[step]->programs[program]->errors)
      values.push_back({r, flag->buffer, sizeof(int32_t), flag.get()});
  }
  for (const auto &metric :
       set.of(ranks.first).steps[step]->programs[program]->metrics)
    if (metric->shape.empty())
      values.push_back({0, metric->buffer,
                        static_cast<uint32_t>(sizeOf(metric->dtype)), nullptr});
  return values;
}

ReportRing::ReportRing(const PlanSet &set, const Ranks &ranks)
    : set(set), places(set.first().steps.size()) {
  size_t most = 0;
  for (size_t s = 0; s < places.size(); ++s) {
    const auto &programs = set.first().steps[s]->programs;
    for (size_t p = 0; p < programs.size(); ++p) {
      Places &out = places[s][static_cast<size_t>(programs[p]->kind)];
      out.values = reportedValues(set, ranks, s, p);
      out.ofBatch = hasBatch(programs[p]->kind);
      while (out.flags < out.values.size() && out.values[out.flags].flag)
        ++out.flags;
      most = std::max(most, out.values.size());
    }
  }
  for (Entry &entry : entries)
    entry.words.assign(most, 0);
}

void ReportRing::judge(Entry &entry) const {
  for (size_t f = 0; f < entry.places->flags; ++f) {
    if (entry.words[f] == 0)
      continue;
    const fb::ErrorFlagT &flag = *entry.places->values[f].flag;
    // An op that knows the item counts down from the largest i32
    // (graph.index_check).
    auto left = static_cast<uint32_t>(entry.words[f]);
    uint32_t most = std::numeric_limits<int32_t>::max();
    bool hasItem = entry.places->ofBatch && left > most / 2 && left <= most;
    std::string item =
        hasItem ? fmt::format(", item {} of the batch", most - left) : "";
    entry.failure = {
        Code::Training,
        fmt::format("{}{} ({})", flag.message, item,
                    sourceText(*set.first().sources[flag.source]))};
    if (hasItem)
      entry.failure = std::move(entry.failure).ofItem(most - left);
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
  return Report{std::span(entry.words)
                    .subspan(known.flags, known.values.size() - known.flags)};
}
