#include "runtime/device/ReportRing.h"

#include "runtime/plan/DTypes.h"
#include "runtime/plan/SourceText.h"

#include <fmt/format.h>

#include <algorithm>

using namespace dlrt;

ReportRing::ReportRing(const fb::PlanT &plan)
    : plan(plan), places(plan.steps.size()) {
  size_t most = 0;
  auto collect = [&](const fb::ProgramT &program, Places &out) {
    for (const auto &flag : program.errors)
      out.push_back({flag->buffer, sizeof(int32_t)});
    out.flags = out.size();
    for (const auto &metric : program.metrics)
      if (metric->shape.empty())
        out.push_back(
            {metric->buffer, static_cast<uint32_t>(sizeOf(metric->dtype))});
    most = std::max(most, out.size());
  };
  for (size_t s = 0; s < plan.steps.size(); ++s)
    for (const auto &program : plan.steps[s]->programs)
      collect(*program, places[s][static_cast<size_t>(program->kind)]);
  for (Entry &entry : entries)
    entry.words.assign(most, 0);
}

void ReportRing::judge(Entry &entry, const Launch &launch) const {
  for (size_t f = 0; f < entry.places->flags; ++f) {
    if (entry.words[f] == 0)
      continue;
    const fb::ErrorFlagT &flag = *programOf(plan, launch).errors[f];
    entry.failure = {Code::Training,
                     fmt::format("{} ({})", flag.message,
                                 sourceText(*plan.sources[flag.source]))};
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
