#pragma once
// Files with one long row of tokens: what a plan must know of them.
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>

namespace dl::frontend {

struct TokenFile {
  int dtype; // dl_dtype, of what a step gets
  int64_t tokens;
};

/// A .npy file of one dimension; tokens behind the header of 1 KiB that llm.c
/// writes; of another file whose name ends in ".bin" all of it, tokens of 16
/// bits as nanoGPT has them; and of any other file its bytes. Errors say what
/// is wrong with the file, with its name.
llvm::Expected<TokenFile> readTokenFile(const std::string &path);

} // namespace dl::frontend
