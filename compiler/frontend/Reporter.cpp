#include "compiler/frontend/Reporter.h"
#include "llvm/ADT/StringExtras.h"

/// "lt: [4] and [3] ..." is "clamp: [4] and [3] ..." where the user called
/// clamp().
std::string dl::frontend::Reporter::underCalled(llvm::StringRef text) const {
  llvm::StringRef op =
      text.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
  llvm::StringRef rest = text.drop_front(op.size());
  bool ofOp = called && !op.empty() && rest.starts_with(": ");
  return ofOp ? called + rest.str() : text.str();
}

uint64_t dl::frontend::hashText(llvm::StringRef text) {
  uint64_t hash = 14695981039346656037u;
  for (unsigned char c : text)
    hash = (hash ^ c) * 1099511628211u;
  return hash;
}
