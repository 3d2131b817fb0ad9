#include "compiler/codegen/cpu/VectorMath.h"
#include "compiler/codegen/math/Functions.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using dl::formula::Op;
using dl::formula::Vec;

namespace dl::cpu {

namespace {

/// Formulas as IR on vectors with as many lanes as one of their arguments has.
class VectorEmitter : public formula::Emitter {
public:
  VectorEmitter(IRBuilderBase &builder, Value *argument)
      : builder(builder), guard(builder),
        lanes(cast<VectorType>(argument->getType())->getElementCount()) {
    builder.clearFastMathFlags();
  }

  Vec argument(Value *value) {
    Type *element = value->getType()->getScalarType();
    formula::Type type = element->isFloatTy()    ? formula::Type::F32
                         : element->isDoubleTy() ? formula::Type::F64
                                                 : formula::Type::I64;
    return Vec(*this, type, value);
  }

  Ref number(formula::Type type, double value) override {
    return ConstantFP::get(typeOf(type), value);
  }
  Ref integer(formula::Type type, int64_t value) override {
    return ConstantInt::get(typeOf(type), value, /*IsSigned=*/true,
                            /*ImplicitTrunc=*/true);
  }
  Ref emit(Op op, formula::Type type, ArrayRef<Ref> operands) override {
    SmallVector<Value *, 3> x;
    for (Ref operand : operands)
      x.push_back(static_cast<Value *>(operand));
    return emit(op, typeOf(type), x);
  }

private:
  Type *typeOf(formula::Type type) {
    return VectorType::get(elementOf(type), lanes);
  }
  Type *elementOf(formula::Type type);
  Value *emit(Op op, Type *type, ArrayRef<Value *> x);

