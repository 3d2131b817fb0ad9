#include "runtime/plan/CommandAccess.h"

using namespace dlrt;

std::vector<Access> dlrt::accessesOf(const fb::PlanT &plan,
                                     const fb::CommandT &command) {
  const fb::KernelT &kernel = *plan.kernels[command.kernel];
  std::vector<Access> accesses;
  for (size_t b = 0; b < command.bindings.size(); ++b)
    accesses.push_back({command.bindings[b], kernel.writes[b]});
  return accesses;
}

std::string dlrt::titleOf(const fb::PlanT &plan, const fb::CommandT &command) {
  return plan.kernels[command.kernel]->name;
}
