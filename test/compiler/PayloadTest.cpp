// Every op with a loop nest: the nest and its payload, run element by element,
// against the reference evaluation. Composites: against their decomposition.

#include "dialects/graph/Evaluate.h"
#include "mlir/Pass/PassManager.h"
#include "passes/backward/Passes.h"
#include "test/compiler/OpCases.h"
#include "test/compiler/PayloadInterpreter.h"
#include <gtest/gtest.h>
#include <set>

using namespace mlir;
using namespace dl;
using namespace dl::test;

namespace {

using Tensors = SmallVector<graph::HostTensor>;

void expectEqual(const Tensors &actual, const Tensors &expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t r = 0; r < actual.size(); ++r) {
    SCOPED_TRACE("result " + std::to_string(r));
    ASSERT_EQ(actual[r].type, expected[r].type);
    EXPECT_EQ(actual[r].ints, expected[r].ints);
    bool single = actual[r].type.getElementType().isF32();
    for (size_t i = 0; i < actual[r].floats.size(); ++i) {
      double want = expected[r].floats[i];
      EXPECT_NEAR(actual[r].floats[i], want,
                  (single ? 1e-6 : 1e-13) * std::max(1.0, std::fabs(want)))
          << "element " << i;
    }
  }
}

/// The loop nest, if the op as it stands has one.
bool isSimple(Operation *op) {
  auto composite = dyn_cast<graph::DecomposableOpInterface>(op);
  if (!composite)
    return isa<graph::LoopNestOpInterface>(op);
  OpBuilder builder(op);
  bool simple = failed(composite.decompose(builder));
  return simple && isa<graph::LoopNestOpInterface>(op);
}

TEST(Payload, AgreesWithTheReference) {
  std::set<std::string> covered;
  MLIRContext context(MLIRContext::Threading::DISABLED);
  loadDialects(context);
  for (const OpCase &opCase : opCases()) {
    SCOPED_TRACE(caseText(opCase));
    OwningOpRef<ModuleOp> module = buildCase(context, opCase);
    ASSERT_TRUE(module);
    Operation *op = opOf(*module);
    auto nest = dyn_cast<graph::LoopNestOpInterface>(op);
    if (!nest || !isSimple(op))
      continue;
    covered.insert(opCase.op);
    Tensors arguments = caseArguments(opCase, op->getOperandTypes());
    Tensors expected =
        cast<graph::ReferenceOpInterface>(op).evaluate(arguments);
    std::string error;
    Tensors actual = interpretNest(nest, arguments, error);
    ASSERT_EQ(error, "");
    expectEqual(actual, expected);
  }
  for (RegisteredOperationName name :
       context.getRegisteredOperationsByDialect("graph"))
    if (name.hasInterface<graph::LoopNestOpInterface>())
      EXPECT_TRUE(covered.count(name.getStringRef().str()))
          << name.getStringRef().str() << " has a loop nest and no case";
}

TEST(Decomposition, AgreesWithTheReference) {
  std::set<std::string> covered;
  MLIRContext context(MLIRContext::Threading::DISABLED);
  loadDialects(context);
  for (const OpCase &opCase : opCases()) {
    SCOPED_TRACE(caseText(opCase));
    OwningOpRef<ModuleOp> module = buildCase(context, opCase);
    ASSERT_TRUE(module);
    if (!isa<graph::DecomposableOpInterface>(opOf(*module)))
      continue;
    covered.insert(opCase.op);
    graph::StepOp function = functionOf(*module);
    Tensors arguments = caseArguments(opCase, function.getArgumentTypes());
    auto expected = graph::evaluateStep(function, arguments);
    PassManager manager(&context);
    manager.addNestedPass<graph::StepOp>(createDecompose());
    manager.addNestedPass<graph::StepOp>(createVerifyBackward());
    ASSERT_TRUE(succeeded(manager.run(*module)));
    auto actual = graph::evaluateStep(function, arguments);
    ASSERT_TRUE(succeeded(expected) && succeeded(actual));
    expectEqual(*actual, *expected);
  }
  for (RegisteredOperationName name :
       context.getRegisteredOperationsByDialect("graph"))
    if (name.hasInterface<graph::DecomposableOpInterface>())
      EXPECT_TRUE(covered.count(name.getStringRef().str()))
          << name.getStringRef().str() << " is decomposed and has no case";
}

/// The control: an access that leaves its operand is seen.
TEST(Payload, ALeavingAccessIsSeen) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  loadDialects(context);
  OwningOpRef<ModuleOp> module = buildCase(
      context, {"graph.conv2d",
                {"tensor<1x1x3x3xf64>", "tensor<1x1x2x2xf64>"},
                "{stride = array<i64: 1, 1>, padding = array<i64: 1, 1>}"});
  ASSERT_TRUE(module);
  Operation *op = opOf(*module);
  Tensors arguments = caseArguments({}, op->getOperandTypes());
  std::string error;
  interpretNest(cast<graph::LoopNestOpInterface>(op), arguments, error);
  EXPECT_EQ(error, "an access leaves its operand");
}

} // namespace
