#include "dialects/graph/Check.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <cstdlib>
#include <unistd.h>

using namespace mlir;

namespace dl {

static thread_local Operation *current = nullptr;

WorkingOn::WorkingOn(Operation *op) : outer(current) { current = op; }
WorkingOn::~WorkingOn() { current = outer; }

void failCheck(const char *what, const char *condition, const char *file,
               int line) {
  std::string text = llvm::formatv("{0} ({1}{2}{3}:{4})", what, condition,
                                   *condition ? ", " : "",
                                   llvm::sys::path::filename(file), line);
  if (current)
    emitError(current->getLoc())
        << current->getName().stripDialect() << ": " << text;
  else
    llvm::errs() << "error: " << text << "\n";
  std::abort();
}

static void onCrash(int) {
  static const char text[] = "error: dlcc crashed; this is a bug of dlcc\n";
  ssize_t ignored = write(STDERR_FILENO, text, sizeof text - 1);
  (void)ignored;
  _exit(70);
}

void exitOnCrash() {
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    std::signal(signal, onCrash);
}

} // namespace dl
