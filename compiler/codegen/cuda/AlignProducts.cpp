// align-products: zeros behind what products read whose rows begin at odd
// places.
#include "compiler/codegen/cuda/LibraryProduct.h"
#include "compiler/codegen/cuda/Passes.h"
#include "compiler/codegen/cuda/ProductAlone.h"
#include "dialects/graph/GraphBuilder.h"
#include "dialects/graph/Inference.h"
#include "dialects/graph/LibraryCall.h"
#include "dialects/graph/PayloadFacts.h"
#include "dialects/graph/Step.h"
#include "dialects/graph/StorageOrder.h"
#include "dialects/graph/TensorBytes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace dl {
#define GEN_PASS_DEF_ALIGNPRODUCTS
#include "compiler/codegen/cuda/Passes.h.inc"
} // namespace dl

namespace dl::cuda {
namespace {

/// The value whose first elements a slice takes of each dim, and no others in
/// between; null for any other value.
Value paddedOf(Value value) {
  auto slice = value.getDefiningOp<graph::SliceOp>();
  if (!slice || llvm::any_of(slice.getOffsets(), [](int64_t o) { return o; }) ||
      llvm::any_of(slice.getStrides(), [](int64_t s) { return s != 1; }))
    return {};
  return slice.getX();
}

bool hasLast(Value value, int64_t size) {
  ArrayRef<int64_t> shape = graph::shapeOf(value);
  return !shape.empty() && shape.back() == size;
}

/// The reshape that only joins or cuts dims in front of a last one, which is
/// the only one that differs from that of another shape; null for anything
/// else.
graph::ReshapeOp reshapeInFront(Operation *op, ArrayRef<int64_t> other) {
  auto reshape = dyn_cast_or_null<graph::ReshapeOp>(op);
  if (!reshape || other.empty())
    return {};
  ArrayRef<int64_t> from = graph::shapeOf(reshape.getX()),
                    to = graph::shapeOf(reshape.getResult());
  bool isFrom =
           from.size() == other.size() && from.drop_back() == other.drop_back(),
       isTo = to.size() == other.size() && to.drop_back() == other.drop_back();
  bool keepsLast = !from.empty() && hasLast(reshape.getResult(), from.back());
  return keepsLast && (isFrom || isTo) ? reshape : graph::ReshapeOp();
}

SmallVector<int64_t> withLast(ArrayRef<int64_t> shape, int64_t last) {
  SmallVector<int64_t> result(shape);
  result.back() = last;
  return result;
}

struct AlignProducts : impl::AlignProductsBase<AlignProducts> {
  using Base::Base;

  void runOnOperation() override {
    getOperation().walk([&](graph::StepOp step) {
      padded.clear();
      auto range =
          step.getBody().front().getOps<graph::TransposableOpInterface>();
      for (graph::TransposableOpInterface op : llvm::to_vector(range))
        if (failed(align(op)))
          return signalPassFailure();
    });
  }

private:
  /// Of a value, with zeros up to a shape.
  DenseMap<std::pair<Value, Attribute>, Value> padded;

  /// Of an operand, below what widens it.
  struct Padding {
    Value value;
    DenseI64ArrayAttr shape; // to be had
    Type element;            // of the operand

    bool isNone() const { return shape.asArrayRef() == graph::shapeOf(value); }
  };

  double secondsOf(const LibraryCall &call) const {
    plan::ProductAttr product = call.product;
    double flops = 2.0 * double(product.getBatch()) * double(product.getM()) *
                   double(product.getN()) * double(product.getK());
    return std::max(
        double(call.bytes) / machine.bytesPerSecond,
        std::min(librarySeconds(product, machine),
                 flops / productRate(product.getArithmetic(), machine)));
  }

  /// A multiple; of 8 times as much, so that rows begin at lines of caches and
  /// long sums can be cut into parts, where that is hardly more. 50257 with 8:
  /// 50304.
  static int64_t alignedExtent(int64_t extent, int64_t multiple) {
    constexpr int64_t hardly = 64;
    int64_t least = llvm::alignTo(extent, multiple),
            lines = llvm::alignTo(extent, 8 * multiple);
    return multiple > 1 && hardly * (lines - extent) <= extent ? lines : least;
  }

  /// More iterations of loops, one of a kind each.
  static SmallVector<int64_t> alignedExtents(const graph::LoopNest &nest,
                                             const Multiples &multiples) {
    SmallVector<int64_t> extents(nest.extents);
    auto has = [&](unsigned operand, unsigned loop) {
      return nest.accesses[operand].map.isFunctionOfDim(loop);
    };
    auto align = [&](int64_t multiple, bool inFirst, bool inSecond) {
      SmallVector<unsigned, 2> loops;
      for (unsigned loop = 0; loop < extents.size(); ++loop)
        if (extents[loop] > 1 && has(0, loop) == inFirst &&
            has(1, loop) == inSecond &&
            (loop >= nest.numParallel) == (inFirst && inSecond))
          loops.push_back(loop);
      if (loops.size() == 1)
        extents[loops[0]] = alignedExtent(extents[loops[0]], multiple);
    };
    align(multiples.rows, true, false);
    align(multiples.columns, false, true);
    align(multiples.sums, true, true);
    return extents;
  }

