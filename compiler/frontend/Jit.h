#pragma once
// Runs the code of a .dl in this process.
#include "compiler/frontend/ClangCompiler.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <set>

namespace llvm::orc {
class LLJIT;
}

namespace dl::frontend {

class Jit {
public:
  Jit();
  ~Jit();

  struct Symbol {
    const char *name;
    void *address;
    bool isFunction = true;
  };
  /// `symbols` come before those of the process. Runs no code yet.
  llvm::Error load(llvm::orc::ThreadSafeModule code,
                   llvm::ArrayRef<Symbol> symbols);
  /// Runs static constructors.
  llvm::Error initialize();
  llvm::Expected<void *> lookup(llvm::StringRef mangled);

  /// What the code calls and nobody defines, after a failed lookup.
  std::set<std::string> undefined;
  /// What LLVM says of code that it cannot translate: assembly.
  std::string rejected;

private:
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

} // namespace dl::frontend
