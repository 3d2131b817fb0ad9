#include "compiler/codegen/cuda/LibraryProduct.h"
#include "compiler/codegen/kernel/LinearOperand.h"
#include "dialects/graph/TensorBytes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <array>
#include <tuple>

using namespace mlir;

namespace dl::cuda {
namespace {

using kernel::Placement;
using kernel::StagedKernel;

constexpr unsigned A = 0, B = 1, D = 2;

/// Some loops that are one: how many iterations, and elements from one to the
/// next of each matrix.
struct Axis {
  int64_t extent = 1;
  std::array<int64_t, 3> strides = {0, 0, 0};
};

/// Loops of one kind, as few as can be, the innermost first: those whose
/// elements stand one behind the other in all matrices are one.
SmallVector<Axis, 4> joined(SmallVector<Axis, 4> loops) {
  auto key = [](const Axis &axis) {
    return std::tuple(*llvm::max_element(axis.strides), axis.strides,
                      axis.extent);
  };
  llvm::sort(loops,
             [&](const Axis &x, const Axis &y) { return key(x) < key(y); });
  SmallVector<Axis, 4> axes;
  for (const Axis &loop : loops) {
    bool follows = !axes.empty();
    for (unsigned i : {A, B, D})
      follows = follows &&
                loop.strides[i] == axes.back().strides[i] * axes.back().extent;
    if (follows)
      axes.back().extent *= loop.extent;
    else
      axes.push_back(loop);
  }
  return axes;
}

class Reading {
public:
  Reading(const StagedKernel &kernel, StringRef &why)
      : kernel(kernel), stage(kernel.stages().back()),
        nest(kernel.nest(stage.op)), why(why) {}

  plan::ProductAttr product(bool tf32) {
    if (!isAlone() || !findStrides() || !sortLoops())
      return {};
    // Rows and columns change places where the result stands column by column.
    if (columns.extent > 1 && columns.strides[D] != 1) {
      std::swap(rows, columns);
      std::swap(first, second);
    }
    if (columns.extent > 1 && columns.strides[D] != 1)
      return refuse("neighbours of its result are not neighbours in memory");
    auto a = matrix(first, rows, sums), b = matrix(second, sums, columns),
         d = matrix(D, rows, columns);
    if (!a || !b || !d)
      return refuse("neighbours of an operand are not neighbours in memory");
    MLIRContext *context = stage.op->getContext();
    auto arithmetic = element.isF64() ? plan::Arithmetic::F64
                      : tf32          ? plan::Arithmetic::TF32
                                      : plan::Arithmetic::F32;
    return plan::ProductAttr::get(context, batches.extent, rows.extent,
                                  columns.extent, sums.extent, a, b, d,
                                  arithmetic, workspaceBytes());
  }

private:
  plan::ProductAttr refuse(StringRef reason) {
    why = reason;
    return {};
  }

  /// Nothing but the product of what is in memory.
  bool isAlone() {
    bool alone = kernel.stages().size() == 1 && stage.contraction &&
                 !stage.epilogue && stage.followers.empty() &&
                 kernel.op()->getNumResults() == 1;
    element = cast<RankedTensorType>(stage.op->getResult(0).getType())
                  .getElementType();
    bool known = element.isF32() || element.isF64();
    for (Value operand : stage.op->getOperands())
      known &=
          cast<RankedTensorType>(operand.getType()).getElementType() == element;
    if (!alone || !known)
      why = "it is no product of matrices alone";
    return alone && known;
  }

