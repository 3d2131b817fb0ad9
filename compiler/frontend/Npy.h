#pragma once
// The header of a .npy file: what a plan must know about data it will read.
#include "llvm/Support/Error.h"
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace dl::frontend {

struct NpyHeader {
  int dtype; // dl_dtype
  std::vector<int64_t> shape;
};

/// A regular file of data; others, such as a pipe, would let the compiler wait.
llvm::Expected<std::ifstream> openDataFile(const std::string &path);

/// Errors say what is wrong with the file, with its name.
llvm::Expected<NpyHeader> readNpyHeader(const std::string &path);

} // namespace dl::frontend
