// choose-library-calls: which products a library computes faster.
#include "compiler/codegen/cuda/LibraryProduct.h"
#include "compiler/codegen/cuda/Passes.h"
#include "dialects/graph/Check.h"
#include "dialects/graph/LibraryCall.h"
#include "dialects/graph/PayloadFacts.h"
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

/// The op and the views that it reads through, in their order.
llvm::SetVector<Operation *> withViews(Operation *product) {
  llvm::SetVector<Operation *> ops;
  auto add = [&](auto &&add, Value value) -> void {
    auto view = value.getDefiningOp<graph::LoopNestOpInterface>();
    if (!view || ops.contains(view) || !graph::payloadFacts(view).isView ||
        graph::storageOrder(view->getOpResult(0)))
      return;
    add(add, view->getOperand(0));
    ops.insert(view);
  };
  for (Value operand : product->getOperands())
    add(add, operand);
  ops.insert(product);
  return ops;
}

/// The kernel that a product would be by itself, nowhere in the function.
class KernelAlone {
public:
  explicit KernelAlone(Operation *product) {
    llvm::SetVector<Operation *> ops = withViews(product);
    llvm::SetVector<Value> inputs;
    for (Operation *op : ops)
      for (Value operand : op->getOperands())
        if (!ops.contains(operand.getDefiningOp()))
          inputs.insert(operand);
    OperationState state(product->getLoc(),
                         graph::KernelOp::getOperationName());
    state.addOperands(inputs.getArrayRef());
    state.addTypes(product->getResultTypes());
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
    Value result = inner.lookup(product->getResult(0));
    graph::YieldOp::create(builder, product->getLoc(), result);
  }
  KernelAlone(const KernelAlone &) = delete;
  ~KernelAlone() { kernel.erase(); }

  graph::KernelOp kernel;
};

/// Something that a kernel of ours would compute on its sums.
bool hasEpilogue(Operation *product) {
  Type type = product->getResult(0).getType();
  return llvm::any_of(product->getUsers(), [&](Operation *user) {
    auto reader = dyn_cast<graph::LoopNestOpInterface>(user);
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
    getOperation().walk([&](graph::StepOp step) {
      for (Operation &op : step.getBody().front().without_terminator())
        if (auto loops = dyn_cast<graph::LoopNestOpInterface>(op);
            loops && loops.getLoopNest().contraction)
          choose(&op);
    });
  }

private:
  void choose(Operation *op) {
    KernelAlone alone(op);
    WorkingOn at(alone.kernel);
    FailureOr<kernel::KernelBody> body =
        kernel::KernelBody::create(alone.kernel);
    if (failed(body))
      return signalPassFailure();
    kernel::StagedKernel staged(std::move(*body),
                                kernel::ProductReaders::Together);
    StringRef why;
    plan::ProductAttr product = libraryProduct(staged, tf32, why);
    StringRef name = op->getName().stripDialect();
    if (!product) {
      emitRemark(op->getLoc()) << name << ": on a kernel of our own: " << why;
      return;
    }
    auto rates = ratesOf(product.getArithmetic());
    double flops = 2.0 * double(product.getBatch()) * double(product.getM()) *
                   double(product.getN()) * double(product.getK());
    double traffic = double(staged.bytes()) / machine.bytesPerSecond;
    double own = std::max(flops / rates.first, traffic);
    // More than one launch: where several blocks share sums, another one adds.
    double library =
        std::max(flops / rates.second, traffic) + machine.serialSeconds;
    double after = 0; // to store the product, and to load it again
    if (hasEpilogue(op))
      after = machine.serialSeconds +
              2.0 * double(graph::tensorBytes(op->getResult(0).getType())) /
                  machine.bytesPerSecond;
    bool isFaster = library + after < own;
    if (isFaster)
      op->setAttr(graph::kLibraryCall, UnitAttr::get(&getContext()));
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
        << name << (isFaster ? ": by cuBLASLt: " : ": not by cuBLASLt: ")
        << "it takes " << times;
  }

  /// Ours, and the library's.
  std::pair<double, double> ratesOf(plan::Arithmetic arithmetic) const {
    switch (arithmetic) {
    case plan::Arithmetic::F32:
      return {machine.productF32, machine.libraryF32};
    case plan::Arithmetic::TF32:
      return {machine.productTf32, machine.libraryTf32};
    case plan::Arithmetic::F64:
      return {machine.productF64, machine.libraryF64};
    }
    return {};
  }
};

} // namespace
} // namespace dl::cuda
