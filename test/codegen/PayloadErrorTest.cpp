// What a payload says and the CPU has no code for is an error of the kernel.
#include "compiler/codegen/cpu/CpuCodegen.h"
#include "compiler/codegen/cpu/Passes.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include <gtest/gtest.h>

using namespace mlir;

namespace dl::cpu::test {
namespace {

/// An elementwise op whose payload nobody emits.
struct Cosh : graph::LoopNestOpInterface::ExternalModel<Cosh, math::CoshOp> {
  graph::LoopNest getLoopNest(Operation *op) const {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    graph::LoopNest nest;
    nest.extents.assign(type.getShape().begin(), type.getShape().end());
    nest.numParallel = type.getRank();
    nest.accesses.push_back(
        {AffineMap::getMultiDimIdentityMap(type.getRank(), op->getContext()),
         {},
         {}});
    return nest;
  }
  SmallVector<Value> buildBody(Operation *, OpBuilder &builder, Location loc,
                               ValueRange operands, ValueRange) const {
    return {math::CoshOp::create(builder, loc, operands[0])};
  }
};

TEST(Payload, AnOpWithoutCodeIsAnErrorOfTheKernel) {
  MLIRContext context;
  context.loadDialect<graph::GraphDialect, arith::ArithDialect,
                      math::MathDialect>();
  math::CoshOp::attachInterface<Cosh>(context);
  auto module = parseSourceString<ModuleOp>(R"(
    graph.step @step(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = graph.kernel %x {name = "cosh"} : (tensor<4xf32>) -> tensor<4xf32> {
      ^bb0(%a: tensor<4xf32>):
        %1 = math.cosh %a : tensor<4xf32>
        graph.yield %1 : tensor<4xf32>
      }
      graph.return %0 : tensor<4xf32>
    })",
                                            &context);
  ASSERT_TRUE(module);
  PassManager manager(&context);
  manager.addPass(createAnnotateKernels());
  ASSERT_TRUE(succeeded(manager.run(*module)));
  std::string text;
  ScopedDiagnosticHandler collect(&context, [&](Diagnostic &diagnostic) {
    text += diagnostic.str();
    return success();
  });
  CpuOptions options;
  options.cache = false;
  options.threads = 1;
  EXPECT_TRUE(failed(compileKernels(*module, options)));
  EXPECT_NE(text.find("there is no code for math.cosh"), text.npos) << text;
}

} // namespace
} // namespace dl::cpu::test
