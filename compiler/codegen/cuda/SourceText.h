// Lines of C++ source, indented as they are written.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include <string>

namespace dl::cuda {

class SourceText {
public:
  /// One line, which ends as it is given: "x = 1;".
  void line(const llvm::Twine &text);
  /// "HEAD {" and the lines until close().
  void open(const llvm::Twine &head);
  void close(llvm::StringRef end = "}");
  /// A line without indentation: "#pragma unroll".
  void directive(const llvm::Twine &text);
  void blank() { text += '\n'; }

  /// A name that nothing else has: "relu3".
  std::string fresh(llvm::StringRef stem);
  const std::string &str() const { return text; }

private:
  std::string text;
  unsigned depth = 0, names = 0;
};

} // namespace dl::cuda
