#include "compiler/codegen/cuda/ContractForm.h"
#include "compiler/codegen/kernel/LinearOperand.h"
#include "dialects/graph/Inference.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace dl::cuda {

using kernel::Stage;
using kernel::StagedKernel;

/// Processors of the chips that tiles are chosen for. A constant: the same plan
/// gives the same bits on each chip.
static constexpr int64_t kProcessors = 132;
static constexpr int64_t kMaxNumbers = 64;

static bool reads(const graph::Access &access, unsigned dim) {
  return access.map.isFunctionOfDim(dim) ||
         llvm::any_of(access.guards, [&](AffineExpr guard) {
           return guard.isFunctionOfDim(dim);
         });
}

static int64_t product(const graph::LoopNest &nest, ArrayRef<unsigned> dims) {
  int64_t count = 1;
  for (unsigned d : dims)
    count *= nest.extents[d];
  return count;
}

/// The last dim that has more than one index.
static std::optional<unsigned> innermost(const graph::LoopNest &nest,
                                         ArrayRef<unsigned> dims) {
  for (unsigned d : llvm::reverse(dims))
    if (nest.extents[d] > 1)
      return d;
  return std::nullopt;
}

/// Elements from one index of each dim to the next; nothing where that is not
/// known.
static SmallVector<int64_t, 8> stepsOf(const StagedKernel &kernel,
                                       const Stage &stage, unsigned operand) {
  const graph::LoopNest &nest = kernel.nest(stage.op);
  SmallVector<AffineExpr> dims;
  for (unsigned d = 0; d < nest.extents.size(); ++d)
    dims.push_back(getAffineDimExpr(d, stage.op->getContext()));
  SmallVector<AffineExpr> index =
      kernel::accessAt(nest.accesses[operand], dims);
  Value leaf = kernel.viewedLeaf(stage.op->getOperand(operand), index);
  if (!leaf)
    return {};
  SmallVector<int64_t, 8> steps(nest.extents.size(), 0);
  int64_t constant = 0;
  for (auto [expr, stride] :
       llvm::zip(index,
                 kernel::stridesOf(kernel.shapeOf(leaf), kernel.orderOf(leaf))))
    if (failed(kernel::addLinear(expr, stride, steps, constant)))
      return {};
  return steps;
}

static void chooseReading(const StagedKernel &kernel, const Stage &stage,
                          ContractForm::Side &side, ArrayRef<unsigned> sums) {
  const graph::LoopNest &nest = kernel.nest(stage.op);
  auto inSums = innermost(nest, sums), inSide = innermost(nest, side.dims);
  auto steps = stepsOf(kernel, stage, side.operand);
  auto isNext = [&](std::optional<unsigned> dim) {
    return dim && !steps.empty() && steps[*dim] == 1;
  };
  side.alongSums = isNext(inSums) && !isNext(inSide);
  auto along = side.alongSums ? inSums : inSide;
  bool whole = !nest.accesses[side.operand].outside;
  if (!isNext(along) || !whole)
    return;
  Type element =
      cast<RankedTensorType>(stage.op->getOperand(side.operand).getType())
          .getElementType();
  side.vector = element.isF64() ? 2 : 4;
  auto isAligned = [&] {
    for (auto [d, step] : llvm::enumerate(steps))
      if (d != *along && nest.extents[d] > 1 && step % side.vector != 0)
        return false;
    return nest.extents[*along] % side.vector == 0;
  };
  while (side.vector > 1 && !isAligned())
    side.vector /= 2;
}

/// A few numbers that each block computes for itself: 1 - beta, a bias
/// correction.
static bool isSmall(const StagedKernel &kernel, const Stage &stage) {
  return kernel.nest(stage.op).combine == graph::Combine::None &&
         llvm::all_of(stage.results(), [&](OpResult result) {
           return (!kernel.isPlaced(result) || kernel.isInScratch(result)) &&
                  graph::numElements(result) <= kMaxNumbers;
         });
}

std::optional<ContractForm> ContractForm::of(const StagedKernel &kernel) {
  const Stage &stage = kernel.stages().back();
  if (!stage.contraction || !llvm::all_of(ArrayRef(kernel.stages()).drop_back(),
                                          [&](const Stage &before) {
                                            return isSmall(kernel, before);
                                          }))
    return std::nullopt;
  const graph::LoopNest &nest = kernel.nest(stage.op);
  Type element =
      cast<RankedTensorType>(stage.op->getResult(0).getType()).getElementType();
  if (!element.isF32() && !element.isF64())
    return std::nullopt;
  ContractForm form;
  form.isDouble = element.isF64();
  form.tensorCores = element.isF32() && kernel.op()->hasAttr(kTf32);
  Side sides[2];
  sides[0].operand = 0, sides[1].operand = 1;
  unsigned columns = 1;
  for (unsigned d = 0; d < nest.extents.size(); ++d) {
    bool first = reads(nest.accesses[0], d),
         second = reads(nest.accesses[1], d);
    if (d >= nest.numParallel) {
      form.sums.push_back(d);
    } else if (first == second) {
      form.batches.push_back(d);
    } else {
      sides[second].dims.push_back(d);
      if (nest.extents[d] > 1)
        columns = second;
    }
  }
  form.columns = sides[columns];
  form.rows = sides[1 - columns];
  for (Side *side : {&form.rows, &form.columns}) {
    side->extent = product(nest, side->dims);
    chooseReading(kernel, stage, *side, form.sums);
  }
  form.batchExtent = product(nest, form.batches);
  form.sumExtent = product(nest, form.sums);
  form.chooseTiles();
  return form;
}

/// The least time by a simple model: blocks are spread over the processors, a
/// larger tile reads shared memory less often for each product, and parts of
/// sums cost another round through memory.
void ContractForm::chooseTiles() {
  double best = 0;
  ContractForm chosen = *this;
  for (unsigned r : {32u, 64u, 128u})
    for (unsigned c : {32u, 64u, 128u}) {
      if (isDouble && (r > 64 || c > 64))
        continue;
      ContractForm form = *this;
      form.rows.tile = r, form.columns.tile = c;
      form.step = r == 32 && c == 32 ? 32 : 16;
      double efficiency =
          double(r) * c / (double(r) * c + 12.0 * (r + c) + 512);
      for (unsigned s = 1; s <= 64; s *= 2) {
        form.splits = s;
        if (s > 1 && sumExtent < int64_t(s) * 2 * form.step)
          break;
        double waves = double(llvm::divideCeil(form.tiles() * s, kProcessors));
        double cost =
            waves * r * c * double(form.splitExtent() + 48) / efficiency;
        if (s > 1)
          cost += 100e3 + waves * r * c * (8 + 2.0 * s);
        if (best == 0 || cost < best) {
          best = cost;
          chosen = form;
        }
      }
    }
  *this = chosen;
  splits = llvm::divideCeil(sumExtent, splitExtent()); // none is empty
  // Whole vectors for each thread.
  for (Side *side : {&rows, &columns}) {
    unsigned each = side->tile * step / threads;
    while (side->vector > each)
      side->vector /= 2;
  }
}

int64_t ContractForm::splitExtent() const {
  return llvm::alignTo(llvm::divideCeil(sumExtent, splits), step);
}

int64_t ContractForm::sharedBytes() const {
  return 2 * int64_t(step) * (pitch(rows) + pitch(columns)) * elementBytes();
}

} // namespace dl::cuda
