// Micro-batches and an update give what one large batch gives.

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

using Tensors = SmallVector<graph::HostTensor>;

/// Mean squared error of a linear layer on a batch, one SGD step.
std::string stepText(const std::string &name, int batch,
                     const std::string &isShort) {
  std::string b = std::to_string(batch);
  std::string x = "tensor<" + b + "x3xf64>", y = "tensor<" + b + "x2xf64>";
  std::string w = "tensor<2x3xf64>", f = "tensor<f64>";
  return "graph.step @" + name + "(%x: " + x + " input 0, %t: " + y +
         " input 1, %s: tensor<8xi64> scalars, %w: " + w +
         " state @w, %m: " + w + " state @m) -> (" + f + " metric \"loss\", " +
         w + " state @w, " + w + " state @m) of \"train\" training " + isShort +
         "batch " + b + " {\n" +
         "%0 = graph.matmul %x, %w {spec = \"mk,nk->mn\"} : (" + x + ", " + w +
         ") -> " + y + "\n" + "%1 = graph.sub %0, %t : (" + y + ", " + y +
         ") -> " + y + "\n" + "%2 = graph.mul %1, %1 : (" + y + ", " + y +
         ") -> " + y + "\n" +
         "%3 = graph.sum %2 {dims = array<i64: 0, 1>} : (" + y + ") -> " + f +
         "\n%4 = graph.full {value = " + std::to_string(2 * batch) +
         ".0, type = " + f + "} : () -> " + f + "\n%5 = graph.div %3, %4 : (" +
         f + ", " + f + ") -> " + f + "\n%g = graph.gradients %5, %w : (" + f +
         ", " + w + ") -> " + w +
         "\n%w1, %m1 = graph.sgd %w, %g, %m {lr = 0.1, momentum = 0.9} : (" +
         w + ", " + w + ", " + w + ") -> (" + w + ", " + w +
         ")\ngraph.return %5, %w1, %m1 : " + f + ", " + w + ", " + w + "\n}\n";
}

std::string stateText() {
  return "graph.state @w {type = tensor<2x3xf64>, role = \"parameter\"}\n"
         "graph.state @m {type = tensor<2x3xf64>, role = \"slot\", of = "
         "\"w\"}\n";
}

OwningOpRef<ModuleOp> compile(MLIRContext &context, const std::string &text) {
  auto module = parseSourceString<ModuleOp>(text, &context);
  PassManager manager(&context);
  buildBackwardPipeline(manager);
  if (!module || failed(manager.run(*module)))
    return {};
  return module;
}

Tensors evaluate(ModuleOp module, StringRef name, const Tensors &arguments) {
  auto function = module.lookupSymbol<graph::StepOp>(name);
  EXPECT_TRUE(function) << name.str();
  auto results = graph::evaluateStep(function, arguments);
  EXPECT_TRUE(succeeded(results));
  return *results;
}

/// Rows [begin, end) of a batch.
graph::HostTensor rows(const graph::HostTensor &all, int64_t begin,
                       int64_t end) {
  int64_t width = all.shape()[1];
  graph::HostTensor part(
      RankedTensorType::get({end - begin, width}, all.type.getElementType()));
  std::copy(all.floats.begin() + begin * width,
            all.floats.begin() + end * width, part.floats.begin());
  return part;
}

void expectNear(const graph::HostTensor &actual,
                const graph::HostTensor &expected) {
  ASSERT_EQ(actual.floats.size(), expected.floats.size());
  for (size_t i = 0; i < actual.floats.size(); ++i)
    EXPECT_NEAR(actual.floats[i], expected.floats[i], 1e-14);
}

// A group of 10 items: two micro-batches of 4 and a short one of 2.
TEST(SplitStep, EqualsOneLargeBatch) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  loadDialects(context);
  auto whole = compile(context, "module {" + stateText() +
                                    stepText("train", 10, "") + "}");
  auto split =
      compile(context, "module { graph.program \"m\" dtype f64 accumulate 3\n" +
                           stateText() + stepText("train", 4, "") +
                           stepText("train.short", 2, "short ") + "}");
  ASSERT_TRUE(whole && split);

  Tensors all = caseArguments(
      {}, whole->lookupSymbol<graph::StepOp>("train").getArgumentTypes());
  Tensors expected = evaluate(*whole, "train", all);

  graph::HostTensor scalars = all[2];
  scalars.ints[3] = 10;
  graph::HostTensor accumulator(all[3].type);
  accumulator.floats.assign(6, 1e9); // What an earlier group has left.
  int64_t begin = 0, micro = 0;
  for (int64_t items : {4, 4, 2}) {
    scalars.ints[2] = micro++;
    StringRef name = items == 4 ? "train" : "train.short";
    Tensors results = evaluate(*split, name,
                               {rows(all[0], begin, begin + items),
                                rows(all[1], begin, begin + items), scalars,
                                all[3], all[4], accumulator});
    ASSERT_EQ(results.size(), 2u);
    accumulator = results[1];
    begin += items;
  }
  Tensors updated =
      evaluate(*split, "train.update", {scalars, accumulator, all[3], all[4]});
  ASSERT_EQ(updated.size(), 2u);
  expectNear(updated[0], expected[1]);
  expectNear(updated[1], expected[2]);
}

} // namespace
