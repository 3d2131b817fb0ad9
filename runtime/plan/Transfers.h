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
      visit(transfer.member() + i,
            fb::Range(first.buffer(), first.offset() + i * transfer.step(),
                      first.bytes()));
    }
}

/// Calls `visit(const fb::Range &)` for what (checked) transfers touch: bytes
/// that members have side by side, or all the same, are one range.
template <typename Visitor>
void forEachRange(const std::vector<fb::Transfer> &transfers, Visitor &&visit) {
  for (const fb::Transfer &transfer : transfers) {
    const fb::Range &first = transfer.range();
    if (transfer.members() == 1 || transfer.step() == 0)
      visit(first);
    else if (transfer.step() == first.bytes())
      visit(fb::Range(first.buffer(), first.offset(),
                      transfer.members() * first.bytes()));
    else
      forEachMember({transfer},
                    [&](uint32_t, const fb::Range &range) { visit(range); });
  }
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
