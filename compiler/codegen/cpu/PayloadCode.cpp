#include "compiler/codegen/cpu/PayloadCode.h"
#include "compiler/codegen/cpu/RandomWords.h"
#include "compiler/codegen/cpu/VectorMath.h"
#include "dialects/graph/Check.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using llvm::CmpInst;

namespace dl::cpu {

using llvm::Value;

llvm::Type *vectorType(llvm::LLVMContext &context, Type scalar,
                       unsigned lanes) {
  llvm::Type *element;
  if (scalar.isF32())
    element = llvm::Type::getFloatTy(context);
  else if (scalar.isF64())
    element = llvm::Type::getDoubleTy(context);
  else if (scalar.isIndex())
    element = llvm::Type::getInt64Ty(context);
  else if (scalar.isBF16()) // is widened before anything is done with it
    element = llvm::Type::getInt16Ty(context);
  else
    element = llvm::IntegerType::get(context, scalar.getIntOrFloatBitWidth());
  return llvm::FixedVectorType::get(element, lanes);
}

static Value *emitConstant(llvm::LLVMContext &context, arith::ConstantOp op,
                           unsigned lanes) {
  llvm::Type *type = vectorType(context, op.getType(), lanes);
  if (auto value = dyn_cast<FloatAttr>(op.getValue());
      value && op.getType().isBF16())
    return llvm::ConstantInt::get(type, value.getValue().bitcastToAPInt());
  else if (value)
    return llvm::ConstantFP::get(type, value.getValue());
  APInt value = cast<IntegerAttr>(op.getValue()).getValue();
  return llvm::ConstantInt::get(type,
                                value.sextOrTrunc(type->getScalarSizeInBits()));
}

static CmpInst::Predicate predicate(arith::CmpFPredicate p) {
  // Both have the same sixteen; MLIR keeps UNO behind the other unordered ones.
  unsigned n = static_cast<unsigned>(p);
  if (p == arith::CmpFPredicate::UNO)
    return CmpInst::FCMP_UNO;
  return static_cast<CmpInst::Predicate>(n >= 8 && n < 14 ? n + 1 : n);
}

static CmpInst::Predicate predicate(arith::CmpIPredicate p) {
  switch (p) {
  case arith::CmpIPredicate::eq:
    return CmpInst::ICMP_EQ;
  case arith::CmpIPredicate::ne:
    return CmpInst::ICMP_NE;
  case arith::CmpIPredicate::slt:
    return CmpInst::ICMP_SLT;
  case arith::CmpIPredicate::sle:
    return CmpInst::ICMP_SLE;
  case arith::CmpIPredicate::sgt:
    return CmpInst::ICMP_SGT;
  case arith::CmpIPredicate::sge:
    return CmpInst::ICMP_SGE;
  case arith::CmpIPredicate::ult:
    return CmpInst::ICMP_ULT;
  case arith::CmpIPredicate::ule:
    return CmpInst::ICMP_ULE;
  case arith::CmpIPredicate::ugt:
    return CmpInst::ICMP_UGT;
  case arith::CmpIPredicate::uge:
    return CmpInst::ICMP_UGE;
  }
  DL_UNREACHABLE("all predicates are handled");
}

/// NaN wins over all, and of +0 and -0 either may be returned.
static Value *emitMinMax(llvm::IRBuilderBase &b, Value *x, Value *y,
                         CmpInst::Predicate better) {
  Value *takeX = b.CreateOr(b.CreateFCmp(better, x, y), b.CreateFCmpUNO(x, x));
  return b.CreateSelect(takeX, x, y);
}

static std::optional<llvm::Instruction::BinaryOps> binaryOpcode(Operation *op) {
  using I = llvm::Instruction;
  return llvm::TypeSwitch<Operation *, std::optional<I::BinaryOps>>(op)
      .Case<arith::AddFOp>([](auto) { return I::FAdd; })
      .Case<arith::SubFOp>([](auto) { return I::FSub; })
      .Case<arith::MulFOp>([](auto) { return I::FMul; })
      .Case<arith::AddIOp>([](auto) { return I::Add; })
      .Case<arith::SubIOp>([](auto) { return I::Sub; })
      .Case<arith::MulIOp>([](auto) { return I::Mul; })
      .Case<arith::AndIOp>([](auto) { return I::And; })
      .Case<arith::OrIOp>([](auto) { return I::Or; })
      .Case<arith::XOrIOp>([](auto) { return I::Xor; })
      .Case<arith::ShLIOp>([](auto) { return I::Shl; })
      .Case<arith::ShRUIOp>([](auto) { return I::LShr; })
      .Case<arith::ShRSIOp>([](auto) { return I::AShr; })
      .Case<arith::DivSIOp>([](auto) { return I::SDiv; })
      .Case<arith::DivUIOp>([](auto) { return I::UDiv; })
      .Case<arith::RemSIOp>([](auto) { return I::SRem; })
      .Case<arith::RemUIOp>([](auto) { return I::URem; })
      .Default([](Operation *) { return std::nullopt; });
}

static std::optional<llvm::Instruction::CastOps> castOpcode(Operation *op) {
  using I = llvm::Instruction;
  return llvm::TypeSwitch<Operation *, std::optional<I::CastOps>>(op)
      .Case<arith::ExtUIOp>([](auto) { return I::ZExt; })
      .Case<arith::ExtSIOp>([](auto) { return I::SExt; })
      .Case<arith::TruncIOp>([](auto) { return I::Trunc; })
      .Case<arith::SIToFPOp>([](auto) { return I::SIToFP; })
      .Case<arith::UIToFPOp>([](auto) { return I::UIToFP; })
      .Case<arith::FPToSIOp>([](auto) { return I::FPToSI; })
      .Case<arith::FPToUIOp>([](auto) { return I::FPToUI; })
      .Case<arith::ExtFOp>([](auto) { return I::FPExt; })
      .Case<arith::TruncFOp>([](auto) { return I::FPTrunc; })
      .Case<arith::BitcastOp>([](auto) { return I::BitCast; })
      .Default([](Operation *) { return std::nullopt; });
}

using UnaryMath = Value *(*)(llvm::IRBuilderBase &, Value *);

static UnaryMath unaryMath(Operation *op) {
  return llvm::TypeSwitch<Operation *, UnaryMath>(op)
      .Case<math::ExpOp>([](auto) { return &emitExp; })
      .Case<math::LogOp>([](auto) { return &emitLog; })
      .Case<math::SinOp>([](auto) { return &emitSin; })
      .Case<math::CosOp>([](auto) { return &emitCos; })
      .Case<math::TanhOp>([](auto) { return &emitTanh; })
      .Case<math::ErfOp>([](auto) { return &emitErf; })
      .Default([](Operation *) -> UnaryMath { return nullptr; });
}

static std::optional<llvm::Intrinsic::ID> intrinsic(Operation *op) {
  using ID = llvm::Intrinsic::ID;
  namespace I = llvm::Intrinsic;
  return llvm::TypeSwitch<Operation *, std::optional<ID>>(op)
      .Case<math::SqrtOp>([](auto) { return I::sqrt; })
      .Case<math::AbsFOp>([](auto) { return I::fabs; })
      .Case<math::FloorOp>([](auto) { return I::floor; })
      .Case<math::CeilOp>([](auto) { return I::ceil; })
      .Case<math::RoundEvenOp>([](auto) { return I::roundeven; })
      .Case<math::CopySignOp>([](auto) { return I::copysign; })
      .Case<math::FmaOp>([](auto) { return I::fma; })
      .Case<arith::MaxSIOp>([](auto) { return I::smax; })
      .Case<arith::MinSIOp>([](auto) { return I::smin; })
      .Case<arith::MaxUIOp>([](auto) { return I::umax; })
      .Case<arith::MinUIOp>([](auto) { return I::umin; })
      .Default([](Operation *) { return std::nullopt; });
}

static Value *emitIndexCast(llvm::IRBuilderBase &b, Operation *op, Value *x,
                            unsigned lanes) {
  llvm::Type *to =
      vectorType(b.getContext(), op->getResult(0).getType(), lanes);
  return isa<arith::IndexCastUIOp>(op) ? b.CreateZExtOrTrunc(x, to)
                                       : b.CreateSExtOrTrunc(x, to);
}

Value *emitWidened(llvm::IRBuilderBase &b, Value *x, unsigned lanes) {
  auto *bits = llvm::FixedVectorType::get(b.getInt32Ty(), lanes);
  Value *upper = b.CreateShl(b.CreateZExt(x, bits), 16);
  return b.CreateBitCast(upper,
                         llvm::FixedVectorType::get(b.getFloatTy(), lanes));
}

/// To the nearest, ties to even; a NaN is 0x7fff, as on GPUs. By integers: the
/// instructions of AVX512-BF16 take denormal numbers for zero.
static Value *emitRoundedToBf16(llvm::IRBuilderBase &b, Value *x,
                                unsigned lanes) {
  auto *wide = llvm::FixedVectorType::get(b.getInt32Ty(), lanes);
  Value *bits = b.CreateBitCast(x, wide);
  auto constant = [&](uint64_t value) {
    return llvm::ConstantInt::get(wide, value);
  };
  Value *odd = b.CreateAnd(b.CreateLShr(bits, 16), constant(1));
  Value *nearest = b.CreateAdd(bits, b.CreateAdd(odd, constant(0x7fff)));
  Value *upper = b.CreateLShr(nearest, 16);
  Value *chosen =
      b.CreateSelect(b.CreateFCmpUNO(x, x), constant(0x7fff), upper);
  return b.CreateTrunc(chosen,
                       llvm::FixedVectorType::get(b.getInt16Ty(), lanes));
}

Value *emitNearestBf16(llvm::IRBuilderBase &b, Value *floats) {
  unsigned lanes =
      cast<llvm::FixedVectorType>(floats->getType())->getNumElements();
  return emitWidened(b, emitRoundedToBf16(b, floats, lanes), lanes);
}

static Value *emitSingle(llvm::IRBuilderBase &b, Operation *op,
                         ArrayRef<Value *> x, unsigned lanes) {
  if (isa<arith::DivFOp>(op))
    return emitDivide(b, x[0], x[1]);
  if (auto opcode = binaryOpcode(op))
    return b.CreateBinOp(*opcode, x[0], x[1]);
  if (isa<arith::ExtFOp>(op) && op->getOperand(0).getType().isBF16())
    return emitWidened(b, x[0], lanes);
  if (isa<arith::TruncFOp>(op) && op->getResult(0).getType().isBF16())
    return emitRoundedToBf16(b, x[0], lanes);
  if (auto opcode = castOpcode(op))
    return b.CreateCast(
        *opcode, x[0],
        vectorType(b.getContext(), op->getResult(0).getType(), lanes));
  if (UnaryMath function = unaryMath(op))
    return function(b, x[0]);
  if (auto id = intrinsic(op))
    return b.CreateIntrinsic(*id, {x[0]->getType()}, x);
  return llvm::TypeSwitch<Operation *, Value *>(op)
      .Case([&](arith::ConstantOp c) {
        return emitConstant(b.getContext(), c, lanes);
      })
      .Case([&](arith::NegFOp) { return b.CreateFNeg(x[0]); })
      .Case([&](arith::CmpFOp c) {
        return b.CreateFCmp(predicate(c.getPredicate()), x[0], x[1]);
      })
      .Case([&](arith::CmpIOp c) {
        return b.CreateICmp(predicate(c.getPredicate()), x[0], x[1]);
      })
      .Case([&](arith::SelectOp) { return b.CreateSelect(x[0], x[1], x[2]); })
      .Case([&](arith::MaximumFOp) {
        return emitMinMax(b, x[0], x[1], CmpInst::FCMP_OGT);
      })
      .Case([&](arith::MinimumFOp) {
        return emitMinMax(b, x[0], x[1], CmpInst::FCMP_OLT);
      })
      .Case<arith::IndexCastOp, arith::IndexCastUIOp>(
          [&](auto) { return emitIndexCast(b, op, x[0], lanes); })
      .Case([&](math::RsqrtOp) {
        Value *root = b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x[0]);
        return b.CreateFDiv(llvm::ConstantFP::get(x[0]->getType(), 1.0), root);
      })
      .Case([&](math::AbsIOp) {
        return b.CreateIntrinsic(llvm::Intrinsic::abs, {x[0]->getType()},
                                 {x[0], b.getFalse()});
      })
      .Case([&](math::PowFOp) { return emitPow(b, x[0], x[1]); })
      .Default([](Operation *) -> Value * { return nullptr; });
}

SmallVector<Value *, 2> emitPayloadOp(llvm::IRBuilderBase &builder,
                                      Operation *op, ArrayRef<Value *> operands,
                                      unsigned lanes) {
  if (op->getName().getStringRef() == "graph.philox")
    return emitDrawnWords(builder, operands[0], operands.drop_front(),
                          op->getNumResults());
  if (Value *result = emitSingle(builder, op, operands, lanes))
    return {result};
  return {};
}

} // namespace dl::cpu
