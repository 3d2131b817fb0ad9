// Loops and branches of generated code.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/IRBuilder.h"

namespace dl::cpu {

using Values = llvm::SmallVector<llvm::Value *, 8>;

/// for (i = lo; i < hi; i += step) body(i). Runs at least once where `hi > lo`
/// is known; the check before the first iteration folds away for constants.
void emitLoop(llvm::IRBuilder<> &builder, llvm::Value *lo, llvm::Value *hi,
              int64_t step, llvm::function_ref<void(llvm::Value *)> body);

/// The same with values carried from one iteration to the next.
Values emitLoop(
    llvm::IRBuilder<> &builder, llvm::Value *lo, llvm::Value *hi, int64_t step,
    llvm::ArrayRef<llvm::Value *> init,
    llvm::function_ref<Values(llvm::Value *, llvm::ArrayRef<llvm::Value *>)>
        body);

void emitIf(llvm::IRBuilder<> &builder, llvm::Value *condition,
            llvm::function_ref<void()> then,
            llvm::function_ref<void()> otherwise = nullptr);

/// The same number, of which LLVM does not know what it is.
llvm::Value *hidden(llvm::IRBuilder<> &builder, llvm::Value *number);

/// A mask of so many lanes: of the first `count`.
llvm::Constant *firstLanes(llvm::IRBuilderBase &builder, int64_t lanes,
                           int64_t count);
llvm::Value *lanesBefore(llvm::IRBuilder<> &builder, unsigned lanes,
                         llvm::Value *count);

/// Asks for a line of memory that is soon to be read: locality 3 for the
/// first-level cache, 2 for the second.
void emitFetch(llvm::IRBuilderBase &b, llvm::Value *from, int locality);

} // namespace dl::cpu
