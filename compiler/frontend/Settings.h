#pragma once
// p.arg(): values from the command line, or the model's own.
#include "compiler/frontend/Reporter.h"
#include <deque>

namespace dl::frontend {

class Settings {
public:
  Settings(const Options &options, Reporter &reporter)
      : options(options), reporter(reporter) {}

  long long integer(llvm::StringRef name, long long standard,
                    llvm::StringRef help);
  double number(llvm::StringRef name, double standard, llvm::StringRef help);
  bool boolean(llvm::StringRef name, bool standard, llvm::StringRef help);
  const char *text(llvm::StringRef name, llvm::StringRef standard,
                   llvm::StringRef help);

  /// Ends the evaluation if something was set that the model did not ask for.
  void checkAllAsked();

private:
  /// What -D says, or null.
  const std::string *given(llvm::StringRef name);
  void remember(llvm::StringRef name, const std::string &value,
                llvm::StringRef help);
  [[noreturn]] void misfit(llvm::StringRef name, llvm::StringRef value,
                           llvm::StringRef wanted);

  const Options &options;
  Reporter &reporter;
  std::vector<std::string> asked;
  std::map<std::string, Frame> places; ///< where they were asked for
  std::deque<std::string> texts;
};

} // namespace dl::frontend
