#include "compiler/codegen/cuda/LibraryProduct.h"
#include "compiler/codegen/kernel/LinearOperand.h"
#include "dialects/graph/FullPrecision.h"
#include "dialects/graph/Inference.h"
#include "dialects/graph/PayloadFacts.h"
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

/// Two more are what is added to it.
constexpr unsigned A = 0, B = 1, D = 2, Added = 3, All = 5;

/// Bytes at multiples of which rows begin that the library's fast kernels take
/// (https://docs.nvidia.com/cuda/cublas/#tensor-core-usage).
constexpr int64_t kAlignment = 16;

/// Some loops that are one: how many iterations, and elements from one to the
/// next of each matrix.
struct Axis {
  int64_t extent = 1;
  std::array<int64_t, All> strides = {};
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
    for (unsigned i = 0; i < All; ++i)
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
    if (!isAlone() || !findStrides() || !findAdded() || !sortLoops())
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
    plan::MatrixAttr c;
    int64_t bias = -1;
    for (unsigned i = Added; i < Added + numAdded; ++i) {
      if (isBias(i, d) && bias == -1)
        bias = bindings[i];
      else if (!c && lies(i, D))
        c = matrix(i, rows, columns);
      else
        return refuse("what is added to it is no matrix that lies as it does");
    }
    MLIRContext *context = stage.op->getContext();
    if (isNarrow[A] != isNarrow[B])
      return refuse("only one of its operands is bf16");
    auto arithmetic = element.isF64() ? plan::Arithmetic::F64
                      : isRounded     ? plan::Arithmetic::BF16
                      : isNarrow[A]   ? plan::Arithmetic::BF16ToF32
                      : tf32 && !graph::hasFullPrecision(stage.op)
                          ? plan::Arithmetic::TF32
                          : plan::Arithmetic::F32;
    if (isRounded && !isNarrow[A])
      return refuse("its result is rounded to bf16, and not its operands");
    return plan::ProductAttr::get(context, batches.extent, rows.extent,
                                  columns.extent, sums.extent, a, b, d, c, bias,
                                  arithmetic, workspaceBytes());
  }

  /// Of a product that has been read.
  Multiples multiples() const {
    Multiples result;
    for (unsigned which : {A, B, D}) {
      bool isBf16 = which == D ? isRounded : isNarrow[which];
      int64_t bytes = isBf16 ? 2 : element.getIntOrFloatBitWidth() / 8,
              together = kAlignment / bytes;
      bool isOff = offsets[which] % together != 0;
      std::optional<unsigned> along; // a row's neighbours
      for (auto [dim, stride] : llvm::enumerate(strides[which])) {
        if (nest.extents[dim] == 1 || stride == 0)
          continue;
        if (stride == 1)
          along = dim;
        else
          isOff |= stride % together != 0;
      }
      if (!isOff || !along || nest.extents[*along] % together == 0)
        continue;
      bool inA = strides[A][*along] != 0, inB = strides[B][*along] != 0;
      int64_t &multiple = !inB   ? result.rows
                          : !inA ? result.columns
                                 : result.sums;
      if (*along >= nest.numParallel || inA != inB)
        multiple = std::max(multiple, together);
    }
    return result;
  }

