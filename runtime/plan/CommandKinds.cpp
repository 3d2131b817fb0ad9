#include "runtime/plan/CommandKinds.h"

#include "runtime/plan/Transfers.h"

#include <fmt/format.h>

#include <algorithm>

using namespace dlrt;

bool dlrt::isKnown(const fb::CommandT &command) {
  return command.work.type > fb::Work::NONE &&
         command.work.type <= fb::Work::MAX && command.work.value;
}

const fb::LaunchT *dlrt::kernelLaunch(const fb::CommandT &command) {
  const fb::MultiplyT *product = command.work.AsMultiply();
  return product ? product->launch.get() : command.work.AsLaunch();
}

static void addBindings(const fb::PlanT &plan, const fb::LaunchT &launch,
                        std::vector<Access> &accesses) {
  const auto &writes = plan.kernels[launch.kernel]->writes;
  for (size_t b = 0; b < launch.bindings.size(); ++b)
    accesses.push_back({launch.bindings[b], writes[b]});
}

/// All of it, so that it is among the bindings' accesses.
static bool bindsWorkspace(const fb::PlanT &plan,
                           const fb::MultiplyT &product) {
  const auto &bindings = product.launch->bindings;
  return std::any_of(
      bindings.begin(), bindings.end(), [&](const fb::Range &range) {
        return range.buffer() == product.workspace &&
               range.bytes() == plan.buffers[product.workspace]->bytes;
      });
}

std::vector<Access> dlrt::accessesOf(const fb::PlanT &plan,
                                     const fb::CommandT &command) {
  std::vector<Access> accesses;
  visitWork(command,
            OfKind{[&](const fb::LaunchT &launch) {
                     addBindings(plan, launch, accesses);
                   },
                   [&](const fb::MultiplyT &product) {
                     addBindings(plan, *product.launch, accesses);
                     if (!bindsWorkspace(plan, product))
                       accesses.push_back(
                           {{product.workspace, 0,
                             plan.buffers[product.workspace]->bytes},
                            true});
                   },
                   [&](const fb::CopyT &copy) {
                     accesses.push_back(
                         {{copy.from, copy.from_offset, copy.bytes}, false});
                     accesses.push_back(
                         {{copy.to, copy.to_offset, copy.bytes}, true});
                   },
                   [&](const fb::CommunicateT &exchange) {
                     for (const fb::Transfer &send : exchange.sends)
                       accesses.push_back({wholeOf(send), false});
                     for (const fb::Transfer &receive : exchange.receives)
                       accesses.push_back({wholeOf(receive), true});
                   }});
  return accesses;
}

CommandFacts dlrt::factsOf(const fb::PlanT &plan, const fb::CommandT &command) {
  return visitWork(
      command,
      OfKind{
          [&](const fb::LaunchT &launch) -> CommandFacts {
            const fb::KernelT &kernel = *plan.kernels[launch.kernel];
            return {kernel.name, kernel.strategy, variantOf(kernel).tiles,
                    kernel.flops, kernel.bytes};
          },
          [&](const fb::MultiplyT &product) -> CommandFacts {
            const fb::KernelT &kernel = *plan.kernels[product.launch->kernel];
            return {kernel.name, "library", 1, kernel.flops, kernel.bytes};
          },
          [](const fb::CopyT &copy) -> CommandFacts {
            uint64_t tiles = (copy.bytes + copyTileBytes - 1) / copyTileBytes;
            return {"copy", "copy", std::max<uint64_t>(tiles, 1), 0,
                    2 * copy.bytes};
          },
          [](const fb::CommunicateT &exchange) -> CommandFacts {
            return {fmt::format("exchange {}", exchange.order), "communicate",
                    1, 0, bytesOf(exchange.sends) + bytesOf(exchange.receives)};
          }});
}

fb::Resource dlrt::resourceOf(const fb::CommandT &command) {
  return visitWork(
      command,
      OfKind{[](const fb::LaunchT &) { return fb::Resource::Compute; },
             [](const fb::MultiplyT &) { return fb::Resource::Compute; },
             [](const fb::CopyT &) { return fb::Resource::Copy; },
             [](const fb::CommunicateT &) {
               return fb::Resource::Communication;
             }});
}
