#pragma once
// The pipe from the evaluating child to its parent: records of a kind, a size
// and bytes.
#include "compiler/frontend/Frontend.h"
#include "llvm/ADT/StringRef.h"

namespace dl::frontend {

/// The child's end. The last record is always `end`.
class Channel {
public:
  explicit Channel(int descriptor) : descriptor(descriptor) {}

  void message(llvm::StringRef text) { record('M', text); }
  void setting(const Setting &setting);
  void whyParsed(llvm::StringRef text) { record('P', text); }
  void file(llvm::StringRef path) { record('F', path); }
  void probed(llvm::StringRef text) { record('N', text); }
  void bytecode(llvm::StringRef bytes) { record('B', bytes); }
  /// From now on somebody else reads.
  void redirect(int to) { descriptor = to; }
  /// Flushes what the .dl printed and ends the process.
  [[noreturn]] void end(int exitCode);

private:
  void record(char kind, llvm::StringRef bytes);
  int descriptor;
};

/// Puts received bytes into `result`; false where no `end` arrived.
bool parseRecords(llvm::StringRef received, Result &result);

} // namespace dl::frontend