  /// The bf16 that an operand, or what it is a part of, is widened from; else
  /// the operand.
  static Value narrowed(Value operand, OpBuilder &builder) {
    auto maker = operand.getDefiningOp<graph::LoopNestOpInterface>();
    if (!maker)
      return operand;
    graph::PayloadFacts facts = graph::payloadFacts(maker);
    if (facts.isWidening)
      return maker->getOperand(0);
    auto widens =
        facts.isView
            ? maker->getOperand(0).getDefiningOp<graph::LoopNestOpInterface>()
            : graph::LoopNestOpInterface();
    if (!widens || !graph::payloadFacts(widens).isWidening)
      return operand;
    Value narrow = widens->getOperand(0);
    Operation *part = builder.clone(*maker);
    part->setOperand(0, narrow);
    part->getResult(0).setType(cast<RankedTensorType>(operand.getType())
                                   .clone(graph::elementOf(narrow)));
    return part->getResult(0);
  }

  Padding paddingOf(Value operand, const graph::Access &access,
                    ArrayRef<int64_t> extents, OpBuilder &builder) {
    SmallVector<int64_t> shape;
    for (auto [index, size] :
         llvm::zip(access.map.getResults(), graph::shapeOf(operand))) {
      auto loop = dyn_cast<AffineDimExpr>(index);
      shape.push_back(loop ? extents[loop.getPosition()] : size);
    }
    return {narrowed(operand, builder),
            DenseI64ArrayAttr::get(&getContext(), shape),
            graph::elementOf(operand)};
  }

  /// To load and store what nobody else has padded.
  double secondsToPad(const Padding &padding) const {
    if (padding.isNone() || padded.contains({padding.value, padding.shape}))
      return 0;
    return machine.serialSeconds +
           2 * double(graph::tensorBytes(padding.value.getType())) /
               machine.bytesPerSecond;
  }

  Value pad(const Padding &padding, graph::GraphBuilder &g) {
    Value value = padding.value;
    ArrayRef<int64_t> shape = padding.shape;
    if (!padding.isNone()) {
      Value &known = padded[{value, padding.shape}];
      if (!known) {
        // Whoever makes rows can make them longer.
        auto reshape = reshapeInFront(value.getDefiningOp(), shape);
        known =
            reshape
                ? g.reshape(zerosBehind(reshape.getX(),
                                        withLast(graph::shapeOf(reshape.getX()),
                                                 shape.back()),
                                        g),
                            shape)
                : zerosBehind(value, shape, g);
      }
      value = known;
    }
    return g.cast(value, padding.element);
  }

  static Value zerosBehind(Value value, ArrayRef<int64_t> shape,
                           graph::GraphBuilder &g) {
    ArrayRef<int64_t> own = graph::shapeOf(value);
    SmallVector<int64_t> none(own.size(), 0), high;
    for (auto [size, of] : llvm::zip(shape, own))
      high.push_back(size - of);
    return g.make<graph::PadOp>(value, none, high, none, APFloat(0.0));
  }

  LogicalResult align(graph::TransposableOpInterface op) {
    auto loops = dyn_cast<graph::LoopNestOpInterface>(op.getOperation());
    if (!loops || op->hasAttr(graph::kChained) ||
        graph::storageOrder(op->getOpResult(0)))
      return success();
    graph::LoopNest nest = loops.getLoopNest();
    if (!nest.contraction)
      return success();
    Operation *round = roundingOf(op);
    SmallVector<Operation *> chain{op};
    if (round)
      chain.push_back(round);
    StringRef why;
    FailureOr<LibraryCall> call = libraryCallOf(chain, tf32, why);
    if (failed(call))
      return failure();
    if (!call->product || !isOnTensorCores(call->product.getArithmetic()))
      return success();
    SmallVector<int64_t> extents = alignedExtents(nest, call->multiples);
    if (llvm::equal(extents, nest.extents))
      return success();

    OpBuilder builder(op);
    graph::GraphBuilder g(builder, op.getLoc());
    Operation *before = op->getPrevNode();
    SmallVector<Value, 2> operands;
    double padding = 0;
    for (auto [operand, access] : llvm::zip(op->getOperands(), nest.accesses)) {
      Padding wanted = paddingOf(operand, access, extents, builder);
      padding += secondsToPad(wanted);
      operands.push_back(pad(wanted, g));
    }
    Value product =
        op.buildTransposed(builder, operands, {false, false, false});
    product.getDefiningOp()->setDiscardableAttrs(
        op->getDiscardableAttrDictionary());
    SmallVector<Operation *> aligned{product.getDefiningOp()};
    if (round) {
      product = g.cast(product, graph::elementOf(round->getResult(0)));
      aligned.push_back(product.getDefiningOp());
    }
    FailureOr<LibraryCall> alignedCall = libraryCallOf(aligned, tf32, why);
    if (failed(alignedCall))
      return failure();
    if (!alignedCall->product ||
        secondsOf(*alignedCall) + padding >= secondsOf(*call)) {
      takeBack(op, before);
      return success();
    }
    emitRemark(op->getLoc())
        << op->getName().stripDialect()
        << llvm::formatv(": zeros behind its operands have rows begin at "
                         "multiples of 16 bytes: it takes {0:f1} us instead "
                         "of {1:f1}, and {2:f1} us for the zeros",
                         secondsOf(*alignedCall) * 1e6, secondsOf(*call) * 1e6,
                         padding * 1e6)
               .str();
    replace(chain, product);
    return success();
  }

