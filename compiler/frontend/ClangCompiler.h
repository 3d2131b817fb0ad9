#pragma once
// Clang, once: a .dl becomes an LLVM module and what its AST told.
#include "compiler/frontend/PrecompiledDsl.h"
#include "compiler/frontend/Reflection.h"
#include "llvm/ExecutionEngine/Orc/ThreadSafeModule.h"

namespace dl::frontend {

struct CompiledModel {
  std::string path; // as the user wrote it
  llvm::orc::ThreadSafeModule code;
  ReflectedTypes types;
  /// The model, and the user's files that it includes.
  std::vector<std::string> files;
  /// Files below these are not the user's.
  std::vector<std::string> foreignFolders;
  std::string messages; // warnings, and errors where there is no code
  int exitCode = 0;
  /// Why <dl/dl.h> itself was compiled; else the code needs
  /// PrecompiledDsl::symbols.
  std::string whyParsed;
};

/// `dsl` is used where it fits.
CompiledModel compileModel(const std::string &path,
                           const std::vector<std::string> &includeFolders,
                           const PrecompiledDsl &dsl);

} // namespace dl::frontend
