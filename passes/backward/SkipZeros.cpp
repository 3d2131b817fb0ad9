// skip-zeros: products do not multiply the zeros around what was put into a
// tensor of zeros.
#include "passes/backward/Box.h"
#include "passes/backward/Passes.h"

namespace dl {
#define GEN_PASS_DEF_SKIPZEROS
#include "passes/backward/Passes.h.inc"
} // namespace dl

using namespace mlir;
using namespace dl;

namespace {

struct Part {
  Value value;
  Box box; ///< where it lies
};
/// What a tensor consists of: parts that do not meet, and zeros.
using Parts = SmallVector<Part, 2>;

bool isFull(Value x, double value) {
  auto full = x.getDefiningOp<graph::FullOp>();
  return full && full.getValue().convertToDouble() == value &&
         !full.getValue().isNegative();
}

/// Of a tensor in a frame of zeros.
std::optional<Part> inFrame(graph::PadOp pad) {
  auto isZero = [](int64_t width) { return width == 0; };
  if (!pad || !pad.getValue().isZero() ||
      !llvm::all_of(pad.getInterior(), isZero) ||
      llvm::any_of(pad.getLow(), [](int64_t width) { return width < 0; }) ||
      llvm::any_of(pad.getHigh(), [](int64_t width) { return width < 0; }))
    return std::nullopt;
  return Part{pad.getX(), Box(pad.getLow(), graph::shapeOf(pad.getX()))};
}

class ZeroParts {
public:
  explicit ZeroParts(graph::StepOp step) : builder(step.getContext()) {
    SmallVector<Operation *> ops(llvm::make_pointer_range(step.getOps()));
    for (Operation *op : ops)
      if (op->getNumResults() == 1) {
        builder.setInsertionPointAfter(op);
        if (std::optional<Parts> parts = partsOf(op))
          note(op, std::move(*parts));
      }
  }

private:
  /// A part that is all of it takes its place. (What is asked for its gradient
  /// is read as it is.)
  void note(Operation *op, Parts parts) {
    Value result = op->getResult(0);
    if (llvm::any_of(result.getUsers(), [](Operation *user) {
          return isa<graph::GradientsOp>(user);
        }))
      return;
    if (parts.size() == 1 && parts[0].box == Box(result))
      result.replaceAllUsesWith(parts[0].value);
    else
      known[result] = std::move(parts);
  }

  const Parts *lookup(Value x) const {
    auto found = known.find(x);
    return found == known.end() ? nullptr : &found->second;
  }

  std::optional<Parts> partsOf(Operation *op) {
    if (isFull(op->getResult(0), 0) &&
        isa<FloatType>(graph::elementOf(op->getResult(0))))
      return Parts();
    if (auto pad = dyn_cast<graph::PadOp>(op)) {
      std::optional<Part> part = inFrame(pad);
      return part ? std::optional(Parts{*part}) : std::nullopt;
    }
    if (auto select = dyn_cast<graph::SelectOp>(op))
      return afterSelect(select);
    if (isa<graph::NegOp, graph::MulOp, graph::AddOp, graph::SubOp>(op))
      return afterElementwise(op);
    if (auto reshape = dyn_cast<graph::ReshapeOp>(op))
      return afterReshape(reshape);
    if (auto matmul = dyn_cast<graph::MatmulOp>(op))
      return afterProduct(matmul);
    return std::nullopt;
  }

  /// Of a part that is assigned: where the mask says, which is one box.
  std::optional<Parts> afterSelect(graph::SelectOp op) {
    if (llvm::any_of(op->getOperands(), [&](Value x) {
          return graph::shapeOf(x) != graph::shapeOf(op.getResult());
        }))
      return std::nullopt;
    auto mask = inFrame(op.getCond().getDefiningOp<graph::PadOp>());
    const Parts *put = lookup(op.getA()), *there = lookup(op.getB());
    if (!mask || !isFull(mask->value, 1) || !put || !there ||
        put->size() != 1 || put->front().box != mask->box ||
        llvm::any_of(*there, [&](const Part &part) {
          return part.box.meets(mask->box);
        }))
      return std::nullopt;
    Parts parts = *there;
    parts.push_back(put->front());
    return parts;
  }

  std::optional<Parts> afterElementwise(Operation *op) {
    Value result = op->getResult(0);
    SmallVector<const Parts *> parts;
    const Parts *any = nullptr;
    for (Value operand : op->getOperands()) {
      bool isWhole = graph::shapeOf(operand) == graph::shapeOf(result);
      parts.push_back(isWhole ? lookup(operand) : nullptr);
      any = parts.back() ? parts.back() : any;
    }
    if (!any || (isa<graph::AddOp, graph::SubOp>(op) &&
                 llvm::any_of(parts, [&](const Parts *own) {
                   return !own || !haveSameBoxes(*own, *any);
                 })))
      return std::nullopt;
    Parts made;
    for (auto [i, part] : llvm::enumerate(*any)) {
      SmallVector<Value> operands;
      for (auto [operand, own] : llvm::zip(op->getOperands(), parts))
        operands.push_back(own && haveSameBoxes(*own, *any)
                               ? (*own)[i].value
                               : broadcastPart(op, operand, part.box));
      Operation *narrow = cloneFor(builder, op, operands, part.box.sizes);
      if (!narrow)
        return std::nullopt;
      made.push_back({narrow->getResult(0), part.box});
    }
    return made;
  }

