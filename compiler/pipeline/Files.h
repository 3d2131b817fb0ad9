// Writing results.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>

namespace dl {

/// Writes a file, which appears whole or not at all; "-" is standard output.
/// Returns what went wrong, or an empty text.
std::string writeFile(llvm::StringRef path, llvm::ArrayRef<uint8_t> bytes);

/// "kernels.so" with "v3" is "kernels.v3.so".
std::string withInfix(llvm::StringRef path, llvm::StringRef infix);

} // namespace dl
