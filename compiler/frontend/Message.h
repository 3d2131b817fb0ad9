#pragma once
// Messages in one form, whether Clang, an op or a crash speaks:
//
//   mnist.dl:16:9: error: view: [4,20,4,4] has 1280 elements, ...
//     in module 'fc1' [Net::forward]
//     16 |     x = x.view({-1, 321});
//        |         ^
//   mnist.dl:33:29: note: called from here [dl_main]
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace dl::frontend {

/// A place in the user's files; line 0 where it is not known.
struct Frame {
  std::string file;
  unsigned line = 0, column = 0;
  std::string function;
};

struct Message {
  enum Severity { Error, Warning, Note } severity = Error;
  std::string text;
  Frame at;
  std::string module; // path of the nn::Module, empty outside
  std::string help;   // what would be right
};

/// The text of one message with its source line.
std::string render(const Message &message);

/// An error with the stack of calls that led to it, innermost first.
std::string renderError(llvm::StringRef text, llvm::StringRef module,
                        llvm::ArrayRef<Frame> stack, llvm::StringRef help = "");

} // namespace dl::frontend
