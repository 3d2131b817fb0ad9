// The dims of a contraction by name.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace dl::graph {

/// "mk,kn->mn" is {"mk", "kn", "mn"}.
struct MatmulSpec {
  llvm::StringRef a, b, result;

  /// Nothing where the text has another form.
  static std::optional<MatmulSpec> parse(llvm::StringRef text);

  /// What both operands have and the result has not, in the order of the first.
  std::string summed() const;
};

} // namespace dl::graph
