#include "compiler/codegen/cuda/SourceText.h"

using llvm::StringRef;
using llvm::Twine;

namespace dl::cuda {

void SourceText::line(const Twine &content) {
  text.append(2 * depth, ' ');
  text += content.str();
  text += '\n';
}

void SourceText::open(const Twine &head) {
  line(head.str().empty() ? Twine("{") : head + " {");
  ++depth;
}

void SourceText::close(StringRef end) {
  --depth;
  line(end);
}

void SourceText::directive(const Twine &content) {
  text += content.str();
  text += '\n';
}

std::string SourceText::fresh(StringRef stem) {
  std::string name;
  for (char c : stem)
    name += llvm::isAlnum(c) ? c : '_';
  return name + std::to_string(names++);
}

} // namespace dl::cuda
