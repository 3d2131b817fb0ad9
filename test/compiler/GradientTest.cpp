// Every differentiable op: its gradient against central differences in f64, and
// the same gradient again after the rest of the backward phase.

#include "dialects/graph/GraphBuilder.h"
#include "mlir/Pass/PassManager.h"
#include "passes/backward/Passes.h"
#include "test/compiler/OpCases.h"
#include <gtest/gtest.h>
#include <set>

using namespace mlir;
using namespace dl;
using namespace dl::test;

namespace {

using Tensors = SmallVector<graph::HostTensor>;

bool isFloat(Value value) { return isa<FloatType>(graph::elementOf(value)); }

/// Makes f return a loss, the sum of its float results times new arguments, and
/// the gradients of its float arguments.
void appendGradients(graph::StepOp function) {
  Operation *end = function.getBody().front().getTerminator();
  OpBuilder builder(end);
  Location loc = function.getLoc();
  graph::GraphBuilder g(builder, loc);
  SmallVector<Value> params, results(end->getOperands());
  for (Value argument : function.getArguments())
    if (isFloat(argument))
      params.push_back(argument);
  Value loss;
  for (Value result : results) {
    if (!isFloat(result))
      continue;
    Value weight = function.getBody().addArgument(result.getType(), loc);
    Value weighted = g.make<graph::MulOp>(result, weight);
    SmallVector<int64_t> dims =
        llvm::to_vector(llvm::seq<int64_t>(graph::shapeOf(result).size()));
    Value part = g.sum(weighted, dims, false);
    part = g.cast(part, builder.getF64Type());
    loss = loss ? g.make<graph::AddOp>(loss, part) : part;
  }
  auto gradients = graph::GradientsOp::create(builder, loc, loss, params);
  results = {loss};
  llvm::append_range(results, gradients.getGrads());
  function.setResults(results);
  function.setArgPorts(SmallVector<graph::PortAttr>(
      function.getNumArguments(),
      graph::PortAttr::plain(function.getContext())));
}

bool runPasses(ModuleOp module, bool wholePhase) {
  PassManager manager(module.getContext());
  if (wholePhase)
    buildBackwardPipeline(manager);
  else
    manager.addNestedPass<graph::StepOp>(createExpandGradients());
  return succeeded(manager.run(module));
}

double lossAt(graph::StepOp function, const Tensors &arguments) {
  return (*graph::evaluateStep(function, arguments))[0].floats[0];
}

/// d loss / d element by central differences, refined once (Richardson).
double difference(graph::StepOp function, Tensors &arguments, double &element) {
  auto slope = [&](double step) {
    double kept = element;
    element = kept + step;
    double above = lossAt(function, arguments);
    element = kept - step;
    double below = lossAt(function, arguments);
    element = kept;
    return (above - below) / (2 * step);
  };
  double step = 1e-4;
  return (4 * slope(step / 2) - slope(step)) / 3;
}

void checkCase(const OpCase &opCase) {
  SCOPED_TRACE(caseText(opCase));
  MLIRContext context(MLIRContext::Threading::DISABLED);
  loadDialects(context);
  OwningOpRef<ModuleOp> module = buildCase(context, opCase);
  ASSERT_TRUE(module);
  graph::StepOp function = functionOf(*module);
  size_t operands = function.getNumArguments();
  appendGradients(function);
  ASSERT_TRUE(runPasses(*module, /*wholePhase=*/false));
  Tensors arguments = caseArguments(opCase, function.getArgumentTypes());
  auto before = graph::evaluateStep(function, arguments);
  ASSERT_TRUE(succeeded(before));

  size_t gradient = 1;
  for (size_t i = 0; i < operands; ++i) {
    if (!arguments[i].isFloat())
      continue;
    const graph::HostTensor &actual = (*before)[gradient++];
    for (int64_t k = 0; k < actual.size(); ++k) {
      double expected = difference(function, arguments, arguments[i].floats[k]);
      EXPECT_NEAR(actual.floats[k], expected,
                  1e-8 * std::max(1.0, std::fabs(expected)))
          << "operand " << i << " element " << k;
    }
  }

  ASSERT_TRUE(runPasses(*module, /*wholePhase=*/true));
  auto after = graph::evaluateStep(function, arguments);
  ASSERT_TRUE(succeeded(after));
  for (size_t r = 0; r < before->size(); ++r)
    for (int64_t k = 0; k < (*before)[r].size(); ++k)
      EXPECT_NEAR((*after)[r].floats[k], (*before)[r].floats[k], 1e-12)
          << "result " << r << " after the whole phase";
}

/// An f32 tensor has no exact differences; a gradient needs floats on both
/// sides.
bool hasGradient(const OpCase &opCase) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  loadDialects(context);
  OwningOpRef<ModuleOp> module = buildCase(context, opCase);
  if (!module || !isa<graph::DifferentiableOpInterface>(opOf(*module)))
    return false;
  auto isF64 = [](Value v) { return graph::elementOf(v).isF64(); };
  return llvm::any_of(opOf(*module)->getOperands(), isF64) &&
         llvm::any_of(opOf(*module)->getResults(), isF64);
}

