#pragma once
// Warns where C++ divides integers and Python would not: 1 / x.size(0) is 0.
#include "clang/AST/ASTConsumer.h"
#include <memory>

namespace dl::frontend {

/// In the user's code, of literals over what they are no multiple of, where the
/// result becomes a floating-point number; in arithmetic of tensors, which may
/// hold integers, of 1 / n alone. `n / 2` may be meant.
std::unique_ptr<clang::ASTConsumer> makeIntegerDivisionCheck();

} // namespace dl::frontend
