#pragma once
// Warns where C++ divides integers and Python would not: 1 / x.size(0) is 0.
#include "clang/AST/ASTConsumer.h"
#include <memory>

namespace dl::frontend {

/// In the user's code, of divisions whose result becomes a floating-point
/// number or part of a tensor's arithmetic. `n / 2` may be meant; what begins
/// with a constant, and leaves a rest, is not.
std::unique_ptr<clang::ASTConsumer> makeIntegerDivisionCheck();

} // namespace dl::frontend
