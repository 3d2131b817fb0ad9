#pragma once
// Ends an evaluation with a message about the user's line.
#include "compiler/frontend/CallStack.h"
#include "compiler/frontend/Channel.h"
#include "compiler/frontend/Message.h"
#include <functional>

namespace dl::frontend {

class Reporter {
public:
  Reporter(Channel &channel, CallStack &stack)
      : channel(channel), stack(stack) {}

  /// The path of the module being called, for messages.
  std::function<std::string()> currentModule = [] { return std::string(); };

  /// What else should be known about an error that happens now.
  std::function<std::string()> circumstance = [] { return std::string(); };

  /// The function of <dl/dl.h> that the user called, where messages shall begin
  /// with it; else null.
  const char *called = nullptr;

  /// The model is wrong.
  [[noreturn]] void fail(const std::string &text, int exitCode = 1) {
    failAt(stack.userFrames(), underCalled(text), exitCode);
  }
  /// It is right in PyTorch, and missing here.
  [[noreturn]] void refuse(const std::string &text) { fail(text, 3); }
  [[noreturn]] void failAt(llvm::ArrayRef<Frame> frames,
                           const std::string &text, int exitCode = 1) {
    channel.message(renderError(text, currentModule(), frames, circumstance()));
    channel.end(exitCode);
  }
  /// The model is right, and probably not what its author meant.
  void warnAt(llvm::ArrayRef<Frame> frames, const std::string &text,
              const std::string &help) {
    Message message = {Message::Warning, text, {}, "", help};
    if (!frames.empty())
      message.at = frames.front();
    channel.message(render(message));
  }
  /// Something without a place in the user's files.
  [[noreturn]] void failPlain(const std::string &text, int exitCode) {
    channel.message("error: " + text + "\n");
    channel.end(exitCode);
  }

  Channel &channel;
  CallStack &stack;

private:
  std::string underCalled(llvm::StringRef text) const;
};

/// FNV-1a, 64 bits: random keys.
uint64_t hashText(llvm::StringRef text);

} // namespace dl::frontend