  /// What has been built in front of an op, behind another one or, for null,
  /// from the first.
  void takeBack(Operation *op, Operation *before) {
    while (Operation *last = op->getPrevNode()) {
      if (last == before)
        return;
      erase(last);
    }
  }

  /// And what is known of its results, in whose place others may come.
  void erase(Operation *op) {
    SmallVector<std::pair<Value, Attribute>> known;
    for (auto &[padding, value] : padded)
      if (padding.first.getDefiningOp() == op || value.getDefiningOp() == op)
        known.push_back(padding);
    for (auto &padding : known)
      padded.erase(padding);
    op->erase();
  }

  void replace(ArrayRef<Operation *> chain, Value product) {
    Value old = chain.back()->getResult(0);
    OpBuilder builder(chain.front());
    builder.setInsertionPointAfter(chain.back());
    for (Operation *user : llvm::make_early_inc_range(old.getUsers()))
      if (auto reshape = reshapeInFront(user, graph::shapeOf(product))) {
        graph::GraphBuilder g(builder, reshape.getLoc());
        Value rows =
            g.reshape(product, withLast(graph::shapeOf(reshape.getResult()),
                                        graph::shapeOf(product).back()));
        reshape.replaceAllUsesWith(firstOf(rows, reshape.getType(), builder));
        reshape.erase();
      }
    Value first =
        old.use_empty() ? Value() : firstOf(product, old.getType(), builder);
    if (first)
      old.replaceAllUsesWith(first);
    llvm::SetVector<Value> read(llvm::from_range, chain.front()->getOperands());
    for (Operation *op : llvm::reverse(chain))
      erase(op);
    while (!read.empty()) // what was widened or reshaped for it alone
      if (Operation *maker = read.pop_back_val().getDefiningOp();
          maker && isOpTriviallyDead(maker)) {
        read.insert_range(maker->getOperands());
        erase(maker);
      }
    while (first)
      first = addAll(first);
  }

  /// As many elements of each dim as a type has.
  Value firstOf(Value value, Type type, OpBuilder &builder) {
    if (value.getType() == type)
      return value;
    ArrayRef<int64_t> sizes = cast<RankedTensorType>(type).getShape();
    SmallVector<int64_t> none(sizes.size(), 0), ones(sizes.size(), 1);
    graph::GraphBuilder g(builder, value.getLoc());
    return g.make<graph::SliceOp>(value, none, sizes, ones);
  }

  /// The sum of the first elements of two values, if that is all that is done
  /// with these, as the first elements of a sum. Null elsewhere.
  Value addAll(Value first) {
    Value all = paddedOf(first);
    if (!all || !first.hasOneUse())
      return {};
    Operation *user = *first.getUsers().begin();
    auto add = dyn_cast<graph::LoopNestOpInterface>(user);
    if (!add || !graph::payloadFacts(add).isAddition)
      return {};
    SmallVector<Value, 2> wholes, parts(add->getOperands());
    for (Value part : parts) {
      Value whole = paddedOf(part);
      if (!whole || whole.getType() != all.getType() || !part.hasOneUse())
        return {};
      wholes.push_back(whole);
    }
    Value sum = add->getResult(0);
    Type type = sum.getType();
    add->setOperands(wholes);
    sum.setType(all.getType());
    OpBuilder builder(add->getContext());
    builder.setInsertionPointAfter(add);
    Value result = firstOf(sum, type, builder);
    sum.replaceAllUsesExcept(result, result.getDefiningOp());
    for (Value part : parts)
      part.getDefiningOp()->erase();
    return result;
  }
};

} // namespace
} // namespace dl::cuda
