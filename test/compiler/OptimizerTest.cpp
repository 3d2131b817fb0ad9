// The optimizers' expansions against PyTorch's algorithms, written out step by
// step.

#include "dialects/graph/Evaluate.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/backward/Passes.h"
#include "test/compiler/OpCases.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace mlir;
using namespace dl;
using namespace dl::test;

namespace {

/// A module with one function whose optimizer is expanded.
class Update {
public:
  explicit Update(const std::string &text)
      : context(MLIRContext::Threading::DISABLED) {
    loadDialects(context);
    module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return;
    PassManager manager(&context);
    manager.addNestedPass<graph::StepOp>(createExpandOptimizers());
    manager.addNestedPass<graph::StepOp>(createVerifyBackward());
    if (succeeded(manager.run(*module)))
      function = functionOf(*module);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  graph::StepOp function;
};

std::vector<double> gradientOf(int64_t step) {
  std::vector<double> gradient;
  for (int i = 0; i < 3; ++i)
    gradient.push_back(0.3 * static_cast<double>(step + 1) - 0.2 * i);
  return gradient;
}

std::string number(double value) { return std::to_string(value); }

struct Sgd {
  double lr, momentum, dampening, weightDecay;
  bool nesterov = false, maximize = false;
  int calls = 1;
};

std::string programText(const Sgd &s, int call) {
  bool buffered = s.momentum != 0;
  std::string attributes = "{lr = " + number(s.lr) +
                           ", momentum = " + number(s.momentum) +
                           ", dampening = " + number(s.dampening) +
                           ", weight_decay = " + number(s.weightDecay) +
                           ", nesterov = " + (s.nesterov ? "true" : "false") +
                           ", maximize = " + (s.maximize ? "true" : "false") +
                           ", calls = " + std::to_string(s.calls) +
                           ", call = " + std::to_string(call) + "}";
  std::string t = "tensor<3xf64>";
  std::string types = buffered ? t + ", " + t : t;
  return "graph.step @f(%s: tensor<8xi64> scalars, %p: " + t + ", %g: " + t +
         ", %m: " + t + ") -> (" + types + ") {\n" +
         (buffered ? "%a, %b" : "%a") + " = graph.sgd %p, %g" +
         (buffered ? ", %m " : " ") + attributes + " : (" + t + ", " + types +
         ") -> (" + types + ")\ngraph.return " + (buffered ? "%a, %b" : "%a") +
         " : " + types + "\n}\n";
}

void checkAgainstPyTorch(const Sgd &s) {
  std::vector<std::unique_ptr<Update>> updates;
  for (int call = 0; call < s.calls; ++call) {
    updates.push_back(std::make_unique<Update>(programText(s, call)));
    ASSERT_TRUE(updates.back()->function) << programText(s, call);
  }
  SCOPED_TRACE(programText(s, 0));
  auto arguments =
      caseArguments({}, updates.front()->function.getArgumentTypes());
  std::vector<double> param = arguments[1].floats, buffer;
  arguments[3].floats.assign(3, 0);
  for (int64_t update = 0; update < 4; ++update) {
    int64_t step = update / s.calls;
    arguments[0].ints[1] = step;
    std::vector<double> grad = arguments[2].floats = gradientOf(update);
    for (size_t i = 0; i < 3; ++i)
      grad[i] = (s.maximize ? -grad[i] : grad[i]) + s.weightDecay * param[i];
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

    auto results = graph::evaluateStep(
        updates[static_cast<size_t>(update % s.calls)]->function, arguments);
    ASSERT_TRUE(succeeded(results));
    for (size_t i = 0; i < 3; ++i)
      EXPECT_NEAR((*results)[0].floats[i], param[i], 1e-14) << update;
    arguments[1] = (*results)[0];
    if (s.momentum != 0)
      arguments[3] = (*results)[1];
  }
}

TEST(Sgd, FollowsPyTorch) {
  checkAgainstPyTorch({0.1, 0, 0, 0});
  checkAgainstPyTorch({0.1, 0, 0, 0.01});
  checkAgainstPyTorch({0.1, 0.9, 0, 0});
  checkAgainstPyTorch({0.1, 0.9, 0.25, 0});
  checkAgainstPyTorch({0.1, 0.9, 0, 0.01, true});
  checkAgainstPyTorch({0.1, 0.5, 0.5, 0.1});
  checkAgainstPyTorch({0.1, 0.5, 0, 0.1, false, true});
  checkAgainstPyTorch({0.1, 0.5, 0.5, 0, false, false, 2});
}

struct Adam {
  double lr, beta1, beta2, eps, weightDecay;
  bool decoupled = false, amsgrad = false, maximize = false;
  int calls = 1;
};

std::string programText(const Adam &s, int call) {
  std::string attributes =
      "{lr = " + number(s.lr) + ", beta1 = " + number(s.beta1) +
      ", beta2 = " + number(s.beta2) + ", eps = " + number(s.eps) +
      ", weight_decay = " + number(s.weightDecay) +
      ", decoupled = " + (s.decoupled ? "true" : "false") +
      ", maximize = " + (s.maximize ? "true" : "false") +
      ", calls = " + std::to_string(s.calls) +
      ", call = " + std::to_string(call) + "}";
  std::string t = "tensor<3xf64>", three = t + ", " + t + ", " + t;
  std::string results = s.amsgrad ? three + ", " + t : three;
  std::string names = s.amsgrad ? "%a, %b, %c, %d" : "%a, %b, %c";
  return "graph.step @f(%s: tensor<8xi64> scalars, %p: " + t + ", %g: " + t +
         ", %m: " + t + ", %v: " + t + ", %x: " + t + ") -> (" + results +
         ") {\n" + names + " = graph.adam %p, %g, %m, %v" +
         (s.amsgrad ? ", %x " : " ") + attributes + " : (" + t + ", " +
         results + ") -> (" + results + ")\ngraph.return " + names + " : " +
         results + "\n}\n";
}

/// PyTorch's single-tensor Adam of one element.
struct AdamElement {
  double param, average = 0, square = 0, largest = 0;

