// Checks that a release build makes, too: LLVM's packaged headers come with
// NDEBUG, which takes `assert` away. One that fails is a bug of ours; it ends
// the process as an error at the op that is being worked on.
#pragma once

#include "mlir/IR/Operation.h"

namespace dl {

/// The op that this thread works on while it lives; may be nested.
class WorkingOn {
public:
  explicit WorkingOn(mlir::Operation *op);
  ~WorkingOn();
  WorkingOn(const WorkingOn &) = delete;

private:
  mlir::Operation *outer;
};

/// Emits an error at the op that is being worked on, then aborts.
[[noreturn]] void failCheck(const char *what, const char *condition,
                            const char *file, int line);

/// A crash or a failed check ends the process with exit code 70, and a line
/// that says so. For the start of main().
void exitOnCrash();

} // namespace dl

/// `what` says what is wrong where the condition does not hold.
#define DL_CHECK(condition, what)                                              \
  ((condition) ? static_cast<void>(0)                                          \
               : ::dl::failCheck(what, #condition, __FILE__, __LINE__))
#define DL_UNREACHABLE(what) ::dl::failCheck(what, "", __FILE__, __LINE__)
