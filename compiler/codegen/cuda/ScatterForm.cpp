#include "compiler/codegen/cuda/ScatterForm.h"
#include "dialects/graph/Inference.h"
#include "dialects/graph/TensorBytes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace dl::cuda {

/// So few indices take an element less time than lists of them.
static constexpr int64_t kFewIndices = 64;
/// Of sums in shared memory; with lists three blocks fit into each chip's.
static constexpr int64_t kSumBytes = 32 << 10;
static constexpr int64_t kMostColumns = 128, kScatterBlocks = 1024;

static int64_t sumBytesOf(const Stage &stage) {
  return std::max<int64_t>(
      4, graph::elementBytes(graph::elementOf(stage.op->getResult(0))));
}

static bool hasManyIndices(const BoundKernel &kernel, const Stage &stage) {
  const graph::LoopNest &loops = kernel.nest(stage.op);
  return loops.scatter && loops.extents[loops.scatter->over] > kFewIndices;
}

int64_t ScatterForm::sharedBytes(unsigned threads) const {
  int64_t bytes = llvm::alignTo(sumBytes(), 16);
  // Places and rows of what is found, and how much each thread has found.
  return together ? bytes + int64_t(threads) * (2 * kEach + 1) * 4 + 64 : bytes;
}

std::optional<ScatterForm> ScatterForm::of(const BlockKernel &kernel,
                                           const Stage &stage) {
  if (!hasManyIndices(kernel, stage))
    return std::nullopt;
  const graph::LoopNest &loops = kernel.nest(stage.op);
  ScatterForm form{kernel.tileExtent(stage, loops.scatter->at), 1, true,
                   sumBytesOf(stage)};
  for (unsigned d = 0; d < loops.numParallel; ++d) {
    if (d == loops.scatter->at || kernel.tileExtent(stage, d) == 1)
      continue;
    form.columns *= kernel.tileExtent(stage, d);
    form.together &= !loops.accesses[0].map.isFunctionOfDim(d);
  }
  return form.sumBytes() <= kSumBytes ? std::optional(form) : std::nullopt;
}

std::optional<SmallVector<int64_t, 6>>
ScatterForm::tileSizes(const BoundKernel &kernel) {
  const Stage &root = kernel.root();
  if (!hasManyIndices(kernel, root))
    return std::nullopt;
  unsigned at = kernel.nest(root.op).scatter->at;
  SmallVector<int64_t, 6> sizes = kernel.leastTile();
  // Threads are columns that lie next to one another.
  int64_t columns = 1, others = 1;
  for (unsigned d : llvm::reverse(kernel.cutOrder())) {
    const kernel::GridDim &dim = kernel.grid()[d];
    if (d == at)
      continue;
    if (columns == 1 && dim.canCut)
      sizes[d] =
          std::min(dim.extent, int64_t(llvm::alignTo(kMostColumns, dim.block)));
    columns *= sizes[d];
    others *= llvm::divideCeil(dim.extent, sizes[d]);
  }
  const kernel::GridDim &along = kernel.grid()[at];
  int64_t most = kSumBytes / (sumBytesOf(root) * columns);
  if (!along.canCut || along.block != 1 || most < 1)
    return std::nullopt;
  int64_t wanted = llvm::divideCeil(along.extent * others, kScatterBlocks);
  sizes[at] = std::clamp<int64_t>(wanted, 1, std::min(most, along.extent));
  return sizes;
}

} // namespace dl::cuda
