// choose-library-calls: which products a library computes faster.
#include "compiler/codegen/cuda/LibraryProduct.h"
#include "compiler/codegen/cuda/Passes.h"
#include "dialects/graph/Check.h"
#include "dialects/graph/Inference.h"
#include "dialects/graph/LibraryCall.h"
#include "dialects/graph/MadeAgain.h"
#include "dialects/graph/PayloadFacts.h"
#include "dialects/graph/Step.h"
#include "dialects/graph/StorageOrder.h"
#include "dialects/graph/TensorBytes.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace dl {
#define GEN_PASS_DEF_CHOOSELIBRARYCALLS
#include "compiler/codegen/cuda/Passes.h.inc"
} // namespace dl

namespace dl::cuda {
namespace {

bool isSeenThrough(graph::LoopNestOpInterface op) {
  graph::PayloadFacts facts = graph::payloadFacts(op);
  return facts.isView || facts.isWidening;
}

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

/// What fusion does not compute within whoever reads it, as it does constants,
/// random numbers and what is made again.
bool isInMemory(Value value) {
  while (auto maker = value.getDefiningOp<graph::LoopNestOpInterface>()) {
    if (maker->hasAttr(graph::kMadeAgain) ||
        llvm::all_of(maker->getOperands(), graph::isScalars))
      return false;
    if (!graph::payloadFacts(maker).isView)
      return true;
    value = maker->getOperand(0);
  }
  return true;
}

/// A product whose one reader rounds it to bf16.
Operation *roundingOf(Operation *product) {
  if (!product->hasOneUse())
    return nullptr;
  auto reader =
      dyn_cast<graph::LoopNestOpInterface>(*product->getUsers().begin());
  return reader && graph::payloadFacts(reader).isRounding
             ? reader.getOperation()
             : nullptr;
}

/// What the one reader of a value may be for a library to compute it, too, with
/// operands that fusion leaves in memory.
Operation *addedTo(Value value) {
  if (!value.hasOneUse())
    return nullptr;
  auto add = dyn_cast<graph::LoopNestOpInterface>(*value.getUsers().begin());
  if (!add || add->hasAttr(graph::kLibraryCall) ||
      add->getBlock() != value.getParentBlock() ||
      !graph::payloadFacts(add).isAddition ||
      add->getResult(0).getType() != value.getType())
    return nullptr;
  if (!llvm::all_of(add->getOperands(), isInMemory))
    return nullptr;
  return add;
}

/// Something that a kernel of ours would compute on its sums.
bool hasEpilogue(Operation *product) {
  Type type = product->getResult(0).getType();
  return llvm::any_of(product->getUsers(), [&](Operation *user) {
    auto reader = dyn_cast<graph::LoopNestOpInterface>(user);
    if (reader && graph::payloadFacts(reader).isWidening)
      return hasEpilogue(reader);
    if (!reader || user->getResult(0).getType() != type ||
        graph::payloadFacts(reader).isView)
      return false;
    graph::LoopNest nest = reader.getLoopNest();
    for (auto [operand, access] : llvm::zip(user->getOperands(), nest.accesses))
      if (operand == product->getResult(0) &&
          nest.combine == graph::Combine::None && access.map.isIdentity())
        return true;
    return false;
  });
}

struct ChooseLibraryCalls : impl::ChooseLibraryCallsBase<ChooseLibraryCalls> {
  using Base::Base;

  void runOnOperation() override {
    calls = 0;
    getOperation().walk([&](graph::StepOp step) {
      for (Operation &op : step.getBody().front().without_terminator())
        if (auto loops = dyn_cast<graph::LoopNestOpInterface>(op);
            loops && loops.getLoopNest().contraction)
          choose(&op);
    });
  }

private:
  int64_t calls = 0;

  struct Call {
    plan::ProductAttr product;
    int64_t bytes = 0;
  };

  /// As one call; without a product where there is none, then `why`.
  FailureOr<Call> callOf(ArrayRef<Operation *> chain, StringRef &why) {
    KernelAlone alone(chain);
    WorkingOn at(alone.kernel);
    FailureOr<kernel::KernelBody> body =
        kernel::KernelBody::create(alone.kernel);
    if (failed(body))
      return failure();
    kernel::StagedKernel staged(std::move(*body),
                                kernel::ProductReaders::Together);
    return Call{libraryProduct(staged, tf32, why), staged.bytes()};
  }

  void choose(Operation *op) {
    SmallVector<Operation *> chain{op};
    Operation *round = roundingOf(op);
    if (round)
      chain.push_back(round);
    StringRef why;
    FailureOr<Call> call = callOf(chain, why);
    if (failed(call))
      return signalPassFailure();
    StringRef name = op->getName().stripDialect();
    if (!call->product) {
      emitRemark(op->getLoc()) << name << ": on a kernel of our own: " << why;
      return;
    }
    while (Operation *next =
               round ? nullptr : addedTo(chain.back()->getResult(0))) {
      chain.push_back(next);
      FailureOr<Call> longer = callOf(chain, why);
      if (failed(longer))
        return signalPassFailure();
      if (!longer->product) {
        chain.pop_back();
        break;
      }
      call = longer;
    }
    plan::ProductAttr product = call->product;
    double flops = 2.0 * double(product.getBatch()) * double(product.getM()) *
                   double(product.getN()) * double(product.getK());
    double traffic = double(call->bytes) / machine.bytesPerSecond;
    double own = std::max(flops / productRate(product.getArithmetic(), machine),
                          traffic);
    // More than one launch: where several blocks share sums, another one adds.
    double library = std::max(librarySeconds(product, machine), traffic) +
                     machine.serialSeconds;
    double after = 0; // to store the product, and to load it again
    if (hasEpilogue(chain.back()))
      after =
          machine.serialSeconds +
          2.0 *
              double(graph::tensorBytes(chain.back()->getResult(0).getType())) /
              machine.bytesPerSecond;
    bool isFaster = library + after < own;
    if (isFaster) {
      auto number =
          IntegerAttr::get(IntegerType::get(&getContext(), 64), calls);
      ++calls;
      for (Operation *part : chain)
        part->setAttr(graph::kLibraryCall, number);
    }
    std::string apart =
        after == 0 ? ""
                   : llvm::formatv(" and {0:f1} us for what is computed on it",
                                   after * 1e6)
                         .str();
    std::string times =
        llvm::formatv("{0:f1} us{1}, and {2:f1} us on a kernel of our own",
                      library * 1e6, apart, own * 1e6)
            .str();
    emitRemark(op->getLoc())
        << name << (isFaster ? ": by cuBLASLt" : ": not by cuBLASLt")
        << (product.getBias() != -1 ? " with the bias" : "")
        << (product.getC() ? " with a matrix that is added" : "")
        << ": it takes " << times;
  }
};

} // namespace
} // namespace dl::cuda
