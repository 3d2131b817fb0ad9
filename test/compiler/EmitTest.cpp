// encodePlan refuses what the runtime would refuse: the last line of defence,
// behind verify-races, which shares no code with it. Plans come as IR here, for
// dlcc cannot be made to schedule a race.
#include "compiler/codegen/emit/EmitPlan.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace {

/// make writes a, two readers make b and c of it, `last` writes over a.
std::string plan(const std::string &second, const std::string &third,
                 const std::string &fourth) {
  return R"(
plan.plan "m.dl" f32 arena 512 parameters 0 machine "" {
  %a = plan.buffer "a" arena bytes 64 offset 0
  %b = plan.buffer "b" arena bytes 64 offset 64
  %c = plan.buffer "c" arena bytes 64 offset 128
  %d = plan.buffer "d" arena bytes 64 offset 0
  plan.kernel @make "" tiles 1 scratch 0 bindings [64] writes [true] flops 0 bytes 0
  plan.kernel @move "" tiles 1 scratch 0 bindings [64, 64] writes [false, true] flops 0 bytes 0
  plan.dataset tensor root "" paths ["x.npy"] items 4 batch 4 components [tensor<4xf32>]
  plan.step "train" training dataset 0 accumulate 1 {
    plan.program full batch 4 {
      %0 = plan.launch @make(%a)
      %1 = plan.launch @move(%a, %b))" +
         second + R"(
      %2 = plan.launch @move(%a, %c))" +
         third + R"(
      %3 = plan.launch @make(%d))" +
         fourth + R"(
    }
  }
}
)";
}

/// What is said of it; empty if there is a plan.
std::string complaint(const std::string &text) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<dl::plan::PlanDialect>();
  std::string said;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    said += diagnostic.str() + "\n";
    return success();
  });
  auto module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
  if (!module)
    return "not parsed: " + said;
  auto plan = *module->getOps<dl::plan::PlanOp>().begin();
  FailureOr<dl::emit::PlanFile> file = dl::emit::encodePlan({plan}, {});
  EXPECT_EQ(failed(file), !said.empty());
  return said;
}

TEST(Emit, AllEdges) {
  EXPECT_EQ(complaint(plan(" after(%0)", " after(%0)", " after(%1, %2)")), "");
}

TEST(Emit, EachMissingEdgeIsARace) {
  for (const std::string &text :
       {plan("", " after(%0)", " after(%1, %2)"),
        plan(" after(%0)", "", " after(%1, %2)"),
        plan(" after(%0)", " after(%0)", " after(%2)"),
        plan(" after(%0)", " after(%0)", " after(%1)"),
        plan(" after(%0)", " after(%0)", "")}) {
    std::string said = complaint(text);
    EXPECT_NE(said.find("cannot be loaded"), std::string::npos) << said;
    EXPECT_NE(said.find("race"), std::string::npos) << said << text;
  }
}

/// Halves of a buffer, copies, and an exchange.
std::string kinds(const std::string &join) {
  return R"(
plan.plan "m.dl" f32 arena 512 parameters 0 machine "" mesh [#plan.axis<"dp", 2>] {
  %a = plan.buffer "a" arena bytes 128 offset 0
  %b = plan.buffer "b" arena bytes 128 offset 128
  %c = plan.buffer "c" arena bytes 64 offset 256
  %d = plan.buffer "d" arena bytes 64 offset 320
  plan.kernel @make "" tiles 1 scratch 0 bindings [64] writes [true] flops 0 bytes 0
  plan.dataset tensor root "" paths ["x.npy"] items 4 batch 4 components [tensor<4xf32>]
  plan.step "train" training dataset 0 accumulate 1 {
    plan.program full batch 4 {
      %0 = plan.launch @make(%a[0, 64])
      %1 = plan.launch @make(%a[64, 64])
      %2 = plan.copy %a to %b)" +
         join + R"(
      %3 = plan.communicate over ["dp"] order 5 send(0: %b[64, 64], 1: %b[64, 64]) receive(0: %c, 1: %d) after(%2)
    }
  }
}
)";
}

TEST(Emit, RangesAndKinds) {
  EXPECT_EQ(complaint(kinds(" after(%0, %1)")), "");
  for (const char *join : {"", " after(%0)", " after(%1)"}) {
    std::string said = complaint(kinds(join));
    EXPECT_NE(said.find("race: command 2 (copy) reads"), std::string::npos)
        << said;
  }
}

} // namespace
