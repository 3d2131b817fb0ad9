#include "compiler/pictures/MemoryPicture.h"
#include "compiler/pictures/StepParts.h"
#include "dialects/graph/Check.h"
#include "dialects/graph/Step.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace dl::pictures {

static int64_t alignedBytes(plan::BufferOp buffer) {
  return static_cast<int64_t>(
      llvm::alignTo(buffer.getBytes(), plan::alignment));
}

int64_t MemoryPicture::fixedBytes() const {
  int64_t bytes = 0;
  for (const auto &[name, taken] : fixed)
    bytes += taken;
  return bytes;
}

int64_t MemoryPicture::packed() const {
  int64_t most = 0;
  for (const MemoryMap &program : programs)
    most = std::max(most, program.packed);
  return most;
}

static graph::StepOp findFunction(ModuleOp module, StringRef step,
                                  plan::ProgramKind kind) {
  for (auto function : module.getOps<graph::StepOp>())
    if (function.getOf() == step &&
        function.getIsShort() == (kind == plan::ProgramKind::Short) &&
        function->hasAttr(graph::kForItem) ==
            (kind == plan::ProgramKind::Item) &&
        (function.getPart() == graph::Part::Update) ==
            (kind == plan::ProgramKind::Update) &&
        (function.getPart() == graph::Part::Initial) ==
            (kind == plan::ProgramKind::Initial))
      return function;
  return nullptr;
}

/// Which part of the step each kernel belongs to.
static llvm::StringMap<Part> partsOfKernels(ModuleOp module, StringRef step,
                                            plan::ProgramKind kind) {
  llvm::StringMap<Part> parts;
  graph::StepOp function = findFunction(module, step, kind);
  if (!function)
    return parts;
  StepParts of(function);
  for (auto kernel : function.getOps<graph::KernelOp>())
    parts.try_emplace(kernel.getName(), of.of(kernel));
  return parts;
}

/// What states, metrics and error flags take.
static void addFixed(plan::PlanOp plan, MemoryPicture &picture) {
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
      picture.fixed.emplace_back(names[role], byRole[role]);
  if (pinned)
    picture.fixed.emplace_back("metrics and error flags", pinned);
}

static void addBlocks(plan::ProgramOp program, const SymbolTable &kernels,
                      MemoryMap &map) {
  llvm::MapVector<Operation *, MemoryBlock> blocks;
  int now = 0;
  for (plan::CommandOpInterface command : plan::commandsOf(program)) {
    for (const plan::Access &access : command.getAccesses(kernels)) {
      plan::BufferOp buffer = access.buffer();
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

static std::string titleOf(StringRef step, plan::ProgramOp program) {
  std::string batch = std::to_string(program.getBatch());
  switch (program.getKind()) {
  case plan::ProgramKind::Full:
    return "step " + step.str() + ", batch of " + batch;
  case plan::ProgramKind::Short:
    return "step " + step.str() + ", short batch of " + batch;
  case plan::ProgramKind::Update:
    return "step " + step.str() + ", update after the micro-batches";
  case plan::ProgramKind::Item:
    return "step " + step.str() + ", one item";
  case plan::ProgramKind::Initial:
    return "initial values";
  }
  DL_UNREACHABLE("a kind of program");
}

static MemoryMap describeProgram(ModuleOp module, StringRef step,
                                 plan::ProgramOp program,
                                 const SymbolTable &kernels) {
  MemoryMap map;
  map.title = titleOf(step, program);
  llvm::StringMap<Part> parts = partsOfKernels(module, step, program.getKind());
  for (plan::CommandOpInterface command : plan::commandsOf(program)) {
    auto part = parts.find(StringRef(command.getTitle()).ltrim('@'));
    map.commands.push_back({plan::shortTitle(command), part == parts.end()
                                                           ? Part::Forward
                                                           : part->second});
  }
  addBlocks(program, kernels, map);
  for (size_t i = 0; i < map.commands.size(); ++i)
    if (map.commands[i].alive >
        map.commands[static_cast<size_t>(map.peak)].alive)
      map.peak = static_cast<int>(i);
  return map;
}

/// They need less than a whole batch.
static bool runsSingleItems(plan::StepOp step, plan::ProgramOp program) {
  return program.getKind() == plan::ProgramKind::Item ||
         (program.getKind() == plan::ProgramKind::Update &&
          !step.getTraining());
}

MemoryPicture describeMemory(ModuleOp module, plan::PlanOp plan,
                             StringRef wanted) {
  MemoryPicture picture;
  picture.title = plan.getModel().rsplit('/').second.str();
  if (picture.title.empty())
    picture.title = plan.getModel().str();
  picture.title += ": memory";
  addFixed(plan, picture);
  SymbolTable kernels(plan);
  for (auto step : plan.getOps<plan::StepOp>())
    if (wanted.empty() || step.getName() == wanted)
      for (auto program : step.getBody().getOps<plan::ProgramOp>())
        if (!runsSingleItems(step, program))
          picture.programs.push_back(
              describeProgram(module, step.getName(), program, kernels));
  return picture;
}

} // namespace dl::pictures
