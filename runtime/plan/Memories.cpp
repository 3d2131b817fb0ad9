#include "runtime/plan/Memories.h"

#include <fmt/format.h>

#include <algorithm>

using namespace dlrt;

const char *dlrt::nameOf(fb::Memory memory) {
  switch (memory) {
  case fb::Memory::Host:
    return "host";
  case fb::Memory::Device:
    return "device";
  }
  return "unknown";
}

fb::Target dlrt::targetOf(const fb::PlanT &plan) {
  return plan.images.empty() ? fb::Target::Cpu : plan.images.front()->target;
}

bool dlrt::reaches(fb::Target target, fb::Memory memory) {
  switch (target) {
  case fb::Target::Cpu:
    return memory == fb::Memory::Host;
  case fb::Target::Cuda: // batches and scalars, too: it has copies of its own
    return memory == fb::Memory::Device;
  }
  return false;
}

Status dlrt::checkMemories(const PlanSet &set,
                           std::initializer_list<fb::Memory> has) {
  for (const auto &plan : set.plans)
    for (const auto &buffer : plan->buffers)
      if (std::find(has.begin(), has.end(), buffer->memory) == has.end())
        return {Code::Plan, fmt::format("the buffer '{}' is in {} memory, "
                                        "which this device does not have",
                                        buffer->name, nameOf(buffer->memory))};
  return {};
}
