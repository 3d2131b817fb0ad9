#include "compiler/codegen/cuda/PayloadText.h"
#include "dialects/graph/Bf16.h"
#include "dialects/graph/Check.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Format.h"
#include <cmath>

using namespace mlir;

namespace dl::cuda {

std::string valueType(Type scalar) {
  if (scalar.isF32())
    return "float";
  if (scalar.isF64())
    return "double";
  if (scalar.isBF16())
    return "unsigned short";
  if (scalar.isInteger(1))
    return "bool";
  if (scalar.isIndex())
    return "long long";
  switch (scalar.getIntOrFloatBitWidth()) {
  case 8:
    return "signed char";
  case 16:
    return "short";
  case 32:
    return "int";
  default:
    return "long long";
  }
}

static std::string unsignedType(Type scalar) {
  std::string type = valueType(scalar);
  return type == "bool"          ? type
         : type == "signed char" ? "unsigned char"
                                 : "unsigned " + type;
}

std::string memoryType(Type element) {
  if (element.isInteger(1) || element.isInteger(8))
    return "unsigned char";
  return valueType(element);
}

std::string floatLiteral(double value, Type type) {
  if (type.isBF16())
    return std::to_string(
        graph::nearestBf16(value).bitcastToAPInt().getZExtValue());
  bool single = type.isF32();
  if (std::isnan(value))
    return single ? "__uint_as_float(0x7fc00000u)"
                  : "__longlong_as_double(0x7ff8000000000000ll)";
  if (std::isinf(value))
    return std::string(value < 0 ? "-" : "") +
           (single ? "__uint_as_float(0x7f800000u)"
                   : "__longlong_as_double(0x7ff0000000000000ll)");
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << llvm::format(single ? "%.9g" : "%.17g", value);
  if (text.find_first_of(".e") == std::string::npos)
    text += ".0";
  if (single)
    text += "f";
  return value < 0 || std::signbit(value) ? "(" + text + ")" : text;
}

static std::string constantText(arith::ConstantOp op) {
  if (auto number = dyn_cast<FloatAttr>(op.getValue()))
    return floatLiteral(number.getValueAsDouble(), op.getType());
  auto number = cast<IntegerAttr>(op.getValue());
  if (op.getType().isInteger(1))
    return number.getValue().isZero() ? "false" : "true";
  int64_t value = number.getValue().getSExtValue();
  if (value == std::numeric_limits<int64_t>::min())
    return "(-9223372036854775807ll - 1)";
  std::string text = std::to_string(value);
  if (op.getType().isInteger(64) || op.getType().isIndex())
    text += "ll";
  return value < 0 ? "(" + text + ")" : text;
}

static std::string comparison(arith::CmpFPredicate predicate, StringRef x,
                              StringRef y) {
  auto is = [&](StringRef sign) { return (x + " " + sign + " " + y).str(); };
  auto isNot = [&](StringRef sign) { return "!(" + is(sign) + ")"; };
  switch (predicate) {
  case arith::CmpFPredicate::AlwaysFalse:
    return "false";
  case arith::CmpFPredicate::OEQ:
    return is("==");
  case arith::CmpFPredicate::OGT:
    return is(">");
  case arith::CmpFPredicate::OGE:
    return is(">=");
  case arith::CmpFPredicate::OLT:
    return is("<");
  case arith::CmpFPredicate::OLE:
    return is("<=");
  case arith::CmpFPredicate::ONE:
    return "(" + is("<") + " || " + is(">") + ")";
  case arith::CmpFPredicate::ORD:
    return ("(" + x + " == " + x + " && " + y + " == " + y + ")").str();
  case arith::CmpFPredicate::UEQ:
    return "!(" + is("<") + " || " + is(">") + ")";
  case arith::CmpFPredicate::UGT:
    return isNot("<=");
  case arith::CmpFPredicate::UGE:
    return isNot("<");
  case arith::CmpFPredicate::ULT:
    return isNot(">=");
  case arith::CmpFPredicate::ULE:
    return isNot(">");
  case arith::CmpFPredicate::UNE:
    return is("!=");
  case arith::CmpFPredicate::UNO:
    return ("(" + x + " != " + x + " || " + y + " != " + y + ")").str();
  case arith::CmpFPredicate::AlwaysTrue:
    return "true";
  }
  DL_UNREACHABLE("all predicates are handled");
}

static std::string comparison(arith::CmpIOp op, StringRef x, StringRef y) {
  auto is = [&](StringRef sign) { return (x + " " + sign + " " + y).str(); };
  auto unsign = [&](StringRef sign) {
    std::string type = "(" + unsignedType(op.getLhs().getType()) + ")";
    return type + x.str() + " " + sign.str() + " " + type + y.str();
  };
  switch (op.getPredicate()) {
  case arith::CmpIPredicate::eq:
    return is("==");
  case arith::CmpIPredicate::ne:
    return is("!=");
  case arith::CmpIPredicate::slt:
    return is("<");
  case arith::CmpIPredicate::sle:
    return is("<=");
  case arith::CmpIPredicate::sgt:
    return is(">");
  case arith::CmpIPredicate::sge:
    return is(">=");
  case arith::CmpIPredicate::ult:
    return unsign("<");
  case arith::CmpIPredicate::ule:
    return unsign("<=");
  case arith::CmpIPredicate::ugt:
    return unsign(">");
  case arith::CmpIPredicate::uge:
    return unsign(">=");
  }
  DL_UNREACHABLE("all predicates are handled");
}

static StringRef infix(Operation *op) {
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case<arith::AddFOp>([](auto) { return "+"; })
      .Case<arith::SubFOp>([](auto) { return "-"; })
      .Case<arith::MulFOp>([](auto) { return "*"; })
      .Case<arith::DivFOp, arith::DivSIOp>([](auto) { return "/"; })
      .Case<arith::RemSIOp>([](auto) { return "%"; })
      .Case<arith::AndIOp>([](auto) { return "&"; })
      .Case<arith::OrIOp>([](auto) { return "|"; })
      .Case<arith::XOrIOp>([](auto) { return "^"; })
      .Case<arith::ShRSIOp>([](auto) { return ">>"; })
      .Default([](Operation *) { return ""; });
}

/// Of unsigned numbers, and of numbers that wrap, which signed ones may not.
static StringRef unsignedInfix(Operation *op) {
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case<arith::AddIOp>([](auto) { return "+"; })
      .Case<arith::SubIOp>([](auto) { return "-"; })
      .Case<arith::MulIOp>([](auto) { return "*"; })
      .Case<arith::DivUIOp>([](auto) { return "/"; })
      .Case<arith::RemUIOp>([](auto) { return "%"; })
      .Case<arith::ShLIOp>([](auto) { return "<<"; })
      .Case<arith::ShRUIOp>([](auto) { return ">>"; })
      .Default([](Operation *) { return ""; });
}

/// Of functions of floating-point numbers, what they are called for floats; for
/// doubles without the f.
static StringRef function(Operation *op) {
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case<math::SqrtOp>([](auto) { return "sqrtf"; })
      .Case<math::AbsFOp>([](auto) { return "fabsf"; })
      .Case<math::FloorOp>([](auto) { return "floorf"; })
      .Case<math::CeilOp>([](auto) { return "ceilf"; })
      .Case<math::RoundEvenOp>([](auto) { return "rintf"; })
      .Case<math::CopySignOp>([](auto) { return "copysignf"; })
      .Case<math::FmaOp>([](auto) { return "fmaf"; })
      .Default([](Operation *) { return ""; });
}

std::optional<formula::Function> formulaOf(Operation *op) {
  using F = formula::Function;
  return llvm::TypeSwitch<Operation *, std::optional<F>>(op)
      .Case<math::ExpOp>([](auto) { return F::Exp; })
      .Case<math::LogOp>([](auto) { return F::Log; })
      .Case<math::SinOp>([](auto) { return F::Sin; })
      .Case<math::CosOp>([](auto) { return F::Cos; })
      .Case<math::TanhOp>([](auto) { return F::Tanh; })
      .Case<math::ErfOp>([](auto) { return F::Erf; })
      .Case<math::PowFOp>([](auto) { return F::Pow; })
      .Default([](Operation *) { return std::nullopt; });
}

static std::string castText(Operation *op, const std::string &x) {
  Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
  if (from.isBF16())
    return "widened(" + x + ")";
  if (to.isBF16())
    return "roundedToBf16(" + x + ")";
  std::string type = "(" + valueType(to) + ")";
  if (isa<arith::ExtUIOp, arith::UIToFPOp, arith::IndexCastUIOp>(op))
    return type + "(" + unsignedType(from) + ")" + x;
  if (isa<arith::FPToUIOp>(op))
    return type + "(" + unsignedType(to) + ")" + x;
  if (auto trunc = dyn_cast<arith::TruncIOp>(op); trunc && to.isInteger(1))
    return "(" + x + " & 1) != 0";
  if (isa<arith::ExtSIOp>(op) && from.isInteger(1))
    return type + "(-(int)" + x + ")";
  if (isa<arith::BitcastOp>(op)) {
    std::string cast = from.isF32()   ? "__float_as_int"
                       : to.isF32()   ? "__int_as_float"
                       : from.isF64() ? "__double_as_longlong"
                                      : "__longlong_as_double";
    return cast + "(" + x + ")";
  }
  return type + x;
}

static bool isCast(Operation *op) {
  return isa<arith::ExtUIOp, arith::ExtSIOp, arith::TruncIOp, arith::SIToFPOp,
             arith::UIToFPOp, arith::FPToSIOp, arith::FPToUIOp, arith::ExtFOp,
             arith::TruncFOp, arith::BitcastOp, arith::IndexCastOp,
             arith::IndexCastUIOp>(op);
}

/// NaN wins over all.
static std::string minMax(StringRef x, StringRef y, StringRef better) {
  return ("(" + x + " " + better + " " + y + " || " + x + " != " + x + ") ? " +
          x + " : " + y)
      .str();
}

static std::string single(Operation *op, ArrayRef<std::string> x) {
  Type type = op->getResult(0).getType();
  auto joined = [&](StringRef sign) {
    return x[0] + " " + sign.str() + " " + x[1];
  };
  if (StringRef sign = infix(op); !sign.empty())
    return joined(sign);
  if (StringRef sign = unsignedInfix(op); !sign.empty())
    return "(" + valueType(type) + ")((" + unsignedType(type) + ")" + x[0] +
           " " + sign.str() + " (" + unsignedType(type) + ")" + x[1] + ")";
  if (auto formula = formulaOf(op))
    return formula::cudaName(*formula, type.isF64()) + "(" +
           llvm::join(x, ", ") + ")";
  if (StringRef name = function(op); !name.empty())
    return (type.isF32() ? name : name.drop_back()).str() + "(" +
           llvm::join(x, ", ") + ")";
  if (isCast(op))
    return castText(op, x[0]);
  auto choose = [&](StringRef sign, bool unsign) {
    std::string as = unsign ? "(" + unsignedType(type) + ")" : "";
    return as + x[0] + " " + sign.str() + " " + as + x[1] + " ? " + x[0] +
           " : " + x[1];
  };
  return llvm::TypeSwitch<Operation *, std::string>(op)
      .Case([&](arith::ConstantOp c) { return constantText(c); })
      .Case([&](arith::NegFOp) { return "-" + x[0]; })
      .Case([&](arith::CmpFOp c) {
        return comparison(c.getPredicate(), x[0], x[1]);
      })
      .Case([&](arith::CmpIOp c) { return comparison(c, x[0], x[1]); })
      .Case([&](arith::SelectOp) { return x[0] + " ? " + x[1] + " : " + x[2]; })
      .Case([&](arith::MaximumFOp) { return minMax(x[0], x[1], ">"); })
      .Case([&](arith::MinimumFOp) { return minMax(x[0], x[1], "<"); })
      .Case([&](arith::MaxSIOp) { return choose(">", false); })
      .Case([&](arith::MinSIOp) { return choose("<", false); })
      .Case([&](arith::MaxUIOp) { return choose(">", true); })
      .Case([&](arith::MinUIOp) { return choose("<", true); })
      .Case(
          [&](math::AbsIOp) { return x[0] + " < 0 ? -" + x[0] + " : " + x[0]; })
      .Case([&](math::RsqrtOp) {
        return type.isF32() ? "1.0f / sqrtf(" + x[0] + ")"
                            : "1.0 / sqrt(" + x[0] + ")";
      })
      .Default([](Operation *) { return ""; });
}

SmallVector<std::string, 2> payloadText(Operation *op,
                                        ArrayRef<std::string> operands) {
  std::string text = single(op, operands);
  if (text.empty())
    return {};
  return {text};
}

} // namespace dl::cuda
