#include "runtime/device/Device.h"

#include "runtime/plan/StepPrograms.h"

#include <fmt/format.h>

using namespace dlrt;

const fb::ProgramT &dlrt::programOf(const fb::PlanT &plan,
                                    const Launch &launch) {
  return *programOf(*plan.steps[launch.step], launch.kind);
}

Status dlrt::checkRanks(const PlanSet &set, const Ranks &ranks) {
  uint32_t all = set.mesh.ranks();
  if (ranks.count == 0 || ranks.total != all || ranks.first >= ranks.total ||
      ranks.count > ranks.total - ranks.first)
    return {Code::Plan, fmt::format("the plan is for {} rank{}, not for {}",
                                    all, all == 1 ? "" : "s", ranks.total)};
  return {};
}

Status dlrt::checkAccess(const fb::PlanT &plan, const BufferPlace &place,
                         uint64_t bytes, uint64_t underWay) {
  if (underWay != 0)
    return {Code::Bug,
            fmt::format("buffer {} is touched while {} launch{} under way",
                        place.buffer, underWay,
                        underWay == 1 ? " is" : "es are")};
  if (place.buffer >= plan.buffers.size() ||
      plan.buffers[place.buffer]->space != fb::Space::Arena)
    return {Code::Bug,
            fmt::format("buffer {} is none of the arena", place.buffer)};
  uint64_t size = plan.buffers[place.buffer]->bytes;
  if (place.offset > size || bytes > size - place.offset)
    return {Code::Bug,
            fmt::format("bytes {} to {} leave buffer {}, which has {}",
                        place.offset, place.offset + bytes, place.buffer,
                        size)};
  return {};
}

Status dlrt::checkAccess(const PlanSet &set, const Ranks &ranks,
                         const BufferPlace &place, uint64_t bytes,
                         uint64_t underWay) {
  if (place.rank >= ranks.count)
    return {Code::Bug,
            fmt::format("rank {} is not one of this device's", place.rank)};
  return checkAccess(set.of(ranks.first + place.rank), place, bytes, underWay);
}