  static bool haveSameBoxes(const Parts &a, const Parts &b) {
    return a.size() == b.size() && llvm::all_of(llvm::zip(a, b), [](auto both) {
             return std::get<0>(both).box == std::get<1>(both).box;
           });
  }

  /// Dims that are missing, or of size 1, are repeated.
  Value broadcastPart(Operation *op, Value x, const Box &box) {
    Box own(x);
    size_t missing = box.sizes.size() - own.sizes.size();
    for (size_t d = 0; d < own.sizes.size(); ++d)
      if (own.sizes[d] != 1) {
        own.offsets[d] = box.offsets[missing + d];
        own.sizes[d] = box.sizes[missing + d];
      }
    return take(builder, op->getLoc(), x, own);
  }

  /// A dim becomes several, or several one, in whole rows.
  std::optional<Parts> afterReshape(graph::ReshapeOp op) {
    const Parts *parts = lookup(op.getX());
    if (!parts)
      return std::nullopt;
    Parts made;
    for (const Part &part : *parts) {
      std::optional<Box> box = reshaped(part.box, graph::shapeOf(op.getX()),
                                        graph::shapeOf(op.getResult()));
      Operation *narrow =
          box ? cloneFor(builder, op, part.value, box->sizes) : nullptr;
      if (!narrow)
        return std::nullopt;
      made.push_back({narrow->getResult(0), *box});
    }
    return made;
  }

  static std::optional<Box> reshaped(const Box &box, ArrayRef<int64_t> from,
                                     ArrayRef<int64_t> to) {
    Box made(SmallVector<int64_t, 6>(to.size(), 0), to);
    size_t i = 0, j = 0;
    while (i < from.size() || j < to.size()) {
      // As many dims of both as make as many elements.
      size_t firstFrom = i, firstTo = j;
      int64_t a = i < from.size() ? from[i++] : 1,
              b = j < to.size() ? to[j++] : 1;
      while (a != b)
        if (a < b && i < from.size())
          a *= from[i++];
        else if (b < a && j < to.size())
          b *= to[j++];
        else
          return std::nullopt;
      // Of the first of them some, and all of the others.
      int64_t inner = 1, innerTo = 1;
      for (size_t d = firstFrom + 1; d < i; ++d) {
        if (box.sizes[d] != from[d])
          return std::nullopt;
        inner *= from[d];
      }
      if (firstFrom == i || box.sizes[firstFrom] == from[firstFrom])
        continue;
      for (size_t d = firstTo + 1; d < j; ++d)
        innerTo *= to[d];
      int64_t offset = box.offsets[firstFrom] * inner,
              size = box.sizes[firstFrom] * inner;
      if (firstTo == j || offset % innerTo || size % innerTo)
        return std::nullopt;
      made.offsets[firstTo] = offset / innerTo;
      made.sizes[firstTo] = size / innerTo;
    }
    return made;
  }

  /// Of each part; what lies in one place is added up.
  std::optional<Parts> afterProduct(graph::MatmulOp op) {
    const Parts *a = lookup(op.getA()), *b = lookup(op.getB());
    if (!a == !b) // of two with zeros one would do
      return std::nullopt;
    const Parts &parts = a ? *a : *b;
    auto [labels, ofResult] = op.getSpec().split("->");
    auto [ofA, ofB] = labels.split(',');
    StringRef own = a ? ofA : ofB, other = a ? ofB : ofA;
    int64_t elements = 0;
    for (const Part &part : parts)
      elements += part.box.elements();
    if (parts.empty() ||
        4 * elements > 3 * Box(a ? op.getA() : op.getB()).elements())
      return std::nullopt;
    Parts made;
    for (const Part &part : parts) {
      auto along = [&](StringRef dims, Box box) {
        for (auto [d, label] : llvm::enumerate(dims))
          if (size_t at = own.find(label); at != StringRef::npos) {
            box.offsets[d] = part.box.offsets[at];
            box.sizes[d] = part.box.sizes[at];
          }
        return box;
      };
      Value factor = a ? op.getB() : op.getA();
      factor = take(builder, op.getLoc(), factor, along(other, Box(factor)));
      Box box = along(ofResult, Box(op.getResult()));
      SmallVector<Value, 2> operands{part.value, factor};
      if (!a)
        std::swap(operands[0], operands[1]);
      Operation *product = cloneFor(builder, op, operands, box.sizes);
      if (!product || !addPart(made, {product->getResult(0), box}))
        return std::nullopt;
    }
    return made;
  }

  bool addPart(Parts &parts, Part part) {
    for (Part &other : parts)
      if (other.box == part.box) {
        other.value = graph::AddOp::create(builder, part.value.getLoc(),
                                           other.value, part.value);
        return true;
      } else if (other.box.meets(part.box)) {
        return false;
      }
    parts.push_back(part);
    return true;
  }

  OpBuilder builder;
  llvm::DenseMap<Value, Parts> known;
};

struct SkipZeros : dl::impl::SkipZerosBase<SkipZeros> {
  void runOnOperation() override {
    if (!getOperation().getOps<graph::GradientsOp>().empty())
      ZeroParts{getOperation()};
  }
};

} // namespace
