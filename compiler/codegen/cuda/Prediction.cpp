#include "compiler/codegen/cuda/Prediction.h"
#include "compiler/codegen/cuda/LibraryProduct.h"
#include "compiler/codegen/cuda/OrderForm.h"
#include "compiler/codegen/cuda/ScanForm.h"
#include "compiler/codegen/cuda/ScatterForm.h"
#include "dialects/plan/Plan.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace dl::cuda {

/// Instructions for each index, element or step that a thread looks at, and
/// those that a processor does in a cycle.
static constexpr double kInstructions = 10, kPerCycle = 128;
/// Cycles from one step of a scan to the next one.
static constexpr double kScanStep = 30;

/// Of a stage whose loops run one after the other: what all threads look at.
static double cyclesOf(const BlockKernel &kernel, const Stage &stage,
                       double processors) {
  const graph::LoopNest &loops = kernel.nest(stage.op);
  double looks = double(loops.points());
  if (auto form = ScanForm::of(kernel, stage))
    return (2 * double(form->part) + kernel.threads()) * kScanStep;
  if (loops.scan)
    return double(loops.extents[loops.scan->at]) * kScanStep;
  if (auto form = OrderForm::of(kernel, stage)) {
    double log = llvm::Log2_64(form->together);
    double sorts = std::ceil(double(form->all) / double(form->together));
    looks = double(kernel.tiles()) * sorts * double(form->together) * log *
            (log + 1) / 4;
  }
  if (auto form = ScatterForm::of(kernel, stage))
    looks = double(kernel.tiles()) *
            double(loops.extents[loops.scatter->over]) *
            (form->together ? 1 : double(form->columns));
  return looks * kInstructions / (kPerCycle * processors);
}

double predictSeconds(const BlockKernel &kernel,
                      const plan::MachineModel &machine) {
  // Few blocks keep few processors busy; half of them fill the memory's bus.
  double part = std::min(1.0, double(kernel.blocks()) / machine.processors);
  double traffic = double(kernel.bytes()) /
                   (machine.bytesPerSecond * std::min(1.0, 2 * part));
  double flops = double(kernel.flops());
  bool isDouble = llvm::any_of(kernel.op()->getResultTypes(), [](Type type) {
    return cast<RankedTensorType>(type).getElementType().isF64();
  });
  if (auto product =
          kernel.op()->getAttrOfType<plan::ProductAttr>(plan::kProduct))
    return machine.launchSeconds +
           std::max(librarySeconds(product, machine),
                    double(kernel.bytes()) / machine.bytesPerSecond);
  if (const auto &product = kernel.contractForm())
    return machine.launchSeconds + std::max(product->seconds(machine), traffic);
  if (kernel.isChain())
    return machine.launchSeconds +
           std::max(kernel.chainSeconds(machine), traffic);
  double rate = isDouble ? machine.f64FlopsPerSecond : machine.flopsPerSecond;
  // Both factors of each product are read, from a cache at best, whose 128
  // bytes a cycle are 16 products of the 128 that are computed.
  if (kernel.hasContraction())
    rate /= 8;
  double seconds = std::max(flops / (rate * part), traffic);
  for (const Stage &stage : kernel.stages())
    if (stage.sequential)
      seconds =
          std::max(seconds, cyclesOf(kernel, stage, part * machine.processors) /
                                ContractForm::cyclesPerSecond);
  // The last block waits for the others' parts, and reads them.
  if (kernel.splits() > 1)
    seconds += machine.launchSeconds;
  return machine.launchSeconds + seconds;
}

} // namespace dl::cuda
