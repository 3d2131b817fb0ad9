#include "compiler/codegen/math/Recorder.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using llvm::ArrayRef;

namespace dl::formula {

const char *Recorder::typeName(Type type) {
  switch (type) {
  case Type::F32:
    return "float";
  case Type::F64:
    return "double";
  case Type::I32:
    return "unsigned int";
  case Type::I64:
    return "unsigned long long";
  case Type::Bool:
    return "bool";
  }
  return nullptr;
}

Recorder::Node *Recorder::unique(Node node) {
  Key key(node.op, node.type,
          std::vector<Node *>(node.operands.begin(), node.operands.end()),
          node.text);
  auto [it, isNew] = known.try_emplace(std::move(key));
  if (isNew)
    it->second = &nodes.emplace_back(std::move(node));
  return it->second;
}

Vec Recorder::parameter(Type type, const char *name) {
  ++names[name];
  return Vec(*this, type, unique({.type = type, .text = name}));
}

Emitter::Ref Recorder::number(Type type, double value) {
  bool isFloat = type == Type::F32;
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (std::isnan(value))
    stream << (isFloat ? "__uint_as_float(0x7fc00000u)"
                       : "__longlong_as_double(0x7ff8000000000000ll)");
  else if (std::isinf(value))
    stream << (value < 0 ? "-" : "")
           << (isFloat ? "__uint_as_float(0x7f800000u)"
                       : "__longlong_as_double(0x7ff0000000000000ll)");
  else {
    double rounded = isFloat ? static_cast<float>(value) : value;
    bool isShort =
        std::fabs(rounded) < 10000 && rounded * 2 == std::trunc(rounded * 2);
    stream << llvm::format(isShort ? "%.1f" : "%a", rounded)
           << (isFloat ? "f" : "");
  }
  return unique({.type = type, .text = text});
}

static std::string integerText(Type type, int64_t value) {
  bool isWide = type == Type::I64;
  uint64_t bits = isWide ? value : static_cast<uint32_t>(value);
  std::string digits =
      bits < 100 ? std::to_string(bits) : "0x" + llvm::utohexstr(bits, true);
  return digits + (isWide ? "ull" : "u");
}

Emitter::Ref Recorder::integer(Type type, int64_t value) {
  return unique({.type = type, .text = integerText(type, value)});
}

Emitter::Ref Recorder::emit(Op op, Type type, ArrayRef<Ref> operands) {
  auto *first = static_cast<Node *>(operands[0]);
  bool isCastBack = (op == Op::Bits && first->op == Op::Number) ||
                    (op == Op::Number && first->op == Op::Bits);
  if (isCastBack && first->isOperation())
    return first->operands[0];
  if (op == Op::AddInt &&
      static_cast<Node *>(operands[1])->text == integerText(type, 0))
    return first;
  Node node{.type = type, .op = op};
  for (Ref operand : operands)
    node.operands.push_back(static_cast<Node *>(operand));
  return unique(std::move(node));
}

void Recorder::name(Ref value, const char *name) {
  auto *node = static_cast<Node *>(value);
  if (!node->hint)
    node->hint = name;
}

std::string Recorder::statements(ArrayRef<Vec> results) {
  for (Vec result : results)
    countReaders(nodeOf(result));
  std::string text;
  for (Node &node : nodes) {
    if (!node.isNeeded || !node.isOperation() || isInlined(node))
      continue;
    node.name = newName(node);
    text += std::string("  const ") + typeName(node.type) + " " + node.name +
            " = " + expression(node) + ";\n";
  }
  return text;
}

std::string Recorder::reference(Vec result) const {
  return read(*nodeOf(result));
}

void Recorder::countReaders(Node *node) {
  if (std::exchange(node->isNeeded, true))
    return;
  for (Node *operand : node->operands) {
    ++operand->readers;
    countReaders(operand);
  }
}

std::string Recorder::newName(const Node &node) {
  std::string stem = node.hint ? node.hint : "t";
  unsigned number = names[stem]++;
  return number == 0 && node.hint ? stem : stem + std::to_string(number);
}

bool Recorder::isInlined(const Node &node) {
  switch (node.op) {
  case Op::Neg:
    return node.readers <= 1 || !isInlined(*node.operands[0]);
  case Op::Add:
  case Op::Sub:
  case Op::Mul:
  case Op::Div:
  case Op::Fma:
  case Op::Floor:
  case Op::Select:
    return false;
  default:
    return node.readers <= 1 && !node.hint;
  }
}

std::string Recorder::read(const Node &node) {
  if (!node.isOperation())
    return node.text;
  return node.name.empty() ? expression(node) : node.name;
}

static bool isBinary(Op op) {
  switch (op) {
  case Op::And:
  case Op::Or:
  case Op::Xor:
  case Op::AddInt:
  case Op::SubInt:
  case Op::MulInt:
  case Op::ShiftLeft:
  case Op::ShiftRight:
    return true;
  default:
    return false;
  }
}

static bool isComparison(Op op) {
  return op == Op::Less || op == Op::Greater || op == Op::Equal ||
         op == Op::NotZero;
}

/// As an operand of an operator.
std::string Recorder::readNested(const Node &node, Op reader) {
  std::string text = read(node);
  bool isSigned =
      text.front() == '-' && (reader == Op::Sub || reader == Op::Neg);
  bool needsParentheses = isSigned;
  if (node.isOperation() && node.name.empty()) {
    bool isCondition =
        reader == Op::And || reader == Op::Or || reader == Op::Select;
    needsParentheses |=
        isComparison(node.op) ? !isCondition : isBinary(node.op);
  }
  return needsParentheses ? "(" + text + ")" : text;
}

std::string Recorder::expression(const Node &node) {
  bool isBool = node.type == Type::Bool, isFloat = node.type == Type::F32;
  auto nested = [&](unsigned i) {
    return readNested(*node.operands[i], node.op);
  };
  auto binary = [&](const char *symbol) {
    return nested(0) + " " + symbol + " " + nested(1);
  };
  auto call = [&](std::string function) {
    std::string text = std::move(function) + "(";
    for (auto [i, operand] : llvm::enumerate(node.operands))
      text += (i ? ", " : "") + read(*operand);
    return text + ")";
  };
  auto distance = [&] {
    const Node &bits = *node.operands[1];
    return bits.isOperation() ? nested(1)
                              : llvm::StringRef(bits.text).rtrim("ul").str();
  };
  auto cast = [&] { return "(" + std::string(typeName(node.type)) + ")"; };
  switch (node.op) {
  case Op::Add:
  case Op::AddInt:
    return binary("+");
  case Op::Sub:
  case Op::SubInt:
    return binary("-");
  case Op::Mul:
  case Op::MulInt:
    return binary("*");
  case Op::Div:
    return binary("/");
  case Op::Neg:
    return "-" + nested(0);
  case Op::Abs:
    return call(isFloat ? "fabsf" : "fabs");
  case Op::Floor:
    return call(isFloat ? "floorf" : "floor");
  case Op::Fma:
    return call(isFloat ? "fmaf" : "fma");
  case Op::Less:
    return binary("<");
  case Op::Greater:
    return binary(">");
  case Op::Equal:
    return binary("==");
  case Op::And:
    return binary(isBool ? "&&" : "&");
  case Op::Or:
    return binary(isBool ? "||" : "|");
  case Op::Xor:
    return binary(isBool ? "!=" : "^");
  case Op::Not:
    return (isBool ? "!" : "~") + nested(0);
  case Op::NotZero:
    return nested(0) + " != 0";
  case Op::ShiftLeft:
    return nested(0) + " << " + distance();
  case Op::ShiftRight:
    return nested(0) + " >> " + distance();
  case Op::Select:
    return nested(0) + " ? " + nested(1) + " : " + nested(2);
  case Op::Bits:
    return node.type == Type::I32 ? call("__float_as_uint")
                                  : cast() + call("__double_as_longlong");
  case Op::Number:
    return isFloat ? call("__uint_as_float") : call("__longlong_as_double");
  case Op::ToDouble:
  case Op::ToFloat:
  case Op::Truncate:
  case Op::Widen:
    return cast() + nested(0);
  }
  return {};
}

} // namespace dl::formula
