#include "compiler/frontend/Reporter.h"

std::string dl::frontend::shapeText(llvm::ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? "," : "") + std::to_string(shape[i]);
  return text + "]";
}

uint64_t dl::frontend::hashText(llvm::StringRef text) {
  uint64_t hash = 14695981039346656037u;
  for (unsigned char c : text)
    hash = (hash ^ c) * 1099511628211u;
  return hash;
}