private:
  plan::ProductAttr refuse(StringRef reason) {
    why = reason;
    return {};
  }

  /// Nothing but the product of what is in memory, and what is added to it.
  bool isAlone() {
    bool alone = kernel.stages().size() == 1 && stage.contraction &&
                 kernel.op()->getNumResults() == 1;
    result = stage.op->getResult(0);
    while (alone && result.hasOneUse() && numAdded < All - Added) {
      OpOperand &use = *result.getUses().begin();
      auto add = dyn_cast<graph::LoopNestOpInterface>(use.getOwner());
      if (!add || !graph::payloadFacts(add).isAddition ||
          add->getResult(0).getType() != result.getType() ||
          !kernel.nest(add).accesses[use.getOperandNumber()].map.isIdentity())
        break;
      additions[numAdded++] = {add, 1 - use.getOperandNumber()};
      result = add->getResult(0);
    }
    if (alone && result.hasOneUse() && numAdded == 0)
      if (auto round =
              dyn_cast<graph::LoopNestOpInterface>(*result.getUsers().begin());
          round && graph::payloadFacts(round).isRounding) {
        isRounded = true;
        result = round->getResult(0);
      }
    alone = alone && kernel.isPlaced(result) &&
            kernel.placement(result).kind == Placement::Result;
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
    const Placement &place = kernel.placement(result);
    for (unsigned dim = 0; dim < nest.extents.size(); ++dim)
      strides[D].push_back(dim < nest.numParallel ? place.strides[dim] : 0);
    bindings[D] = kernel.op()->getNumOperands() + place.number;
    SmallVector<AffineExpr> dims;
    for (unsigned dim = 0; dim < nest.extents.size(); ++dim)
      dims.push_back(getAffineDimExpr(dim, stage.op->getContext()));
    for (unsigned i : {A, B}) {
      const graph::Access &access = nest.accesses[i];
      if (access.outside || !access.guards.empty() || access.indirect) {
        why = "it looks beyond an operand, as convolutions do";
        return false;
      }
      if (!findStrides(i, stage.op->getOperand(i), access, dims))
        return false;
    }
    return true;
  }

  /// Of what one of the matrices is read from.
  bool findStrides(unsigned which, Value value, const graph::Access &access,
                   ArrayRef<AffineExpr> dims) {
    auto index = kernel::accessAt(access, dims);
    SmallVector<AffineExpr> at(index.begin(), index.end());
    Value leaf = kernel.viewedLeaf(value, at, StagedKernel::Seen::Widened);
    if (!leaf || kernel.placement(leaf).kind != Placement::Operand) {
      why = "an operand is computed while it is read";
      return false;
    }
    if (which <= B)
      isNarrow[which] = graph::elementOf(leaf).isBF16();
    else if (graph::elementOf(leaf).isBF16()) {
      why = "what is added to it is bf16";
      return false;
    }
    const Placement &operand = kernel.placement(leaf);
    bindings[which] = operand.number;
    strides[which].assign(nest.extents.size(), 0);
    int64_t constant = 0;
    for (auto [expr, stride] : llvm::zip_equal(at, operand.strides))
      if (failed(kernel::addLinear(expr, stride, strides[which], constant))) {
        why = "an operand is not read at even strides";
        return false;
      }
    if (constant < 0 || !operand.offsets.empty() ||
        llvm::any_of(strides[which], [](int64_t s) { return s < 0; })) {
      why = "where an operand begins changes from call to call";
      return false;
    }
    offsets[which] = constant;
    return true;
  }

  bool findAdded() {
    for (unsigned i = Added; i < All; ++i)
      strides[i].assign(nest.extents.size(), 0);
    for (unsigned i = 0; i < numAdded; ++i) {
      auto [add, operand] = additions[i];
      const graph::LoopNest &loops = kernel.nest(add);
      const graph::Access &access = loops.accesses[operand];
      if (access.outside || !access.guards.empty() || access.indirect) {
        why = "what is added to it is not there everywhere";
        return false;
      }
      SmallVector<AffineExpr> dims;
      for (unsigned dim = 0; dim < loops.extents.size(); ++dim)
        dims.push_back(getAffineDimExpr(dim, add->getContext()));
      if (!findStrides(Added + i, add->getOperand(operand), access, dims))
        return false;
    }
    return true;
  }

  /// A number for each column. (Where rows of the result are longer than what
  /// they hold, the library has been seen to forget some in f32:
  /// https://github.com/dfyz/cublaslt-bias-epilogue.)
  bool isBias(unsigned which, plan::MatrixAttr d) const {
    return element.isF32() && offsets[which] == 0 && rows.strides[which] == 0 &&
           batches.strides[which] == 0 &&
           (columns.extent == 1 || columns.strides[which] == 1) &&
           static_cast<int64_t>(d.getStride()) == columns.extent;
  }

  /// One matrix has its elements where the other one has them.
  bool lies(unsigned which, unsigned as) const {
    return llvm::all_of(ArrayRef<const Axis *>{&batches, &rows, &columns},
                        [&](const Axis *axis) {
                          return axis->extent == 1 ||
                                 axis->strides[which] == axis->strides[as];
                        });
  }

  bool sortLoops() {
    SmallVector<Axis, 4> kinds[4];
    enum { Batches, Rows, Columns, Sums };
    for (unsigned dim = 0; dim < nest.extents.size(); ++dim) {
      Axis axis{nest.extents[dim], {}};
      for (unsigned i = 0; i < All; ++i)
        axis.strides[i] = strides[i][dim];
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
                                   offsets[which], stride,
                                   batches.strides[which], transposed);
    };
    if (auto straight = stored(down, across, false))
      return straight;
    return which >= D ? plan::MatrixAttr() : stored(across, down, true);
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
  Value result;
  bool isNarrow[2] = {}, isRounded = false;
  struct Addition {
    Operation *op = nullptr;
    unsigned operand = 0; // what it adds
  };
  std::array<Addition, All - Added> additions;
  unsigned numAdded = 0;
  std::array<SmallVector<int64_t, 8>, All> strides;
  std::array<int64_t, All> bindings = {}, offsets = {};
  Axis batches, rows, columns, sums;
  unsigned first = A, second = B;
};

} // namespace

