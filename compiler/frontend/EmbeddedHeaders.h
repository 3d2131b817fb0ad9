#pragma once
// The text of compiler/dsl/dl/*.h, put into the binary by the build.
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace dl::frontend {

struct EmbeddedHeader {
  llvm::StringRef path; // "dl/dl.h"
  llvm::StringRef text;
};

llvm::ArrayRef<EmbeddedHeader> embeddedHeaders();

} // namespace dl::frontend