  bool findStrides() {
    const Placement &result = kernel.placement(stage.op->getResult(0));
    for (unsigned dim = 0; dim < nest.extents.size(); ++dim)
      strides[D].push_back(dim < nest.numParallel ? result.strides[dim] : 0);
    bindings[D] = kernel.op()->getNumOperands() + result.number;
    SmallVector<AffineExpr> dims;
    for (unsigned dim = 0; dim < nest.extents.size(); ++dim)
      dims.push_back(getAffineDimExpr(dim, stage.op->getContext()));
    for (unsigned i : {A, B}) {
      const graph::Access &access = nest.accesses[i];
      if (access.outside || !access.guards.empty() || access.indirect) {
        why = "it looks beyond an operand, as convolutions do";
        return false;
      }
      auto index = kernel::accessAt(access, dims);
      SmallVector<AffineExpr> at(index.begin(), index.end());
      Value leaf = kernel.viewedLeaf(stage.op->getOperand(i), at);
      if (!leaf || kernel.placement(leaf).kind != Placement::Operand) {
        why = "an operand is computed while it is read";
        return false;
      }
      const Placement &operand = kernel.placement(leaf);
      bindings[i] = operand.number;
      strides[i].assign(nest.extents.size(), 0);
      int64_t constant = 0;
      for (auto [expr, stride] : llvm::zip_equal(at, operand.strides))
        if (failed(kernel::addLinear(expr, stride, strides[i], constant))) {
          why = "an operand is not read at even strides";
          return false;
        }
      if (constant != 0 || !operand.offsets.empty() ||
          llvm::any_of(strides[i], [](int64_t s) { return s < 0; })) {
        why = "an operand begins within another tensor";
        return false;
      }
    }
    return true;
  }

  bool sortLoops() {
    SmallVector<Axis, 4> kinds[4];
    enum { Batches, Rows, Columns, Sums };
    for (unsigned dim = 0; dim < nest.extents.size(); ++dim) {
      Axis axis{nest.extents[dim],
                {strides[A][dim], strides[B][dim], strides[D][dim]}};
      if (axis.extent == 1)
        continue;
      bool inA = axis.strides[A] != 0, inB = axis.strides[B] != 0;
      bool isSum = dim >= nest.numParallel;
      if (isSum ? !inA || !inB : !inA && !inB) {
        why = "it reads an element again and again";
        return false;
      }
      kinds[isSum        ? Sums
            : inA && inB ? Batches
            : inA        ? Rows
                         : Columns]
          .push_back(axis);
    }
    for (SmallVector<Axis, 4> &kind : kinds)
      kind = joined(std::move(kind));
    // One factor for all of a batch.
    for (auto kind : {Rows, Columns})
      if (kinds[Batches].empty() && kinds[kind].size() == 2)
        kinds[Batches].push_back(kinds[kind].pop_back_val());
    Axis *wanted[] = {&batches, &rows, &columns, &sums};
    for (auto kind : {Batches, Rows, Columns, Sums}) {
      if (kinds[kind].size() > 1) {
        why = kind == Batches ? "its batches lie at several strides"
              : kind == Sums  ? "what it sums lies at several strides"
                              : "its rows or columns lie at several strides";
        return false;
      }
      if (!kinds[kind].empty())
        *wanted[kind] = kinds[kind].front();
    }
    return true;
  }

  /// Null where neither rows nor columns are neighbours in memory, or where
  /// they overlap.
  plan::MatrixAttr matrix(unsigned which, const Axis &down,
                          const Axis &across) const {
    auto stored = [&](const Axis &outer, const Axis &inner,
                      bool transposed) -> plan::MatrixAttr {
      int64_t stride = outer.extent == 1 ? inner.extent : outer.strides[which];
      if ((inner.extent > 1 && inner.strides[which] != 1) ||
          stride < inner.extent)
        return {};
      return plan::MatrixAttr::get(stage.op->getContext(), bindings[which],
                                   stride, batches.strides[which], transposed);
    };
    if (auto straight = stored(down, across, false))
      return straight;
    return which == D ? plan::MatrixAttr() : stored(across, down, true);
  }

  /// Parts of sums of up to 16 blocks, and what a library needs besides; no
  /// more than the 32 MiB that cuBLAS's documentation recommends for Hopper
  /// (https://docs.nvidia.com/cuda/cublas/#cublassetworkspace).
  int64_t workspaceBytes() const {
    constexpr int64_t most = 32 << 20, least = 1 << 20, parts = 16;
    int64_t result = graph::tensorBytes(stage.op->getResult(0).getType());
    return std::min(most, least + int64_t(llvm::alignTo(parts * result, 256)));
  }

  const StagedKernel &kernel;
  const kernel::Stage &stage;
  const graph::LoopNest &nest;
  StringRef &why;
  Type element;
  SmallVector<int64_t, 8> strides[3];
  int64_t bindings[3] = {};
  Axis batches, rows, columns, sums;
  unsigned first = A, second = B;
};

} // namespace

plan::ProductAttr libraryProduct(const StagedKernel &kernel, bool tf32,
                                 StringRef &why) {
  return Reading(kernel, why).product(tf32);
}

} // namespace dl::cuda
