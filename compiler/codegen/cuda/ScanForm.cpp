#include "compiler/codegen/cuda/ScanForm.h"
#include "dialects/graph/Inference.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace dl::cuda {

/// Steps of a row that are worth a block, and rows that are enough for threads.
static constexpr int64_t kShortScan = 512, kManyRows = 8192, kSomeRows = 128;

std::optional<ScanForm> ScanForm::of(const BoundKernel &kernel,
                                     const Stage &stage) {
  const graph::LoopNest &loops = kernel.nest(stage.op);
  if (!loops.scan || loops.extents[loops.scan->at] < kShortScan)
    return std::nullopt;
  int64_t length = loops.extents[loops.scan->at], rows = 1;
  for (unsigned d = 0; d < loops.numParallel; ++d)
    rows *= d == loops.scan->at ? 1 : loops.extents[d];
  // Rows beside one another are read together by threads that have one each.
  Value result = stage.op->getResult(0);
  auto strides =
      kernel::stridesOf(kernel.shapeOf(result), kernel.orderOf(result));
  bool isAlong = strides[loops.scan->at] == 1;
  if (rows > (isAlong ? kManyRows : kSomeRows))
    return std::nullopt;
  return ScanForm{int64_t(llvm::divideCeil(length, kBlockThreads))};
}

std::optional<SmallVector<int64_t, 6>>
ScanForm::tileSizes(const BoundKernel &kernel) {
  if (!of(kernel, kernel.root()))
    return std::nullopt;
  return kernel.leastTile();
}

} // namespace dl::cuda
