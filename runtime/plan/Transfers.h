// What transfers stand for: a range of bytes for each of some members.
#ifndef DLRT_PLAN_TRANSFERS_H
#define DLRT_PLAN_TRANSFERS_H

#include "runtime/plan/plan_generated.h"

#include <vector>

namespace dlrt {

/// Calls `visit(uint32_t member, const fb::Range &)` for each member of each
/// (checked) transfer, in order.
template <typename Visitor>
void forEachMember(const std::vector<fb::Transfer> &transfers,
                   Visitor &&visit) {
  for (const fb::Transfer &transfer : transfers)
    for (uint32_t i = 0; i < transfer.members(); ++i) {
      const fb::Range &first = transfer.range();
      uint64_t before = transfer.same() ? 0 : i * first.bytes();
      visit(transfer.member() + i,
            fb::Range(first.buffer(), first.offset() + before, first.bytes()));
    }
}

/// The bytes of all members of a (checked) transfer.
inline fb::Range wholeOf(const fb::Transfer &transfer) {
  const fb::Range &first = transfer.range();
  uint64_t ranges = transfer.same() ? 1 : transfer.members();
  return {first.buffer(), first.offset(), ranges * first.bytes()};
}

/// Bytes of one member.
inline uint64_t bytesTo(const std::vector<fb::Transfer> &transfers,
                        uint32_t member) {
  uint64_t bytes = 0;
  for (const fb::Transfer &transfer : transfers)
    if (member - transfer.member() < transfer.members())
      bytes += transfer.range().bytes();
  return bytes;
}

/// Bytes of all members.
inline uint64_t bytesOf(const std::vector<fb::Transfer> &transfers) {
  uint64_t bytes = 0;
  for (const fb::Transfer &transfer : transfers)
    bytes += transfer.members() * transfer.range().bytes();
  return bytes;
}

} // namespace dlrt

#endif
