#include "dialects/graph/Inference.h"
#include "mlir/IR/IRMapping.h"
#include "tools/dl-opt/FactPasses.h"

namespace dl {
#define GEN_PASS_DEF_PRINTGRADIENTS
#include "tools/dl-opt/FactPasses.h.inc"
} // namespace dl

using namespace mlir;
using namespace dl;

namespace {

struct PrintGradients : dl::impl::PrintGradientsBase<PrintGradients> {
  void runOnOperation() override {
    getOperation().walk(
        [&](graph::DifferentiableOpInterface op) { print(op); });
  }

private:
  /// A function of the op's operands and its results' gradients.
  void print(graph::DifferentiableOpInterface op) {
    Location loc = UnknownLoc::get(&getContext());
    std::string name = ("gradient." + op->getName().stripDialect()).str();
    SmallVector<Type> types(op->getOperandTypes());
    for (Type type : op->getResultTypes())
      types.push_back(type);
    OpBuilder builder(&getContext());
    OwningOpRef<graph::StepOp> function =
        graph::StepOp::create(builder, loc, name, types);
    Block *block = &function->getBody().front();
    builder.setInsertionPointToEnd(block);

    IRMapping mapping;
    mapping.map(op->getOperands(),
                block->getArguments().take_front(op->getNumOperands()));
    auto forward = cast<graph::DifferentiableOpInterface>(
        builder.clone(*op.getOperation(), mapping));
    SmallVector<Value> grads;
    for (auto [i, result] : llvm::enumerate(op->getResults())) {
      bool isFloat = isa<FloatType>(graph::elementOf(result));
      grads.push_back(isFloat ? block->getArgument(op->getNumOperands() + i)
                              : Value());
    }
    SmallVector<bool> needed;
    for (Value operand : op->getOperands())
      needed.push_back(isa<FloatType>(graph::elementOf(operand)));
    SmallVector<Value> results = forward.buildGradient(builder, grads, needed);
    llvm::erase_if(results, [](Value value) { return !value; });
    function->setResults(results);
    function->print(llvm::outs());
    llvm::outs() << "\n";
  }
};

} // namespace