  IRBuilderBase &builder;
  IRBuilderBase::FastMathFlagGuard guard;
  ElementCount lanes;
};

Type *VectorEmitter::elementOf(formula::Type type) {
  switch (type) {
  case formula::Type::F32:
    return builder.getFloatTy();
  case formula::Type::F64:
    return builder.getDoubleTy();
  case formula::Type::I32:
    return builder.getInt32Ty();
  case formula::Type::I64:
    return builder.getInt64Ty();
  case formula::Type::Bool:
    return builder.getInt1Ty();
  }
  return nullptr; // all types are handled
}

Value *VectorEmitter::emit(Op op, Type *type, ArrayRef<Value *> x) {
  switch (op) {
  case Op::Add:
    return builder.CreateFAdd(x[0], x[1]);
  case Op::Sub:
    return builder.CreateFSub(x[0], x[1]);
  case Op::Mul:
    return builder.CreateFMul(x[0], x[1]);
  case Op::Div:
    return builder.CreateFDiv(x[0], x[1]);
  case Op::Neg:
    return builder.CreateFNeg(x[0]);
  case Op::Abs:
    return builder.CreateUnaryIntrinsic(Intrinsic::fabs, x[0]);
  case Op::Floor:
    return builder.CreateUnaryIntrinsic(Intrinsic::floor, x[0]);
  case Op::Fma:
    return builder.CreateIntrinsic(type, Intrinsic::fma, x);
  case Op::Less:
    return builder.CreateFCmpOLT(x[0], x[1]);
  case Op::Greater:
    return builder.CreateFCmpOGT(x[0], x[1]);
  case Op::Equal:
    return builder.CreateFCmpOEQ(x[0], x[1]);
  case Op::And:
    return builder.CreateAnd(x[0], x[1]);
  case Op::Or:
    return builder.CreateOr(x[0], x[1]);
  case Op::Xor:
    return builder.CreateXor(x[0], x[1]);
  case Op::Not:
    return builder.CreateNot(x[0]);
  case Op::NotZero:
    return builder.CreateIsNotNull(x[0]);
  case Op::AddInt:
    return builder.CreateAdd(x[0], x[1]);
  case Op::SubInt:
    return builder.CreateSub(x[0], x[1]);
  case Op::MulInt:
    return builder.CreateMul(x[0], x[1]);
  case Op::ShiftLeft:
    return builder.CreateShl(x[0], x[1]);
  case Op::ShiftRight:
    return builder.CreateLShr(x[0], x[1]);
  case Op::Select:
    return builder.CreateSelect(x[0], x[1], x[2]);
  case Op::Bits:
  case Op::Number:
    return builder.CreateBitCast(x[0], type);
  case Op::ToDouble:
    return builder.CreateFPExt(x[0], type);
  case Op::ToFloat:
    return builder.CreateFPTrunc(x[0], type);
  case Op::Truncate:
    return builder.CreateTrunc(x[0], type);
  case Op::Widen:
    return builder.CreateZExt(x[0], type);
  }
  return nullptr; // all operations are handled
}

Value *valueOf(Vec vec) { return static_cast<Value *>(vec.ref()); }

Value *emitUnary(Vec (*function)(Vec), IRBuilderBase &builder, Value *x) {
  VectorEmitter emitter(builder, x);
  return valueOf(function(emitter.argument(x)));
}

/// A formula, and another one where a condition holds, which is seldom.
struct Branching {
  const char *name;
  Vec (*near)(Vec), (*isFar)(Vec), (*far)(Vec);
};

/// The module's function of this name; whether it is new.
std::pair<llvm::Function *, bool> helperOf(Module &module, const Twine &stem,
                                           Type *type) {
  std::string name;
  raw_string_ostream(name) << stem << '.' << *type;
  if (llvm::Function *known = module.getFunction(name))
    return {known, false};
  auto *made =
      llvm::Function::Create(FunctionType::get(type, {type}, false),
                             GlobalValue::InternalLinkage, name, module);
  return {made, true};
}

/// Far lanes cost a call, near ones a branch. Code that payloads are put into
/// may have no branches, so this one is a function that is inlined later.
Value *emitBranching(const Branching &branching, IRBuilderBase &builder,
                     Value *x) {
  Module &module = *builder.GetInsertBlock()->getModule();
  Type *type = x->getType();
  auto [far, farIsNew] = helperOf(module, Twine(branching.name) + ".far", type);
  if (farIsNew) {
    far->addFnAttr(Attribute::NoInline);
    far->addFnAttr(Attribute::Cold);
    IRBuilder<> body(BasicBlock::Create(module.getContext(), "", far));
    body.CreateRet(emitUnary(branching.far, body, far->getArg(0)));
  }
  auto [whole, isNew] = helperOf(module, branching.name, type);
  if (isNew) {
    whole->addFnAttr(Attribute::AlwaysInline);
    auto block = [&, &made = whole](const char *name) {
      return BasicBlock::Create(module.getContext(), name, made);
    };
    BasicBlock *start = block("start"), *seldom = block("far");
    BasicBlock *end = block("end");
    Value *argument = whole->getArg(0);
    IRBuilder<> body(start);
    Value *near = emitUnary(branching.near, body, argument);
    Value *isFar = emitUnary(branching.isFar, body, argument);
    body.CreateCondBr(body.CreateOrReduce(isFar), seldom, end);
    body.SetInsertPoint(seldom);
    Value *called = body.CreateCall(far, argument);
    Value *chosen = body.CreateSelect(isFar, called, near);
    body.CreateBr(end);
    body.SetInsertPoint(end);
    PHINode *result = body.CreatePHI(type, 2);
    result->addIncoming(near, start);
    result->addIncoming(chosen, seldom);
    body.CreateRet(result);
  }
  return builder.CreateCall(whole, x);
}

} // namespace

Value *emitExp(IRBuilderBase &builder, Value *x) {
  return emitUnary(formula::exp, builder, x);
}
Value *emitLog(IRBuilderBase &builder, Value *x) {
  return emitUnary(formula::log, builder, x);
}
Value *emitSin(IRBuilderBase &builder, Value *x) {
  return emitBranching(
      {"dl.sin", formula::sin, formula::isFarAngle, formula::sinFar}, builder,
      x);
}
Value *emitCos(IRBuilderBase &builder, Value *x) {
  return emitBranching(
      {"dl.cos", formula::cos, formula::isFarAngle, formula::cosFar}, builder,
      x);
}
Value *emitTanh(IRBuilderBase &builder, Value *x) {
  return emitUnary(formula::tanh, builder, x);
}
Value *emitErf(IRBuilderBase &builder, Value *x) {
  return emitUnary(formula::erf, builder, x);
}

Value *emitPow(IRBuilderBase &builder, Value *x, Value *y) {
  VectorEmitter emitter(builder, x);
  return valueOf(formula::pow(emitter.argument(x), emitter.argument(y)));
}

std::array<Value *, 4> emitPhilox(IRBuilderBase &builder, Value *counter,
                                  Value *seed, Value *step, Value *micro,
                                  Value *key) {
  VectorEmitter emitter(builder, counter);
  auto words = formula::philox(
      emitter.argument(counter), emitter.argument(seed), emitter.argument(step),
      emitter.argument(micro), emitter.argument(key), /*inWide=*/true);
  return {valueOf(words[0]), valueOf(words[1]), valueOf(words[2]),
          valueOf(words[3])};
}

} // namespace dl::cpu
