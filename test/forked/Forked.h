// Processes of a test that meet one another.
#ifndef DL_TEST_FORKED_FORKED_H
#define DL_TEST_FORKED_FORKED_H

#include <cstdlib>
#include <functional>
#include <gtest/gtest.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace dltest {

/// What each of so many processes has to say, which is what `run` returns there
/// for its number; or how it ended. One that hangs is ended.
inline std::vector<std::string>
inProcesses(int count, const std::function<std::string(int)> &run) {
  struct Child {
    pid_t pid;
    int from;
  };
  std::vector<Child> children;
  fflush(nullptr);
  for (int number = 0; number < count; ++number) {
    int ends[2];
    if (pipe(ends) != 0)
      abort();
    pid_t pid = fork();
    if (pid == 0) {
      alarm(60);
      std::string text = run(number);
      if (testing::Test::HasFailure())
        text += " (a check has failed)";
      fflush(nullptr);
      _exit(write(ends[1], text.data(), text.size()) == ssize_t(text.size())
                ? 0
                : 1);
    }
    close(ends[1]);
    children.push_back({pid, ends[0]});
  }
  std::vector<std::string> said;
  for (Child &child : children) {
    std::string &text = said.emplace_back();
    char piece[4096];
    for (ssize_t got; (got = read(child.from, piece, sizeof(piece))) > 0;)
      text.append(piece, size_t(got));
    close(child.from);
    int status = 0;
    waitpid(child.pid, &status, 0);
    if (WIFSIGNALED(status))
      text += " ended by signal " + std::to_string(WTERMSIG(status));
  }
  return said;
}

} // namespace dltest

#endif
