#include "compiler/codegen/cpu/RadixSort.h"

namespace dl::cpu {

using llvm::Value;

constexpr int64_t kRadix = 256;

int64_t RadixSort::histogramBytes(int64_t keyBytes) {
  return keyBytes * kRadix * sizeof(int32_t);
}

Value *RadixSort::keyOf(Value *content, bool isSigned, bool descending) const {
  Value *key = content;
  llvm::Constant *top = b.getInt(llvm::APInt::getSignMask(type->getBitWidth()));
  if (content->getType()->isFloatingPointTy()) {
    Value *zero = llvm::Constant::getNullValue(content->getType());
    Value *isZero = b.CreateFCmpOEQ(content, zero);
    Value *bits = b.CreateBitCast(b.CreateSelect(isZero, zero, content), type);
    // The more negative, the greater the bits.
    Value *isNegative = b.CreateICmpSLT(bits, llvm::ConstantInt::get(type, 0));
    key = b.CreateSelect(isNegative, b.CreateNot(bits), b.CreateOr(bits, top));
    key = b.CreateSelect(b.CreateFCmpUNO(content, content),
                         llvm::Constant::getAllOnesValue(type), key);
  } else if (isSigned) {
    key = b.CreateXor(content, top);
  }
  return descending ? b.CreateNot(key) : key;
}

Value *RadixSort::digit(Value *key, Value *shift) const {
  Value *from = b.CreateLShr(key, b.CreateZExtOrTrunc(shift, type));
  return b.CreateZExt(b.CreateTrunc(from, b.getInt8Ty()), b.getInt64Ty());
}

Value *RadixSort::slot(Value *histograms, Value *digit) const {
  return b.CreateInBoundsGEP(b.getInt32Ty(), histograms, digit);
}

void RadixSort::clear(Value *histograms) const {
  llvm::Type *several = llvm::FixedVectorType::get(b.getInt32Ty(), 16);
  emitLoop(b, b.getInt64(0), b.getInt64(numDigits() * kRadix), 16,
           [&](Value *from) {
             b.CreateAlignedStore(llvm::Constant::getNullValue(several),
                                  slot(histograms, from), llvm::Align(4));
           });
}

void RadixSort::add(Value *histograms, Value *key) const {
  for (int64_t number = 0; number < numDigits(); ++number) {
    Value *at = slot(histograms, b.CreateAdd(digit(key, b.getInt64(8 * number)),
                                             b.getInt64(number * kRadix)));
    b.CreateStore(b.CreateAdd(b.CreateLoad(b.getInt32Ty(), at), b.getInt32(1)),
                  at);
  }
}

/// How many elements have a lower digit.
void RadixSort::accumulate(Value *histogram) const {
  emitLoop(b, b.getInt64(0), b.getInt64(kRadix), 1, {b.getInt32(0)},
           [&](Value *digit, llvm::ArrayRef<Value *> before) -> Values {
             Value *at = slot(histogram, digit);
             Value *here = b.CreateLoad(b.getInt32Ty(), at);
             b.CreateStore(before[0], at);
             return {b.CreateAdd(before[0], here)};
           });
}

Value *RadixSort::sort(Value *histograms, llvm::ArrayRef<Value *> lists) const {
  llvm::Type *place = b.getInt32Ty();
  Value *all = b.getInt64(count);
  return emitLoop(
      b, b.getInt64(0), b.getInt64(numDigits()), 1, lists,
      [&](Value *number, llvm::ArrayRef<Value *> now) -> Values {
        Value *shift = b.CreateMul(number, b.getInt64(8));
        Value *histogram =
            slot(histograms, b.CreateMul(number, b.getInt64(kRadix)));
        Value *first = digit(b.CreateLoad(type, now[0]), shift);
        Value *same = b.CreateICmpEQ(
            b.CreateLoad(place, slot(histogram, first)), b.getInt32(count));
        emitIf(b, b.CreateNot(same), [&] {
          accumulate(histogram);
          emitLoop(b, b.getInt64(0), all, 1, [&](Value *index) {
            Value *key =
                b.CreateLoad(type, b.CreateInBoundsGEP(type, now[0], index));
            Value *next = slot(histogram, digit(key, shift));
            Value *to = b.CreateLoad(place, next);
            b.CreateStore(b.CreateAdd(to, b.getInt32(1)), next);
            to = b.CreateZExt(to, b.getInt64Ty());
            b.CreateStore(key, b.CreateInBoundsGEP(type, now[2], to));
            b.CreateStore(
                b.CreateLoad(place, b.CreateInBoundsGEP(place, now[1], index)),
                b.CreateInBoundsGEP(place, now[3], to));
          });
        });
        return {b.CreateSelect(same, now[0], now[2]),
                b.CreateSelect(same, now[1], now[3]),
                b.CreateSelect(same, now[2], now[0]),
                b.CreateSelect(same, now[3], now[1])};
      })[1];
}

} // namespace dl::cpu
