#pragma once
// Warns where a step counts its calls in C++: if (++n % 10 == 0).
#include "clang/AST/ASTConsumer.h"
#include <memory>

namespace dl::frontend {

/// A step is traced when the plan is made: what it changes of numbers that are
/// there before and after it, of those it captures, of static ones and of
/// members of modules, stays as it is when the plan runs. (Where two traces
/// differ that is an error; what would differ at the tenth is seen here alone.)
std::unique_ptr<clang::ASTConsumer> makeCountedCallsCheck();

} // namespace dl::frontend
