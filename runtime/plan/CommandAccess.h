// What a command does to the plan's memory, whatever its kind.
#ifndef DLRT_PLAN_COMMANDACCESS_H
#define DLRT_PLAN_COMMANDACCESS_H

#include "runtime/plan/plan_generated.h"

#include <string>
#include <vector>

namespace dlrt {

struct Access {
  fb::Range range;
  bool writes;
};

/// All that a (checked) command reads and writes.
std::vector<Access> accessesOf(const fb::PlanT &plan,
                               const fb::CommandT &command);

/// What messages call it: the name of its kernel.
std::string titleOf(const fb::PlanT &plan, const fb::CommandT &command);

} // namespace dlrt

#endif
