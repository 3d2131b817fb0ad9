#pragma once
// <dl/dl.h>, parsed and compiled while dlcc was built: an AST that Clang loads
// instead of the headers, and code that the JIT need not make again. Where it
// does not fit, the headers in this binary are parsed; the result is the same.
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace clang {
class HeaderSearchOptions;
}
namespace llvm {
class Module;
}
namespace llvm::vfs {
class FileSystem;
}

namespace dl::frontend {

/// Precompile.cpp writes one as it lies in memory.
struct PrecompiledDsl {
  template <class T> struct Array {
    const T *first;
    int64_t count;
    operator llvm::ArrayRef<T>() const {
      return {first, static_cast<size_t>(count)};
    }
    const T *begin() const { return first; }
    const T *end() const { return first + count; }
  };
  struct Symbol {
    const char *name;
    void *address;
    int64_t isFunction;
  };
  /// A file of the machine that went in.
  struct Source {
    const char *path;
    uint64_t hash;
  };
  struct Member {
    const char *type, *name; // the type as type_info::name() gives it
    int64_t kind, offset;
  };

  Array<char> ast;
  Array<Symbol> symbols;
  Array<const char *> imports; // what the code calls outside of itself
  Array<const char *> folders; // where headers were looked for, in order
  Array<Source> sources;
  Array<Member> members; // of the modules in <dl/dl.h>
};

/// The one that the build made.
extern "C" const PrecompiledDsl dl_precompiled_dsl;

uint64_t hashOfSource(llvm::StringRef text);

/// What PrecompiledDsl::folders holds, for these options.
std::vector<std::string>
headerFolders(const clang::HeaderSearchOptions &options);

/// Why a file with this text must see the headers themselves; empty if it means
/// the same with what is precompiled.
std::string whyParsed(const PrecompiledDsl &dsl,
                      const clang::HeaderSearchOptions &options,
                      llvm::StringRef text, llvm::vfs::FileSystem &files);

/// Whether the code defines what the precompiled code has bound to something
/// else already, such as operator new.
bool replacesImports(const PrecompiledDsl &dsl, const llvm::Module &code);

} // namespace dl::frontend
