// Patterns that name modules by their paths: "h.*.mlp" is h.0.mlp, h.1.mlp, and
// so on; "*" stands for one name.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace dl::graph {

/// Where the pattern names the module or one that holds it, the part of the
/// module's path that it names: "h.0" of "h.0.mlp" for "h.*".
std::optional<llvm::StringRef> matchedPrefix(llvm::StringRef pattern,
                                             llvm::StringRef path);
/// The pattern names the module itself.
bool namesModule(llvm::StringRef pattern, llvm::StringRef path);

/// The path with a "*" wherever the pattern has one, and as long as the pattern
/// where it is longer: "h.*" for "h.0.mlp" and the pattern "g.*".
std::string inFormOf(llvm::StringRef pattern, llvm::StringRef path);

} // namespace dl::graph
