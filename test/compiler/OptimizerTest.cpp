// SGD's expansion against PyTorch's algorithm, written out step by step.

#include "dialects/graph/Evaluate.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/backward/Passes.h"
#include "test/compiler/OpCases.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace dl;
using namespace dl::test;

namespace {

struct Settings {
  double lr, momentum, dampening, weightDecay;
  bool nesterov;
};

std::string programText(const Settings &s) {
  bool buffered = s.momentum != 0;
  auto number = [](double v) { return std::to_string(v); };
  std::string attributes =
      "{lr = " + number(s.lr) + ", momentum = " + number(s.momentum) +
      ", dampening = " + number(s.dampening) +
      ", weight_decay = " + number(s.weightDecay) +
      ", nesterov = " + (s.nesterov ? "true" : "false") + "}";
  std::string t = "tensor<3xf64>";
  std::string types = buffered ? t + ", " + t : t;
  return "func.func @f(%s: tensor<8xi64> {graph.scalars}, %p: " + t +
         ", %g: " + t + ", %m: " + t + ") -> (" + types + ") {\n" +
         (buffered ? "%a, %b" : "%a") + " = graph.sgd %p, %g" +
         (buffered ? ", %m " : " ") + attributes + " : (" + t + ", " + types +
         ") -> (" + types + ")\nreturn " + (buffered ? "%a, %b" : "%a") +
         " : " + types + "\n}\n";
}

void checkAgainstPyTorch(const Settings &s) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  loadDialects(context);
  std::string text = programText(s);
  SCOPED_TRACE(text);
  auto module = parseSourceString<ModuleOp>(text, &context);
  ASSERT_TRUE(module);
  PassManager manager(&context);
  manager.addNestedPass<func::FuncOp>(createExpandOptimizers());
  manager.addNestedPass<func::FuncOp>(createVerifyBackward());
  ASSERT_TRUE(succeeded(manager.run(*module)));
  func::FuncOp function = functionOf(*module);

  auto arguments = caseArguments({}, function.getArgumentTypes());
  std::vector<double> param = arguments[1].floats, buffer;
  arguments[3].floats.assign(3, 0);
  for (int64_t step = 0; step < 4; ++step) {
    arguments[0].ints[1] = step;
    for (size_t i = 0; i < 3; ++i)
      arguments[2].floats[i] = 0.3 * (step + 1) - 0.2 * i;
    std::vector<double> grad = arguments[2].floats;
    for (size_t i = 0; i < 3; ++i)
      grad[i] += s.weightDecay * param[i];
    if (s.momentum != 0) {
      if (buffer.empty())
        buffer = grad;
      else
        for (size_t i = 0; i < 3; ++i)
          buffer[i] = s.momentum * buffer[i] + (1 - s.dampening) * grad[i];
      for (size_t i = 0; i < 3; ++i)
        grad[i] = s.nesterov ? grad[i] + s.momentum * buffer[i] : buffer[i];
    }
    for (size_t i = 0; i < 3; ++i)
      param[i] -= s.lr * grad[i];

    auto results = graph::evaluateFunction(function, arguments);
    ASSERT_TRUE(succeeded(results));
    for (size_t i = 0; i < 3; ++i)
      EXPECT_NEAR((*results)[0].floats[i], param[i], 1e-14) << "step " << step;
    arguments[1] = (*results)[0];
    if (s.momentum != 0)
      arguments[3] = (*results)[1];
  }
}

TEST(Sgd, FollowsPyTorch) {
  checkAgainstPyTorch({0.1, 0, 0, 0, false});
  checkAgainstPyTorch({0.1, 0, 0, 0.01, false});
  checkAgainstPyTorch({0.1, 0.9, 0, 0, false});
  checkAgainstPyTorch({0.1, 0.9, 0.25, 0, false});
  checkAgainstPyTorch({0.1, 0.9, 0, 0.01, true});
  checkAgainstPyTorch({0.1, 0.5, 0.5, 0.1, false});
}

} // namespace
