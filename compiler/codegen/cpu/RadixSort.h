// Sorting by digits, the lowest first (Knuth, The Art of Computer Programming
// 3, 5.2.5): each pass puts elements where their digit says, those of the same
// digit in the order they were in, so that equal keys keep theirs.
#pragma once

#include "compiler/codegen/cpu/Control.h"

namespace dl::cpu {

struct RadixSort {
  llvm::IRBuilder<> &b;
  llvm::IntegerType *type; // of a key: one digit a byte
  int64_t count;

  int64_t numDigits() const { return type->getBitWidth() / 8; }
  /// How often each digit occurs, for each place of a number.
  static int64_t histogramBytes(int64_t keyBytes);

  /// What is to be sorted, as an unsigned number of the same order: -0 is 0,
  /// and NaN, whichever it is, is more than all numbers.
  llvm::Value *keyOf(llvm::Value *content, bool isSigned,
                     bool descending) const;

  void clear(llvm::Value *histograms) const;
  void add(llvm::Value *histograms, llvm::Value *key) const;

  /// `lists`: the keys and their positions (i32), and room for as many.
  /// Returns the positions in order.
  llvm::Value *sort(llvm::Value *histograms,
                    llvm::ArrayRef<llvm::Value *> lists) const;

private:
  llvm::Value *digit(llvm::Value *key, llvm::Value *shift) const;
  llvm::Value *slot(llvm::Value *histograms, llvm::Value *digit) const;
  void accumulate(llvm::Value *histogram) const;
};

} // namespace dl::cpu
