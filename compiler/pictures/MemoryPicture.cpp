#include "compiler/pictures/MemoryPicture.h"
#include "compiler/pictures/StepParts.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace dl::pictures {

static int64_t alignedBytes(plan::BufferOp buffer) {
  return static_cast<int64_t>(
      llvm::alignTo(buffer.getBytes(), plan::alignment));
}

static plan::ProgramOp findProgram(plan::PlanOp plan, StringRef name) {
  for (auto step : plan.getOps<plan::StepOp>())
    if (step.getName() == name)
      for (auto program : step.getBody().getOps<plan::ProgramOp>())
        if (program.getKind() == plan::ProgramKind::Full)
          return program;
  return nullptr;
}

/// Which part of the step each kernel belongs to.
static llvm::StringMap<Part> partsOfKernels(ModuleOp module, StringRef step) {
  llvm::StringMap<Part> parts;
  func::FuncOp function = findStep(module, step).step;
  if (!function)
    return parts;
  StepParts of(function);
  for (auto kernel : function.getOps<graph::KernelOp>())
    parts.try_emplace(kernel.getName(), of.of(kernel));
  return parts;
}

/// What states, metrics and error flags take.
static void addFixed(plan::PlanOp plan, MemoryMap &map) {
  int64_t pinned = 0, byRole[4] = {};
  for (auto buffer : plan.getOps<plan::BufferOp>())
    if (buffer.getPinned())
      pinned += alignedBytes(buffer);
  for (auto state : plan.getOps<plan::StateOp>()) {
    int64_t bytes =
        alignedBytes(state.getBuffer().getDefiningOp<plan::BufferOp>());
    byRole[static_cast<int>(state.getRole())] += bytes;
    pinned -= bytes;
  }
  const char *names[] = {"parameters", "optimizer state", "other state",
                         "accumulated gradients"};
  for (int role = 0; role < 4; ++role)
    if (byRole[role])
      map.fixed.emplace_back(names[role], byRole[role]);
  if (pinned)
    map.fixed.emplace_back("metrics and error flags", pinned);
}

static void addBlocks(plan::ProgramOp program, MemoryMap &map) {
  llvm::MapVector<Operation *, MemoryBlock> blocks;
  int now = 0;
  for (auto command : program.getBody().getOps<plan::CommandOp>()) {
    for (Value binding : command.getBindings()) {
      auto buffer = binding.getDefiningOp<plan::BufferOp>();
      if (buffer.getSpace() != plan::Space::Arena || buffer.getPinned())
        continue;
      auto [slot, isNew] = blocks.try_emplace(buffer);
      MemoryBlock &block = slot->second;
      Part part = map.commands[static_cast<size_t>(now)].part;
      if (isNew)
        block = {buffer.getName().str(),
                 buffer.getSourceAttr()
                     ? buffer.getSourceAttr().getLocation().str()
                     : "",
                 static_cast<int64_t>(buffer.getOffset().value_or(0)),
                 alignedBytes(buffer),
                 now,
                 now,
                 part};
      block.last = now;
      if (block.part == Part::Forward && part == Part::Backward)
        block.part = Part::Saved;
    }
    ++now;
  }
  int64_t begin = INT64_MAX, end = 0;
  for (auto &[buffer, block] : blocks) {
    begin = std::min(begin, block.offset);
    end = std::max(end, block.offset + block.bytes);
    for (int i = block.first; i <= block.last; ++i)
      map.commands[static_cast<size_t>(i)].alive += block.bytes;
  }
  map.packed = blocks.empty() ? 0 : end - begin;
  for (auto &[buffer, block] : blocks) {
    block.offset -= begin;
    map.blocks.push_back(std::move(block));
  }
}

std::optional<MemoryMap> describeMemory(ModuleOp module, plan::PlanOp plan,
                                        StringRef step) {
  plan::ProgramOp program = findProgram(plan, step);
  if (!program)
    return std::nullopt;
  MemoryMap map;
  map.title = plan.getModel().rsplit('/').second.str();
  if (map.title.empty())
    map.title = plan.getModel().str();
  map.title += ": memory of step " + step.str() + ", batch of " +
               std::to_string(program.getBatch());
  llvm::StringMap<Part> parts = partsOfKernels(module, step);
  for (auto command : program.getBody().getOps<plan::CommandOp>()) {
    auto part = parts.find(command.getKernel());
    map.commands.push_back(
        {command.getKernel().rsplit('_').first.str(),
         part == parts.end() ? Part::Forward : part->second});
  }
  addFixed(plan, map);
  addBlocks(program, map);
  for (size_t i = 0; i < map.commands.size(); ++i)
    if (map.commands[i].alive >
        map.commands[static_cast<size_t>(map.peak)].alive)
      map.peak = static_cast<int>(i);
  return map;
}

} // namespace dl::pictures
