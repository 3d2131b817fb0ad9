// The launcher as a child process: its words, its end, and signals to it.
#ifndef DLRUN_LAUNCHEDRUN_H
#define DLRUN_LAUNCHEDRUN_H

#include "runtime/base/Status.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dlrun {

class LaunchedRun {
public:
  /// It keeps our stdout; it gets no signal of our terminal, and ends with us.
  static dlrt::Expected<std::unique_ptr<LaunchedRun>>
  start(const std::vector<std::string> &command);
  /// Ends it if it still runs.
  ~LaunchedRun();

  /// What has happened lately; waits a little for it.
  struct Event {
    std::string text;        ///< of its stderr
    int signal = 0;          ///< that we got
    std::optional<int> code; ///< it has ended, and everything is read
  };
  Event next();
  std::optional<int> code() const { return ended; }

  /// All ranks end after their step, with everything saved.
  void askToStop(int signal);
  /// All end now: they are asked twice, and after some seconds killed.
  void end();

private:
  LaunchedRun() = default;
  std::string readAll();

  int child = 0, pipe = -1, signals = -1;
  std::optional<int> ended;
  double endedAt = 0, mercyUntil = 0;
  bool askedTwice = false;
};

/// Launchers explain a failure in blocks between lines of dashes, which are
/// kept back: dlrun knows better, or shows them in the end. That Open MPI
/// passes our own signals on is no news.
class LauncherWords {
public:
  /// What may be shown now.
  std::string add(const std::string &text);
  /// The blocks, and a last line without an end.
  std::string blocks() const { return kept + line; }

private:
  std::string line, kept;
  bool inBlock = false;
};

} // namespace dlrun

#endif
