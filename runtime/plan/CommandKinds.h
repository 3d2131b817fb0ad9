// The kinds of commands. Whoever has to know them visits them here, and does
// not compile before it says something about each.
#ifndef DLRT_PLAN_COMMANDKINDS_H
#define DLRT_PLAN_COMMANDKINDS_H

#include "runtime/plan/plan_generated.h"

#include <string>
#include <vector>

namespace dlrt {

/// A function for each kind: visitWork(command, OfKind{[](const fb::LaunchT &)
/// ...}).
template <typename... Functions> struct OfKind : Functions... {
  using Functions::operator()...;
};
template <typename... Functions> OfKind(Functions...) -> OfKind<Functions...>;

/// Whether a command read from a file is of a kind that can be visited.
bool isKnown(const fb::CommandT &command);

/// Calls `visitor` with the command's fb::LaunchT, fb::CopyT or ...
template <typename Visitor>
auto visitWork(const fb::CommandT &command, Visitor &&visitor) {
  switch (command.work.type) {
  case fb::Work::Copy:
    return visitor(*command.work.AsCopy());
  case fb::Work::Communicate:
    return visitor(*command.work.AsCommunicate());
  case fb::Work::Multiply:
    return visitor(*command.work.AsMultiply());
  default: // isKnown
    return visitor(*command.work.AsLaunch());
  }
}

/// The launch of a kernel that a (known) command is, or is in place of; null
/// where no kernel has to do with it.
const fb::LaunchT *kernelLaunch(const fb::CommandT &command);

/// The code of a (checked) kernel: a plan has one target.
inline const fb::VariantT &variantOf(const fb::KernelT &kernel) {
  return *kernel.variants.front();
}

struct Access {
  fb::Range range;
  bool writes;
};

/// All that a (checked) command reads and writes.
std::vector<Access> accessesOf(const fb::PlanT &plan,
                               const fb::CommandT &command);

/// What people are told of a (checked) command.
struct CommandFacts {
  std::string title;    ///< the name of its kernel, "copy"
  std::string category; ///< the kernel's strategy, "copy"
  uint64_t tiles, flops, bytes;
};

CommandFacts factsOf(const fb::PlanT &plan, const fb::CommandT &command);

/// What a kind keeps busy.
fb::Resource resourceOf(const fb::CommandT &command);

/// So many bytes of a copy are a tile.
constexpr uint64_t copyTileBytes = 64 << 10;

} // namespace dlrt

#endif