  void update(const Adam &s, double grad, double t) {
    if (s.maximize)
      grad = -grad;
    if (s.decoupled)
      param *= 1 - s.lr * s.weightDecay;
    else
      grad += s.weightDecay * param;
    average = average * s.beta1 + (1 - s.beta1) * grad;
    square = square * s.beta2 + (1 - s.beta2) * grad * grad;
    largest = std::max(largest, square);
    double correction1 = 1 - std::pow(s.beta1, t);
    double correction2 = 1 - std::pow(s.beta2, t);
    double denominator =
        std::sqrt(s.amsgrad ? largest : square) / std::sqrt(correction2) +
        s.eps;
    param -= s.lr / correction1 * average / denominator;
  }
};

void checkAgainstPyTorch(const Adam &s) {
  std::vector<std::unique_ptr<Update>> updates;
  for (int call = 0; call < s.calls; ++call) {
    updates.push_back(std::make_unique<Update>(programText(s, call)));
    ASSERT_TRUE(updates.back()->function) << programText(s, call);
  }
  SCOPED_TRACE(programText(s, 0));
  auto arguments =
      caseArguments({}, updates.front()->function.getArgumentTypes());
  std::vector<AdamElement> elements;
  for (double param : arguments[1].floats)
    elements.push_back({param});
  for (size_t slot : {3, 4, 5})
    arguments[slot].floats.assign(3, 0);
  for (int64_t update = 0; update < 6; ++update) {
    arguments[0].ints[1] = update / s.calls;
    // The largest gradient is not the last one.
    arguments[2].floats = gradientOf(update % 3);
    for (size_t i = 0; i < 3; ++i)
      elements[i].update(s, arguments[2].floats[i],
                         static_cast<double>(update + 1));
    auto results = graph::evaluateStep(
        updates[static_cast<size_t>(update % s.calls)]->function, arguments);
    ASSERT_TRUE(succeeded(results));
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_NEAR((*results)[0].floats[i], elements[i].param, 1e-13) << update;
      EXPECT_NEAR((*results)[1].floats[i], elements[i].average, 1e-14);
      EXPECT_NEAR((*results)[2].floats[i], elements[i].square, 1e-14);
    }
    arguments[1] = (*results)[0];
    for (size_t slot = 1; slot < results->size(); ++slot)
      arguments[2 + slot] = (*results)[slot];
  }
}

TEST(Adam, FollowsPyTorch) {
  checkAgainstPyTorch(Adam{0.01, 0.9, 0.999, 1e-6, 0});
  checkAgainstPyTorch(Adam{0.01, 0.9, 0.999, 1e-6, 0.1});
  checkAgainstPyTorch(Adam{0.01, 0.5, 0.9, 1e-3, 0.1, true});
  checkAgainstPyTorch(Adam{0.01, 0.9, 0.5, 1e-6, 0, false, true});
  checkAgainstPyTorch(Adam{0.01, 0.0, 0.99, 1e-6, 0.1, true, true, true});
  checkAgainstPyTorch(Adam{0.01, 0.9, 0.99, 1e-6, 0, false, false, true, 3});
}

} // namespace
