#pragma once
// Files by a pattern, as runtime/base/FilesLike.h has them for dlrun.
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace dl::frontend {

/// The files that a path stands for: itself, or, where the name has a '*' or a
/// '?' and no file has this very name, those in its folder that are like it, in
/// the order of their bytes; maybe none.
std::vector<std::string> filesLike(llvm::StringRef path);

/// Whether the path stands for something.
bool areThere(llvm::StringRef path);

} // namespace dl::frontend
