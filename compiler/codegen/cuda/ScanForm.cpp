#include "compiler/codegen/cuda/ScanForm.h"
#include "dialects/graph/Inference.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace dl::cuda {

/// Steps of a row that are worth a block, and rows that are enough for threads.
static constexpr int64_t kShortRow = 512, kManyRows = 8192, kSomeRows = 128;
static constexpr int64_t kThreads = 256;

std::optional<ScanForm> ScanForm::of(const BoundKernel &kernel,
                                     const Stage &stage) {
  const graph::LoopNest &loops = kernel.nest(stage.op);
  if (!loops.scan || loops.extents[loops.scan->at] < kShortRow)
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
  return ScanForm{int64_t(llvm::divideCeil(length, kThreads))};
}

std::optional<SmallVector<int64_t, 6>>
ScanForm::tileSizes(const BoundKernel &kernel) {
  if (!of(kernel, kernel.root()))
    return std::nullopt;
  SmallVector<int64_t, 6> sizes;
  for (const kernel::GridDim &dim : kernel.grid())
    sizes.push_back(dim.canCut ? dim.block : dim.extent);
  return sizes;
}

} // namespace dl::cuda
