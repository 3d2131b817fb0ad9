// Products behind views whose index is divided, as that of repeat_interleave or
// of heads that share their keys. No op of the dialect is such a view yet: ops
// of the math dialect play them.
#include "compiler/codegen/cpu/CpuCodegen.h"
#include "compiler/codegen/cpu/Passes.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "test/codegen/LoadedImage.h"
#include <gtest/gtest.h>

using namespace mlir;

namespace dl::cpu::test {
namespace {

constexpr int64_t kRows = 6, kInner = 20, kColumns = 18;

/// result[i, j] = x[i / 2, j].
struct Repeat
    : graph::LoopNestOpInterface::ExternalModel<Repeat, math::AbsFOp> {
  graph::LoopNest getLoopNest(Operation *op) const {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    graph::LoopNest nest;
    nest.extents.assign(type.getShape().begin(), type.getShape().end());
    nest.numParallel = 2;
    AffineExpr i = getAffineDimExpr(0, op->getContext());
    AffineExpr j = getAffineDimExpr(1, op->getContext());
    AffineMap map = AffineMap::get(2, 0, {i.floorDiv(2), j}, op->getContext());
    nest.accesses.push_back({map, {}, {}});
    return nest;
  }
  SmallVector<Value> buildBody(Operation *, OpBuilder &, Location,
                               ValueRange operands, ValueRange) const {
    return {operands[0]};
  }
};

/// A square product that divides the rows of its first operand itself.
struct Divided
    : graph::LoopNestOpInterface::ExternalModel<Divided, math::PowFOp> {
  graph::LoopNest getLoopNest(Operation *op) const {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    graph::LoopNest nest;
    nest.extents.assign(3, type.getDimSize(0));
    nest.numParallel = 2;
    nest.combine = graph::Combine::Sum;
    nest.contraction = true;
    auto dim = [&](unsigned d) {
      return getAffineDimExpr(d, op->getContext());
    };
    auto access = [&](AffineExpr row, AffineExpr column) {
      nest.accesses.push_back(
          {AffineMap::get(3, 0, {row, column}, op->getContext()), {}, {}});
    };
    access(dim(0).floorDiv(2), dim(2));
    access(dim(2), dim(1));
    return nest;
  }
  SmallVector<Value> buildBody(Operation *, OpBuilder &builder, Location loc,
                               ValueRange x, ValueRange) const {
    return {arith::MulFOp::create(builder, loc, x[0], x[1])};
  }
};

class IndexedView : public testing::Test {
protected:
  IndexedView() {
    context.loadDialect<graph::GraphDialect, arith::ArithDialect,
                        math::MathDialect>();
    math::AbsFOp::attachInterface<Repeat>(context);
    math::PowFOp::attachInterface<Divided>(context);
  }

  OwningOpRef<ModuleOp> parse(const char *text) {
    return parseSourceString<ModuleOp>(text, &context);
  }

  LogicalResult annotate(ModuleOp module) {
    PassManager manager(&context);
    manager.addPass(createAnnotateKernels());
    return manager.run(module);
  }

  MLIRContext context;
};

TEST_F(IndexedView, IsComputedBeforeTheProduct) {
  auto module = parse(R"(
    graph.step @step(%x: tensor<6x20xf32>, %w: tensor<20x18xf32>) -> tensor<6x18xf32> {
      %0 = graph.kernel %x, %w {name = "product"} : (tensor<6x20xf32>, tensor<20x18xf32>) -> tensor<6x18xf32> {
      ^bb0(%a: tensor<6x20xf32>, %b: tensor<20x18xf32>):
        %1 = math.absf %a : tensor<6x20xf32>
        %2 = graph.matmul %1, %b {spec = "mk,kn->mn"} : (tensor<6x20xf32>, tensor<20x18xf32>) -> tensor<6x18xf32>
        graph.yield %2 : tensor<6x18xf32>
      }
      graph.return %0 : tensor<6x18xf32>
    })");
  ASSERT_TRUE(module);
  ASSERT_TRUE(succeeded(annotate(*module)));
  CpuOptions options;
  options.cache = false;
  options.threads = 1;
  auto code = compileKernels(*module, options);
  ASSERT_TRUE(succeeded(code));
  graph::StepOp step = *module->getOps<graph::StepOp>().begin();
  graph::KernelOp kernel = *step.getOps<graph::KernelOp>().begin();

  // Small integers: sums are exact. Behind each buffer is room to over-read.
  struct alignas(64) Memory {
    float x[kRows * kInner + 16], w[kInner * kColumns + 16];
    float y[kRows * kColumns + 16];
    char scratch[1 << 16];
  };
  auto memory = std::make_unique<Memory>();
  for (int64_t i = 0; i < kRows * kInner; ++i)
    memory->x[i] = float(i % 7 + i / kInner);
  for (int64_t i = 0; i < kInner * kColumns; ++i)
    memory->w[i] = float(i % 5 - 2);
  ASSERT_LE(code->scratchBytes["product"], sizeof(memory->scratch));
  for (const CpuImage &image : code->images) {
    if (llvm::none_of(executableTargets(), [&](const TargetVariant &variant) {
          return variant.features == image.features;
        }))
      continue;
    LoadedImage loaded = LoadedImage::load(image.elf);
    std::fill(std::begin(memory->y), std::end(memory->y), -1.0f);
    void *bindings[] = {memory->x, memory->w, memory->y};
    loaded.kernel("product")(bindings, nullptr, memory->scratch, 0,
                             *kernel.getTiles());
    for (int64_t m = 0; m < kRows; ++m)
      for (int64_t n = 0; n < kColumns; ++n) {
        float sum = 0;
        for (int64_t k = 0; k < kInner; ++k)
          sum += memory->x[m / 2 * kInner + k] * memory->w[k * kColumns + n];
        EXPECT_EQ(memory->y[m * kColumns + n], sum)
            << image.features << " at " << m << "," << n;
      }
  }
}

TEST_F(IndexedView, WithinTheProductIsAnError) {
  auto module = parse(R"(
    graph.step @step(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
      %0 = graph.kernel %x, %w {name = "product"} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> {
      ^bb0(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>):
        %1 = math.powf %a, %b : tensor<8x8xf32>
        graph.yield %1 : tensor<8x8xf32>
      }
      graph.return %0 : tensor<8x8xf32>
    })");
  ASSERT_TRUE(module);
  std::string text;
  ScopedDiagnosticHandler collect(&context, [&](Diagnostic &diagnostic) {
    text += diagnostic.str();
    return success();
  });
  EXPECT_TRUE(failed(annotate(*module)));
  EXPECT_NE(text.find("reads an operand at d0 floordiv 2, which is not linear"),
            text.npos)
      << text;
}

} // namespace
} // namespace dl::cpu::test
