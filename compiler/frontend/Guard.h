#pragma once
// What a .dl can do to the process that evaluates it, and how each ends as a
// message: crashes, endless loops and recursion, too much memory, exit().
#include "compiler/frontend/Reporter.h"

namespace dl::frontend {

class Guard {
public:
  /// Limits the memory of this process.
  static void limitMemory(uint64_t bytes);

  /// Installs the handlers; from now on the user's code may run.
  static void start(Reporter &reporter, double timeLimitSeconds);
  /// The user's code is done.
  static void stop();

  /// While one lives the process is in our code: a crash is our bug, and the
  /// time limit waits.
  class InOurCode {
  public:
    InOurCode();
    ~InOurCode();
  };

  /// Where the exception that is in flight was thrown.
  static llvm::ArrayRef<void *> throwSite();

  /// Replacements of functions that a .dl calls, by symbol name.
  struct Replacement {
    const char *symbol;
    void *function;
  };
  static llvm::ArrayRef<Replacement> replacements();
};

} // namespace dl::frontend
