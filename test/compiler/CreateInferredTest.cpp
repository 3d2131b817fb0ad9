// createInferred answers every wrong call with a message; nothing crashes.

#include "dialects/graph/Inference.h"
#include "mlir/IR/Diagnostics.h"
#include "test/compiler/OpCases.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace dl;
using namespace dl::test;

namespace {

class CreateInferred : public testing::Test {
protected:
  CreateInferred() : context(MLIRContext::Threading::DISABLED) {
    loadDialects(context);
  }

  /// The message of the attempt; empty if it succeeds.
  std::string attempt(StringRef op, ArrayRef<Type> operands,
                      ArrayRef<NamedAttribute> attributes = {}) {
    std::string message;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      if (message.empty())
        message = diagnostic.str();
      return success();
    });
    Location loc = UnknownLoc::get(&context);
    Block block;
    SmallVector<Value> values;
    for (Type type : operands)
      values.push_back(block.addArgument(type, loc));
    OpBuilder builder(&context);
    builder.setInsertionPointToEnd(&block);
    auto created = graph::createInferred(builder, loc, op, values, attributes);
    EXPECT_EQ(succeeded(created), message.empty());
    return message;
  }

  Type tensor(ArrayRef<int64_t> shape) {
    return RankedTensorType::get(shape, Float32Type::get(&context));
  }
  NamedAttribute named(StringRef name, Attribute value) {
    return Builder(&context).getNamedAttr(name, value);
  }

  MLIRContext context;
};

TEST_F(CreateInferred, Works) {
  EXPECT_EQ(attempt("graph.add", {tensor({3}), tensor({})}), "");
}

TEST_F(CreateInferred, UnknownOp) {
  EXPECT_EQ(attempt("graph.frobnicate", {}),
            "graph.frobnicate: there is no such op");
  EXPECT_EQ(attempt("graph.state", {}), "graph.state: there is no such op");
}

TEST_F(CreateInferred, OperandCount) {
  EXPECT_EQ(attempt("graph.add", {tensor({3})}),
            "add: takes 2 operands, got 1");
  EXPECT_EQ(attempt("graph.exp", {}), "exp: takes 1 operands, got 0");
  EXPECT_EQ(attempt("graph.sgd", {tensor({3})}),
            "sgd: more operands are needed");
  EXPECT_EQ(attempt("graph.gradients", {}),
            "gradients: more operands are needed");
}

TEST_F(CreateInferred, OperandType) {
  EXPECT_EQ(attempt("graph.exp", {IndexType::get(&context)}),
            "exp: the type 'index' is not a tensor of this dialect");
  EXPECT_EQ(attempt("graph.exp", {tensor({ShapedType::kDynamic})}),
            "exp: the type 'tensor<?xf32>' is not a tensor of this dialect");
}

TEST_F(CreateInferred, MissingAttribute) {
  EXPECT_EQ(attempt("graph.softmax", {tensor({3})}),
            "softmax: needs the attribute 'dim'");
}

TEST_F(CreateInferred, UnknownAttribute) {
  Attribute one = Builder(&context).getI64IntegerAttr(1);
  EXPECT_EQ(attempt("graph.exp", {tensor({3})}, named("base", one)),
            "exp: has no attribute 'base'");
}

TEST_F(CreateInferred, TooLarge) {
  int64_t large = int64_t{1} << 21;
  EXPECT_EQ(attempt("graph.add", {tensor({large, 1}), tensor({large})}),
            "add: the result [2097152,2097152] is too large");
}

TEST_F(CreateInferred, OverflowingShapeIsNoMatch) {
  int64_t huge = int64_t{1} << 32;
  Attribute shape = Builder(&context).getDenseI64ArrayAttr({huge, huge, 1, 0});
  EXPECT_EQ(attempt("graph.reshape", {tensor({0})}, named("shape", shape)), "");
  shape = Builder(&context).getDenseI64ArrayAttr({huge, huge});
  EXPECT_NE(attempt("graph.reshape", {tensor({0})}, named("shape", shape)), "");
}

TEST_F(CreateInferred, WrongAttribute) {
  Attribute text = Builder(&context).getStringAttr("1");
  std::string message =
      attempt("graph.softmax", {tensor({3})}, named("dim", text));
  EXPECT_NE(message.find("softmax: "), std::string::npos) << message;
  EXPECT_NE(message.find("dim"), std::string::npos) << message;
}

} // namespace
