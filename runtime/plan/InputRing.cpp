#include "runtime/plan/InputRing.h"

#include "runtime/plan/CommandKinds.h"
#include "runtime/plan/StepPrograms.h"
#include "runtime/plan/Validator.h"

#include <algorithm>
#include <numeric>

using namespace dlrt;

uint64_t InputRing::bytes() const {
  return slots * std::accumulate(componentBytes.begin(), componentBytes.end(),
                                 uint64_t(0));
}

InputRing dlrt::inputRing(const Mesh &mesh, const fb::PlanT &plan,
                          const fb::StepT &step) {
  InputRing ring;
  uint64_t items = 0;
  for (const auto &program : step.programs)
    if (hasBatch(program->kind))
      items = std::max(items, itemsOf(mesh, *program, plan.ranks.front()).size);
  const fb::DatasetT &dataset = *plan.datasets[step.dataset];
  std::vector<bool> isUsed(dataset.components.size(), false);
  uint64_t bindings = 1;
  for (const auto &program : step.programs)
    for (const auto &command : program->commands) {
      bool readsBatch = false;
      std::vector<Access> accesses = accessesOf(plan, *command);
      for (const Access &access : accesses) {
        const fb::BufferT &buffer = *plan.buffers[access.range.buffer()];
        if (buffer.space != fb::Space::Input)
          continue;
        isUsed[buffer.offset] = true;
        readsBatch = true;
      }
      bindings += readsBatch ? accesses.size() : 0;
    }
  uint64_t batch = 0;
  for (size_t c = 0; c < isUsed.size(); ++c) {
    uint64_t item = 0;
    itemBytes(*dataset.components[c], item);
    ring.componentBytes.push_back(isUsed[c] ? item * items : 0);
    batch += ring.componentBytes.back();
  }
  // Commands that read a batch have pointers for each slot.
  constexpr uint64_t ringBytes = 1 << 20, tableBytes = 4 << 20;
  uint64_t slots = std::min(ringBytes / std::max<uint64_t>(batch, 1),
                            tableBytes / (bindings * sizeof(void *)));
  // Pictures of files are made by as many threads as there are slots.
  bool made = dataset.kind == fb::DatasetKind::ImageFolder;
  ring.slots =
      static_cast<uint32_t>(std::clamp<uint64_t>(slots, made ? 8 : 4, 64));
  return ring;
}
