#pragma once
// Names that users bring along from PyTorch and that are missing here.
#include "llvm/ADT/StringRef.h"

namespace dl::frontend {

struct PyTorchName {
  llvm::StringRef name;
  const char *instead; // what to write here, or null
  bool isMissing;      // not in this version
};

/// Null for names that PyTorch has not either.
const PyTorchName *findPyTorchName(llvm::StringRef name);

/// Whether it is in dl::nn::functional.
bool isFunctional(llvm::StringRef name);

} // namespace dl::frontend
