#include "dialects/graph/Step.h"
#include "dialects/graph/StorageOrder.h"
#include "passes/layout/Passes.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace dl {

#define GEN_PASS_DEF_BATCHESOUTERMOST
#include "passes/layout/Passes.h.inc"

namespace {

/// Of fewer neighbours a copy takes an element at a time; it is worth as many
/// operations of a product then. (Measured: 2 to 256 neighbours, matrices of 2
/// to 128 rows, and products of a matrix and a vector.)
constexpr int64_t kLeastNeighbours = 8, kOperationsOfACopy = 40;

class BatchesOutermostPass
    : public impl::BatchesOutermostBase<BatchesOutermostPass> {
public:
  using Base::Base;
  void runOnOperation() override;

private:
  void reorder(graph::MatmulOp op);
  Value inOrder(Value value, DenseI64ArrayAttr order, Location loc);

  /// Of a value in an order; of what is a copy of a product, the product.
  DenseMap<std::pair<Value, Attribute>, Value> copies;
};

} // namespace

static RankedTensorType tensorTypeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// The dim whose elements are neighbours in memory: the last one that is not of
/// size one, of what has been transposed the last of the source.
static std::optional<size_t> innermostOf(Value value) {
  if (auto transpose = value.getDefiningOp<graph::TransposeOp>()) {
    std::optional<size_t> of = innermostOf(transpose.getOperand());
    if (!of)
      return std::nullopt;
    ArrayRef<int64_t> permutation = transpose.getPermutation();
    return llvm::find(permutation, static_cast<int64_t>(*of)) -
           permutation.begin();
  }
  if (auto result = dyn_cast<OpResult>(value))
    if (graph::storageOrder(result))
      return std::nullopt;
  ArrayRef<int64_t> shape = tensorTypeOf(value).getShape();
  for (size_t d = shape.size(); d-- > 0;)
    if (shape[d] > 1)
      return d;
  return std::nullopt;
}

/// Those dims that are batches first, each part in its own order.
static DenseI64ArrayAttr batchesFirst(StringRef letters, StringRef batches,
                                      MLIRContext *context) {
  SmallVector<int64_t> order;
  for (bool isBatch : {true, false})
    for (auto [d, letter] : llvm::enumerate(letters))
      if (batches.contains(letter) == isBatch)
        order.push_back(static_cast<int64_t>(d));
  return DenseI64ArrayAttr::get(context, order);
}

Value BatchesOutermostPass::inOrder(Value value, DenseI64ArrayAttr order,
                                    Location loc) {
  Value &copy = copies[{value, order}];
  if (!copy) {
    OpBuilder builder(value.getContext());
    builder.setInsertionPointAfterValue(value);
    auto made = graph::CopyOp::create(builder, loc, value.getType(), value);
    graph::setStorageOrder(made->getOpResult(0), order);
    copy = made;
  }
  return copy;
}

void BatchesOutermostPass::reorder(graph::MatmulOp op) {
  auto [operands, result] = op.getSpec().split("->");
  auto [first, second] = operands.split(',');
  StringRef letters[] = {first, second, result};
  Value values[] = {op->getOperand(0), op->getOperand(1), op->getResult(0)};
  std::string batches;
  for (char letter : result)
    if (first.contains(letter) && second.contains(letter))
      batches += letter;
  if (!op.getLoopNest().contraction || batches.size() == result.size())
    return; // each element is used once, or the sum is one of elements
  // What lies so that a batch runs innermost.
  SmallVector<unsigned, 3> wrong;
  int64_t copied = 0; // an element at a time
  for (unsigned i = 0; i < 3; ++i) {
    std::optional<size_t> innermost = innermostOf(values[i]);
    if (!innermost || !StringRef(batches).contains(letters[i][*innermost]))
      continue;
    wrong.push_back(i);
    if (tensorTypeOf(values[i]).getDimSize(static_cast<unsigned>(*innermost)) <
        kLeastNeighbours)
      copied += tensorTypeOf(values[i]).getNumElements();
  }
  if (wrong.empty() ||
      2 * op.getLoopNest().points() < kOperationsOfACopy * copied)
    return;
  for (unsigned i : wrong) {
    auto order = batchesFirst(letters[i], batches, &getContext());
    if (i < 2) {
      op->setOperand(i, inOrder(values[i], order, op->getLoc()));
      continue;
    }
    OpResult product = op->getOpResult(0);
    graph::setStorageOrder(product, order);
    OpBuilder builder(&getContext());
    builder.setInsertionPointAfter(op);
    auto copy = graph::CopyOp::create(builder, op->getLoc(), product.getType(),
                                      product);
    product.replaceAllUsesExcept(copy, copy);
    copies[{copy, order}] = product;
  }
  emitRemark(op->getLoc()) << wrong.size()
                           << " of its operands and results are copied: a "
                              "batch runs innermost in them";
}

void BatchesOutermostPass::runOnOperation() {
  for (auto function : getOperation().getOps<graph::StepOp>())
    for (auto op :
         llvm::make_early_inc_range(function.getOps<graph::MatmulOp>()))
      reorder(op);
}

} // namespace dl
