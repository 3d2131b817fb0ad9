#include "compiler/codegen/cuda/ProductAlone.h"
#include "dialects/graph/Check.h"
#include "dialects/graph/LaunchConstants.h"
#include "dialects/graph/PayloadFacts.h"
#include "dialects/graph/StorageOrder.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace dl::cuda {

bool isSeenThrough(graph::LoopNestOpInterface op) {
  graph::PayloadFacts facts = graph::payloadFacts(op);
  return facts.isView || facts.isWidening;
}

namespace {

/// The ops and the views that they read through, in their order.
llvm::SetVector<Operation *> withViews(ArrayRef<Operation *> chain) {
  llvm::SetVector<Operation *> ops;
  auto add = [&](auto &&add, Value value) -> void {
    auto view = value.getDefiningOp<graph::LoopNestOpInterface>();
    if (!view || ops.contains(view) || !isSeenThrough(view) ||
        graph::storageOrder(view->getOpResult(0)))
      return;
    add(add, view->getOperand(0));
    ops.insert(view);
  };
  for (Operation *op : chain) {
    for (Value operand : op->getOperands())
      add(add, operand);
    ops.insert(op);
  }
  return ops;
}

/// Whether it depends on the rank which part of an operand is read.
bool differsBetweenRanks(ArrayRef<Operation *> chain) {
  return llvm::any_of(withViews(chain), [](Operation *op) {
    return op->hasAttr(graph::kRankSteps);
  });
}

/// The kernel that a product would be with nothing but what is added to it,
/// nowhere in the function.
class KernelAlone {
public:
  /// The product first.
  explicit KernelAlone(ArrayRef<Operation *> chain) {
    llvm::SetVector<Operation *> ops = withViews(chain);
    Operation *product = chain.front(), *last = chain.back();
    llvm::SetVector<Value> inputs;
    for (Operation *op : ops)
      for (Value operand : op->getOperands())
        if (!ops.contains(operand.getDefiningOp()))
          inputs.insert(operand);
    OperationState state(product->getLoc(),
                         graph::KernelOp::getOperationName());
    state.addOperands(inputs.getArrayRef());
    state.addTypes(last->getResultTypes());
    OpBuilder builder(product->getContext());
    state.addAttribute("name", builder.getStringAttr("alone"));
    state.addRegion();
    kernel = cast<graph::KernelOp>(Operation::create(state));
    Block *block = &kernel.getBody().emplaceBlock();
    IRMapping inner;
    for (Value input : inputs)
      inner.map(input, block->addArgument(input.getType(), input.getLoc()));
    builder.setInsertionPointToEnd(block);
    for (Operation *op : ops)
      builder.clone(*op, inner);
    Value result = inner.lookup(last->getResult(0));
    graph::YieldOp::create(builder, product->getLoc(), result);
  }
  KernelAlone(const KernelAlone &) = delete;
  ~KernelAlone() { kernel.erase(); }

  graph::KernelOp kernel;
};

} // namespace

Operation *roundingOf(Operation *product) {
  if (!product->hasOneUse())
    return nullptr;
  auto reader =
      dyn_cast<graph::LoopNestOpInterface>(*product->getUsers().begin());
  return reader && graph::payloadFacts(reader).isRounding
             ? reader.getOperation()
             : nullptr;
}

FailureOr<LibraryCall> libraryCallOf(ArrayRef<Operation *> chain, bool tf32,
                                     StringRef &why) {
  if (differsBetweenRanks(chain)) {
    why = "where an operand begins differs between ranks";
    return LibraryCall();
  }
  KernelAlone alone(chain);
  WorkingOn at(alone.kernel);
  FailureOr<kernel::KernelBody> body = kernel::KernelBody::create(alone.kernel);
  if (failed(body))
    return failure();
  kernel::StagedKernel staged(std::move(*body),
                              kernel::ProductReaders::Together);
  LibraryCall call;
  call.product = libraryProduct(staged, tf32, why, &call.multiples);
  call.bytes = staged.bytes();
  return call;
}

} // namespace dl::cuda
