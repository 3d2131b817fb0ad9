// What the compiler made and why: the content of `dlcc --report`.
#pragma once

#include "dialects/plan/MachineModel.h"
#include "dialects/plan/Plan.h"
#include "llvm/ADT/StringMap.h"
#include <optional>
#include <string>
#include <vector>

namespace dl {

/// Something that takes bytes of the arena.
struct MemoryItem {
  std::string name;     // "conv1/conv2d [4,10,24,24] f32"
  std::string location; // "mnist.dl:14:17"
  int64_t bytes = 0;
};

/// Exchanges that equal layers have at one place of the model.
struct ExchangeReport {
  std::string what; // "h.*.proj/all_to_all", or "a, b and 3 more" of a bucket
  std::string location;
  int64_t exchanges = 0, bytes = 0;
};

/// What rank 0 sends to others along some axes.
struct CommunicationReport {
  std::string axes; // "dp", "dp,tp"
  int64_t exchanges = 0, bytes = 0;
  std::vector<ExchangeReport> parts; // those of most bytes first
};

/// What a program is expected to take on a GPU.
struct TimeReport {
  std::string machine;
  double seconds = 0;
  /// Launches of the longest chain of those that wait for one another, and what
  /// of their time is that of launches that are limited by each of three.
  int64_t chain = 0;
  double chainSeconds = 0, launching = 0, arithmetic = 0, traffic = 0;
  /// Of all launches, if they ran at once wherever there is room for them.
  double busySeconds = 0;
  double copySeconds = 0; // of the batch, and of metrics
};

struct ProgramReport {
  std::string kind; // "full", "short", "update"
  int64_t batch = 0, commands = 0, serial = 0, flops = 0, bytes = 0;
  std::vector<CommunicationReport> communication; // by axes
  double seconds = 0; // expected of all commands, on one core
  std::optional<TimeReport> onGpu;
  /// Values that the backward makes again, bytes it so need not keep, and
  /// elements that are computed twice for it.
  int64_t madeAgain = 0, notKept = 0, repeated = 0;
  /// Temporaries: what they take once packed, and what no packing can go below.
  int64_t temporaries = 0, bound = 0;
  /// The command during which most temporaries are alive, and those.
  std::string peakCommand;
  std::vector<MemoryItem> alive;
};

struct StepReport {
  std::string name;
  int64_t accumulate = 1;
  std::vector<ProgramReport> programs;
};

struct KernelReport {
  std::string name, strategy;
  int64_t tiles = 0, scratch = 0, flops = 0, bytes = 0, launches = 0;
  double seconds = 0; ///< of a launch, as predicted; 0: by nobody
  struct Op {
    std::string name; // "conv1/conv2d"
    std::string location;
  };
  std::vector<Op> ops; // fused together; of each launch
};

struct CompileReport {
  static constexpr int wrongModel = 1, wrongUse = 2, notInThisVersion = 3,
                       cannotWrite = 4, ourBug = 70;

  int exitCode = 0; // of dlcc
  std::string model, dtype;
  int64_t parameters = 0;                            // of the whole model
  std::vector<std::pair<std::string, int64_t>> mesh; // axes; none: one rank
  /// Those whose figures all that follows are: rank 0 and the others with parts
  /// of the same sizes.
  std::vector<int64_t> ranks;
  int64_t allRanks() const;
  /// The arena and its parts: states by role, metrics and error flags, and the
  /// largest program's temporaries. `scratch` is of a thread, or on a GPU that
  /// of all launches.
  int64_t arena = 0, scratch = 0, parameterBytes = 0, slotBytes = 0,
          bufferBytes = 0, accumulatorBytes = 0, cacheBytes = 0,
          preparedBytes = 0, reportBytes = 0, temporaries = 0;
  bool isGpu = false;
  std::string machine;
  int64_t machineBytes = 0; // 0: not known
  std::vector<StepReport> steps;
  std::vector<KernelReport> kernels;

  struct Image {
    std::string features;
    uint64_t bytes;
  };
  std::vector<Image> images;
  uint64_t planBytes = 0;
  /// What a run takes for batches that wait, beside arena and scratch.
  uint64_t batchBytes = 0;

  struct Remark {
    std::string location, text;
  };
  std::vector<Remark> remarks; // decisions, in the order they were made

  struct Phase {
    std::string name;
    double seconds;
  };
  std::vector<Phase> phases;

  /// Fills in everything that stands in the plan.
  void describe(plan::PlanOp plan, const plan::MachineModel &machine);

  /// What a run takes at least: of code, the largest image.
  int64_t leastBytes() const;
  /// Why it cannot fit into the machine's memory; empty where it may, or where
  /// that is not known. Lines behind the first name what is alive at the peak.
  std::vector<std::string> whyTooLarge() const;

  std::string text() const;
  std::string json() const;

private:
  void describeProgram(plan::ProgramOp program,
                       const mlir::SymbolTable &symbols,
                       const plan::MachineModel &machine,
                       ProgramReport &report);
  llvm::StringMap<unsigned> kernelIndex; // by name
  void describeMesh(plan::PlanOp plan);
  void describeStates(plan::PlanOp plan);
};

} // namespace dl
