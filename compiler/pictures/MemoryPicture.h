// Memory over the commands of a step: what lies where, for how long, and who
// holds the peak.
#pragma once

#include "compiler/pictures/Picture.h"
#include "dialects/plan/Plan.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace dl::pictures {

/// Bytes of the arena while a command runs.
struct MemoryCommand {
  std::string name; // "conv2d_add_relu"
  Part part;
  int64_t alive = 0; // of temporaries
};

/// A temporary: a rectangle of bytes and commands.
struct MemoryBlock {
  std::string name, where; // "conv1/add [4,10,24,24] f32", "mnist.dl:15:31"
  int64_t offset, bytes;   // from the first temporary on
  int first, last;         // commands
  Part part; // Saved: written by the forward, read by the backward
};

/// One program of a step.
struct MemoryMap {
  std::string title; // "step train, batch of 4"
  std::vector<MemoryCommand> commands;
  std::vector<MemoryBlock> blocks;
  int64_t packed = 0; // what all temporaries take together
  int peak = 0;       // the command during which most are alive
};

struct MemoryPicture {
  std::string title;
  /// Bytes that are always taken, by kind: "parameters".
  std::vector<std::pair<std::string, int64_t>> fixed;
  std::vector<MemoryMap> programs;

  int64_t fixedBytes() const;
  /// What the temporaries of any program take at most; they share the place.
  int64_t packed() const;
};

/// All programs of a step (whole batches, short ones, the update); of all steps
/// if none is named.
MemoryPicture describeMemory(mlir::ModuleOp module, plan::PlanOp plan,
                             llvm::StringRef step);

std::string writeMemorySvg(const MemoryPicture &picture);

} // namespace dl::pictures
