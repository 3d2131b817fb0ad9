#include "compiler/pipeline/PredictTime.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace dl {
namespace {

double secondsOf(plan::CommandOpInterface command) {
  auto seconds = command.getSeconds();
  return seconds ? seconds->convertToDouble() : 0;
}

/// What of the device a command keeps busy while it runs.
double partOf(plan::CommandOpInterface command, const SymbolTable &kernels,
              const plan::MachineModel &machine) {
  auto launch = dyn_cast<plan::LaunchOp>(command.getOperation());
  if (!launch)
    return 1;
  auto kernel = kernels.lookup<plan::KernelOp>(launch.getKernel());
  return std::min(1.0, double(kernel.getTiles()) / machine.processors);
}

/// Adds a launch of the longest chain to what limits it most.
void addLimit(plan::CommandOpInterface command, const SymbolTable &kernels,
              const plan::MachineModel &machine, TimeReport &report) {
  plan::Work work = command.getWork(kernels);
  double arithmetic = double(work.flops) / machine.flopsPerSecond,
         traffic = double(work.bytes) / machine.bytesPerSecond;
  if (std::max(arithmetic, traffic) < machine.launchSeconds)
    report.launching += secondsOf(command);
  else
    (arithmetic > traffic ? report.arithmetic : report.traffic) +=
        secondsOf(command);
}

double copySeconds(plan::ProgramOp program, const SymbolTable &kernels,
                   const plan::MachineModel &machine) {
  llvm::SetVector<Operation *> inputs;
  for (plan::CommandOpInterface command : plan::commandsOf(program))
    for (const plan::Access &access : command.getAccesses(kernels))
      if (access.buffer().getSpace() == plan::Space::Input)
        inputs.insert(access.buffer());
  double bytes = 0;
  for (Operation *input : inputs)
    bytes += double(cast<plan::BufferOp>(input).getBytes());
  // There, and back with the metrics. Large batches come while others are
  // computed.
  constexpr double large = 1 << 20;
  return 2 * machine.launchSeconds +
         (bytes > large ? 0 : bytes / machine.hostBytesPerSecond);
}

} // namespace

TimeReport predictTime(plan::ProgramOp program, const SymbolTable &kernels,
                       const plan::MachineModel &machine) {
  struct End {
    double seconds = 0;
    plan::CommandOpInterface before; // in the longest chain that ends here
  };
  TimeReport report;
  report.machine = machine.name;
  llvm::DenseMap<Value, End> ends;
  plan::CommandOpInterface last;
  for (plan::CommandOpInterface command : plan::commandsOf(program)) {
    End end;
    for (Value token : command.getAfter())
      if (const End &before = ends[token]; before.seconds > end.seconds)
        end = {before.seconds,
               cast<plan::CommandOpInterface>(token.getDefiningOp())};
    end.seconds += secondsOf(command);
    ends[command.getDone()] = end;
    if (end.seconds > report.chainSeconds) {
      report.chainSeconds = end.seconds;
      last = command;
    }
    report.busySeconds +=
        std::max(0.0, secondsOf(command) - machine.launchSeconds) *
        partOf(command, kernels, machine);
  }
  for (; last; last = ends[last.getDone()].before) {
    ++report.chain;
    addLimit(last, kernels, machine, report);
  }
  report.copySeconds = copySeconds(program, kernels, machine);
  report.seconds =
      std::max(report.chainSeconds, report.busySeconds) + report.copySeconds;
  return report;
}

} // namespace dl
