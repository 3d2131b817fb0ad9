#include "compiler/codegen/cuda/OrderForm.h"
#include "dialects/graph/Inference.h"
#include "dialects/graph/TensorBytes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace dl::cuda {

/// Rows in which each element counts those that come before it.
static constexpr int64_t kShortSort = 256;
/// About as much as each chip gives to a block that asks for it.
static constexpr int64_t kSortBytes = 96 << 10;

std::optional<OrderForm> OrderForm::of(const BoundKernel &kernel,
                                       const Stage &stage) {
  const graph::LoopNest &loops = kernel.nest(stage.op);
  if (!loops.ordered || loops.extents[loops.ordered->over] <= kShortSort)
    return std::nullopt;
  OrderForm form;
  form.all = loops.extents[loops.ordered->over];
  form.results = loops.extents[loops.ordered->at];
  form.elementBytes = std::max<int64_t>(
      4, graph::elementBytes(graph::elementOf(stage.op->getOperand(0))));
  int64_t room =
      llvm::bit_floor(uint64_t(kSortBytes / (form.elementBytes + 4)));
  form.together = std::min(room, int64_t(llvm::bit_ceil(uint64_t(form.all))));
  return form.isWhole() || 2 * form.results <= room ? std::optional(form)
                                                    : std::nullopt;
}

std::optional<SmallVector<int64_t, 6>>
OrderForm::tileSizes(const BoundKernel &kernel) {
  if (!of(kernel, kernel.root()))
    return std::nullopt;
  return kernel.leastTile();
}

} // namespace dl::cuda