TEST(Gradients, AgreeWithCentralDifferences) {
  for (const OpCase &opCase : opCases())
    if (hasGradient(opCase))
      checkCase(opCase);
}

TEST(Gradients, EveryDifferentiableOpHasACase) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  loadDialects(context);
  std::set<std::string> covered;
  for (const OpCase &opCase : opCases())
    if (hasGradient(opCase))
      covered.insert(opCase.op);
  int count = 0;
  for (RegisteredOperationName name :
       context.getRegisteredOperationsByDialect("graph"))
    // (Of a custom one the gradient is the program's, not the values'.)
    if (name.getStringRef() != "graph.custom_gradient" &&
        name.hasInterface<graph::DifferentiableOpInterface>()) {
      ++count;
      EXPECT_TRUE(covered.count(name.getStringRef().str()))
          << name.getStringRef().str() << " has a gradient and no case";
    }
  EXPECT_GT(count, 30);
}

/// The control: a wrong gradient is seen. relu at a kink has no derivative, and
/// central differences give one half.
TEST(Gradients, DisagreementIsSeen) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  loadDialects(context);
  OwningOpRef<ModuleOp> module =
      buildCase(context, {"graph.relu", {"tensor<1xf64>"}});
  graph::StepOp function = functionOf(*module);
  appendGradients(function);
  ASSERT_TRUE(runPasses(*module, false));
  Tensors arguments;
  for (Type type : function.getArgumentTypes())
    arguments.emplace_back(type);
  arguments[1].floats[0] = 1;
  auto results = graph::evaluateStep(function, arguments);
  EXPECT_EQ((*results)[1].floats[0], 0.0);
  EXPECT_NEAR(difference(function, arguments, arguments[0].floats[0]), 0.5,
              1e-9);
}

double gradientAt(const std::string &op, std::vector<double> operands,
                  size_t which) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  loadDialects(context);
  OpCase opCase{op, {}};
  for (size_t i = 0; i < operands.size(); ++i)
    opCase.operands.push_back("tensor<f64>");
  OwningOpRef<ModuleOp> module = buildCase(context, opCase);
  graph::StepOp function = functionOf(*module);
  appendGradients(function);
  EXPECT_TRUE(runPasses(*module, false));
  Tensors arguments;
  for (Type type : function.getArgumentTypes())
    arguments.emplace_back(type);
  for (size_t i = 0; i < operands.size(); ++i)
    arguments[i].floats[0] = operands[i];
  arguments.back().floats[0] = 1;
  return (*graph::evaluateStep(function, arguments))[1 + which].floats[0];
}

TEST(Gradients, FollowPyTorchAtKinks) {
  EXPECT_EQ(gradientAt("graph.abs", {0}, 0), 0);
  EXPECT_EQ(gradientAt("graph.relu", {0}, 0), 0);
  EXPECT_EQ(gradientAt("graph.sign", {0}, 0), 0);
  EXPECT_EQ(gradientAt("graph.maximum", {2, 2}, 0), 0.5);
  EXPECT_EQ(gradientAt("graph.maximum", {2, 2}, 1), 0.5);
  EXPECT_EQ(gradientAt("graph.minimum", {2, 2}, 0), 0.5);
  EXPECT_EQ(gradientAt("graph.pow", {0, 0}, 0), 0);
  EXPECT_EQ(gradientAt("graph.pow", {0, 2}, 1), 0);
  EXPECT_TRUE(std::isnan(gradientAt("graph.relu", {std::nan("")}, 0)) ||
              gradientAt("graph.relu", {std::nan("")}, 0) == 1);
}

} // namespace
