// Division by a constant.
#include "compiler/codegen/cpu/VectorMath.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include <bit>
#include <cmath>
#include <optional>

using namespace llvm;

namespace dl::cpu {

namespace {
/// The vector `root` as a function of one byte that its lanes are made of:
/// (byte / 255 - 0.1307) / 0.3081. T is the type of its elements.
template <typename T> class ByteFunction {
public:
  explicit ByteFunction(Value *root) : root(root) {}

  /// Nothing where it depends on anything else.
  std::optional<T> at(uint8_t value) {
    byte = value;
    visited = 0;
    known.clear();
    return evaluate(root);
  }

private:
  std::optional<T> evaluate(Value *v) {
    auto it = known.find(v);
    if (it == known.end()) {
      std::optional<T> result = compute(v);
      it = known.insert({v, result}).first;
    }
    return it->second;
  }

  std::optional<T> compute(Value *v) {
    if (++visited > maxValues)
      return std::nullopt;
    if (auto *constant = dyn_cast<Constant>(v)) {
      auto *splat = dyn_cast_or_null<ConstantFP>(constant->getSplatValue());
      return splat ? std::optional(valueOf(splat)) : std::nullopt;
    }
    auto *op = dyn_cast<Instruction>(v);
    if (!op)
      return std::nullopt;
    if (isa<UIToFPInst, SIToFPInst>(op))
      return convert(op->getOperand(0), isa<SIToFPInst>(op));
    if (auto *shuffle = dyn_cast<ShuffleVectorInst>(op))
      return shuffle->isZeroEltSplat() ? evaluate(op->getOperand(0))
                                       : std::nullopt;
    auto *call = dyn_cast<IntrinsicInst>(op);
    bool isFma = call && call->getIntrinsicID() == Intrinsic::fma;
    if (!isa<BinaryOperator, UnaryOperator>(op) && !isFma)
      return std::nullopt;
    T x[3] = {};
    for (unsigned i = 0; i < (isFma ? 3 : op->getNumOperands()); ++i) {
      std::optional<T> operand = evaluate(op->getOperand(i));
      if (!operand)
        return std::nullopt;
      x[i] = *operand;
    }
    if (isFma)
      return std::fma(x[0], x[1], x[2]);
    switch (op->getOpcode()) {
    case Instruction::FAdd:
      return x[0] + x[1];
    case Instruction::FSub:
      return x[0] - x[1];
    case Instruction::FMul:
      return x[0] * x[1];
    case Instruction::FDiv:
      return x[0] / x[1];
    case Instruction::FNeg:
      return -x[0];
    default:
      return std::nullopt;
    }
  }

  std::optional<T> convert(Value *integer, bool isSigned) {
    if (!integer->getType()->getScalarType()->isIntegerTy(8) ||
        (source && source != integer))
      return std::nullopt;
    source = integer;
    return isSigned ? T(int8_t(byte)) : T(byte);
  }

public:
  static T valueOf(ConstantFP *constant) {
    if constexpr (sizeof(T) == 4)
      return constant->getValueAPF().convertToFloat();
    else
      return constant->getValueAPF().convertToDouble();
  }

private:
  Value *root, *source = nullptr;
  uint8_t byte = 0;
  /// No decoding of a byte has more; a long chain is not walked to its end.
  static constexpr int maxValues = 64;
  int visited = 0;
  DenseMap<Value *, std::optional<T>> known;
};
} // namespace

/// x * (1 / y), corrected by its remainder: as good as always the nearest
/// number (Brisebarre, Muller and Raina, "Accelerating correctly rounded
/// floating-point division when the divisor is known in advance", 2004). Here
/// for all x.
template <typename T> static bool isExactFor(Value *x, T y) {
  using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  ByteFunction<T> function(x);
  T reciprocal = T(1) / y;
  for (int byte = 0; byte < 256; ++byte) {
    std::optional<T> dividend = function.at(byte);
    if (!dividend)
      return false;
    T first = *dividend * reciprocal;
    T result = std::fma(std::fma(-first, y, *dividend), reciprocal, first);
    if (std::bit_cast<Bits>(result) != std::bit_cast<Bits>(*dividend / y))
      return false;
  }
  return true;
}

Value *emitDivide(IRBuilderBase &b, Value *x, Value *y) {
  auto *constant = dyn_cast<Constant>(y);
  auto *splat = constant
                    ? dyn_cast_or_null<ConstantFP>(constant->getSplatValue())
                    : nullptr;
  bool isFloat = x->getType()->getScalarType()->isFloatTy();
  if (!splat ||
      !(isFloat ? isExactFor(x, ByteFunction<float>::valueOf(splat))
                : isExactFor(x, ByteFunction<double>::valueOf(splat))))
    return b.CreateFDiv(x, y);
  double exact = isFloat ? 1 / ByteFunction<float>::valueOf(splat)
                         : 1 / ByteFunction<double>::valueOf(splat);
  Value *reciprocal = ConstantFP::get(x->getType(), exact);
  Value *first = b.CreateFMul(x, reciprocal);
  auto fma = [&](Value *p, Value *q, Value *r) {
    return b.CreateIntrinsic(Intrinsic::fma, {x->getType()}, {p, q, r});
  };
  return fma(fma(b.CreateFNeg(first), y, x), reciprocal, first);
}

} // namespace dl::cpu