plan::ProductAttr libraryProduct(const StagedKernel &kernel, bool tf32,
                                 StringRef &why, Multiples *multiples) {
  Reading reading(kernel, why);
  plan::ProductAttr product = reading.product(tf32);
  if (product && multiples)
    *multiples = reading.multiples();
  return product;
}

bool isOnTensorCores(plan::Arithmetic arithmetic) {
  return arithmetic != plan::Arithmetic::F32 &&
         arithmetic != plan::Arithmetic::F64;
}

/// Whether tensor cores would be fed element by element.
static bool isMisaligned(plan::ProductAttr product) {
  plan::Arithmetic arithmetic = product.getArithmetic();
  if (!isOnTensorCores(arithmetic))
    return false;
  int64_t m = product.getM(), n = product.getN(), k = product.getK();
  auto is = [&](plan::MatrixAttr matrix, bool isBf16, int64_t rows) {
    int64_t together = kAlignment / (isBf16 ? 2 : 4);
    return matrix && (matrix.getOffset() % together != 0 ||
                      matrix.getBatchStride() % together != 0 ||
                      (rows > 1 && matrix.getStride() % together != 0));
  };
  bool fromBf16 = arithmetic != plan::Arithmetic::TF32,
       toBf16 = arithmetic == plan::Arithmetic::BF16;
  return is(product.getA(), fromBf16, product.getA().getTransposed() ? k : m) ||
         is(product.getB(), fromBf16, product.getB().getTransposed() ? n : k) ||
         is(product.getD(), toBf16, m) || is(product.getC(), toBf16, m);
}

/// Of a machine's rates the one for this arithmetic.
static double rateOf(plan::Arithmetic arithmetic, double f32, double tf32,
                     double bf16, double f64) {
  switch (arithmetic) {
  case plan::Arithmetic::F32:
    return f32;
  case plan::Arithmetic::TF32:
    return tf32;
  case plan::Arithmetic::BF16:
  case plan::Arithmetic::BF16ToF32:
    return bf16;
  case plan::Arithmetic::F64:
    return f64;
  }
  return f32;
}

double productRate(plan::Arithmetic arithmetic,
                   const plan::MachineModel &machine) {
  return rateOf(arithmetic, machine.productF32, machine.productTf32,
                machine.productBf16, machine.productF64);
}

double librarySeconds(plan::ProductAttr product,
                      const plan::MachineModel &machine, int64_t parts) {
  // Measured on an H100: 8192 terms of 384 x 384, 1152 x 384, 1536 x 384 sums
  // take as long as with so many blocks (1.9, 5.6 and 7.5 TFLOP/s in f32).
  constexpr int64_t rows = 128, columns = 256;
  int64_t batch = product.getBatch(), m = product.getM(), n = product.getN();
  int64_t blocks =
      batch * parts *
      std::min(llvm::divideCeil(m, rows) * llvm::divideCeil(n, columns),
               llvm::divideCeil(m, columns) * llvm::divideCeil(n, rows));
  int64_t slots = llvm::alignTo(blocks, machine.processors);
  double flops =
      2.0 * double(batch) * double(m) * double(n) * double(product.getK());
  double rate =
      rateOf(product.getArithmetic(), machine.libraryF32, machine.libraryTf32,
             machine.libraryBf16, machine.libraryF64);
  // Measured on a Hopper, bf16 of 9477 x 588 x 1152, whose rows are of no
  // multiple of 16 bytes: 131 us, and 37 us with 592
  // (https://github.com/m87-labs/kestrel/pull/143).
  constexpr double slower = 3.5;
  if (isMisaligned(product))
    rate /= slower;
  return flops / rate * double(slots) / double(blocks);
}

} // namespace dl::cuda
