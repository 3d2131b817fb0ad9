#include "tools/dlrun/LaunchedRun.h"

#include "tools/dlrun/Process.h"
#include "tools/dlrun/Signals.h"

#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace dlrun;
using namespace dlrt;

/// Launchers take about two seconds to end all ranks and to clean up.
static constexpr double mercySeconds = 4;
/// Some only pass a signal on, and ranks end at once at the second one. (It
/// keeps Open MPI from cleaning up.)
static constexpr double secondSignalSeconds = 3;
/// A process that the launcher left behind may hold the pipe open.
static constexpr double drainSeconds = 0.5;

static sigset_t watchedSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (int signal : {SIGINT, SIGTERM, SIGUSR1})
    sigaddset(&set, signal);
  if (!isIgnored(SIGHUP))
    sigaddset(&set, SIGHUP);
  return set;
}

[[noreturn]] static void becomeLauncher(const std::vector<std::string> &command,
                                        int errors, pid_t parent) {
  // Ctrl-C is for dlrun, which then asks politely.
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent)
    _exit(143);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (int signal : {SIGINT, SIGTERM, SIGUSR1, SIGSEGV, SIGBUS, SIGFPE, SIGILL,
                     SIGABRT, SIGTRAP})
    ::signal(signal, SIG_DFL);
  if (!isIgnored(SIGHUP))
    ::signal(SIGHUP, SIG_DFL);
  // Where we are killed, its words go nowhere and must not end its cleaning up.
  ::signal(SIGPIPE, SIG_IGN);
  int null = open("/dev/null", O_RDONLY);
  dup2(null, STDIN_FILENO);
  dup2(errors, STDERR_FILENO);
  std::vector<char *> words;
  for (const std::string &word : command)
    words.push_back(const_cast<char *>(word.c_str()));
  words.push_back(nullptr);
  execv(words[0], words.data());
  dprintf(STDERR_FILENO, "dlrun: error: cannot start %s: %s\n", words[0],
          std::strerror(errno));
  _exit(4);
}

Expected<std::unique_ptr<LaunchedRun>>
LaunchedRun::start(const std::vector<std::string> &command) {
  std::unique_ptr<LaunchedRun> run(new LaunchedRun());
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return Status(Code::Unavailable, fmt::format("no pipe to the launcher: {}",
                                                 std::strerror(errno)));
  run->pipe = ends[0];
  fcntl(run->pipe, F_SETFL, O_NONBLOCK);
  sigset_t set = watchedSignals();
  run->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (run->signals < 0) {
    int error = errno;
    close(ends[1]);
    return Status(Code::Unavailable, fmt::format("no way to hear signals: {}",
                                                 std::strerror(error)));
  }
  sigprocmask(SIG_BLOCK, &set, nullptr);
  pid_t parent = getpid();
  run->child = fork();
  if (run->child == 0)
    becomeLauncher(command, ends[1], parent);
  close(ends[1]);
  if (run->child < 0)
    return Status(
        Code::Unavailable,
        fmt::format("cannot start {}: {}", command[0], std::strerror(errno)));
  return run;
}

LaunchedRun::~LaunchedRun() {
  if (child > 0 && !ended) {
    kill(-child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  for (int fd : {pipe, signals})
    if (fd >= 0)
      close(fd);
}

std::string LaunchedRun::readAll() {
  std::string text;
  char buffer[4096];
  while (pipe >= 0) {
    ssize_t count = read(pipe, buffer, sizeof(buffer));
    if (count > 0) {
      text.append(buffer, static_cast<size_t>(count));
      continue;
    }
    if (count < 0 && errno == EINTR)
      continue;
    if (count == 0) {
      close(pipe);
      pipe = -1;
    }
    break;
  }
  return text;
}

LaunchedRun::Event LaunchedRun::next() {
  Event event;
  pollfd wanted[] = {{pipe, POLLIN, 0}, {signals, POLLIN, 0}};
  poll(wanted, 2, 50);
  event.text = readAll();
  signalfd_siginfo info;
  if (read(signals, &info, sizeof(info)) == sizeof(info))
    event.signal = static_cast<int>(info.ssi_signo);
  double now = secondsSinceStart();
  int status = 0;
  if (!ended && waitpid(child, &status, WNOHANG) == child) {
    ended = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    endedAt = now;
  }
  if (ended && (pipe < 0 || now - endedAt > drainSeconds))
    event.code = ended;
  if (!ended && mercyUntil != 0 && now > mercyUntil)
    kill(-child, SIGKILL);
  else if (!ended && mercyUntil != 0 && !askedTwice &&
           now > mercyUntil - mercySeconds + secondSignalSeconds) {
    askedTwice = true;
    kill(child, SIGTERM);
  }
  return event;
}

/// Launchers pass these two on to all ranks and do nothing else.
void LaunchedRun::askToStop(int signal) {
  if (!ended)
    kill(child, signal == SIGINT ? SIGUSR2 : SIGUSR1);
}

void LaunchedRun::end() {
  if (ended || mercyUntil != 0)
    return;
  mercyUntil = secondsSinceStart() + mercySeconds;
  kill(child, SIGTERM);
}

static bool isRule(const std::string &line) {
  return line.size() >= 60 &&
         line.find_first_not_of("-=\n") == std::string::npos;
}

std::string LauncherWords::add(const std::string &text) {
  std::string shown;
  for (char c : text) {
    line += c;
    if (c != '\n')
      continue;
    bool rule = isRule(line);
    if (!line.starts_with("mpirun: Forwarding signal "))
      (rule || inBlock ? kept : shown) += line;
    if (rule)
      inBlock = !inBlock;
    line.clear();
  }
  return shown;
}
