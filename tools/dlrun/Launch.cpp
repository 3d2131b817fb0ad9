#include "runtime/comm/Launcher.h"
#include "runtime/comm/RunWatch.h"
#include "runtime/comm/mpi/MpiTransport.h"
#include "runtime/exec/Cpu.h"
#include "tools/dlrun/Commands.h"
#include "tools/dlrun/Events.h"
#include "tools/dlrun/LaunchedRun.h"
#include "tools/dlrun/Process.h"
#include "tools/dlrun/Processes.h"
#include "tools/dlrun/Signals.h"

#include <fmt/format.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

using namespace dlrun;
using namespace dlrt;

/// What the processes need of our environment, wherever they are.
static std::vector<std::string> environmentForRanks() {
  std::vector<std::string> variables = {fmt::format("{}=1", watchedVariable)};
  for (const char *name : {"DLRUN_MPI_PLUGIN", "DL_DATA"})
    if (const char *value = std::getenv(name); value && *value)
      variables.push_back(fmt::format("{}={}", name, value));
  return variables;
}

/// For a launcher to end the other ranks when one has died.
static constexpr double launcherSeconds = 3;

/// Prints what the launcher says unless dlrun says it better, and decides when
/// the run is over.
static Expected<int> watch(LaunchedRun &run, const Options &options) {
  RunWatch watch(static_cast<uint32_t>(options.launch.processes),
                 options.launch.hangTimeout);
  FrameSplitter splitter;
  LauncherWords words;
  int asked = 0;
  double deadSince = 0;
  std::string lost;
  for (;;) {
    LaunchedRun::Event event = run.next();
    double now = secondsSinceStart();
    std::string text = splitter.add(
        event.text, [&](const RankStatus &status) { watch.note(status, now); });
    watch.launcherSaid(text);
    writeStderr(words.add(text));
    if (event.signal != 0 && event.signal != SIGHUP && asked != 0)
      run.end(); // asked twice
    if (event.signal != 0) {
      asked = event.signal;
      run.askToStop(event.signal);
    }
    if (auto hang = watch.hang(now); hang && lost.empty()) {
      lost = *hang;
      run.end();
    }
    if (!watch.hasDead())
      deadSince = now;
    else if (now > deadSince + launcherSeconds)
      run.end();
    if (event.code)
      break;
  }
  RunWatch::Ending ending = watch.ending(*run.code());
  if (!lost.empty())
    ending = {static_cast<int>(Code::RankLost), lost};
  else if (asked != 0 && ending.code == static_cast<int>(Code::RankLost))
    ending = {128 + asked, ""}; // it was told twice, or could not save
  bool unexplained = ending.said.empty() && !watch.explained();
  if (ending.code != 0 && asked == 0 && unexplained)
    writeStderr(words.blocks());
  if (!ending.said.empty())
    writeStderr(
        fmt::format("dlrun: error: {}; the run is over\n", ending.said));
  return ending.code;
}

Expected<int> dlrun::runLaunched(const Options &options) {
  const LaunchOptions &launch = options.launch;
  if (auto launched = launchedAs())
    return Status(Code::Usage,
                  fmt::format("-np {}: {} has started this process as one of "
                              "{}; leave one of the two out",
                              launch.processes, launched->launcher,
                              launched->size));
  surviveLostOutputs();
  auto launcher = findLauncher();
  if (!launcher)
    return launcher.takeError();
  std::error_code error;
  std::vector<std::string> program = {
      std::filesystem::read_symlink("/proc/self/exe", error)};
  program.insert(program.end(), options.arguments.begin(),
                 options.arguments.end());
  std::vector<std::string> command = launcherCommand(
      *launcher, launch, availableCores(), environmentForRanks(), program);
  if (launch.dryRun) {
    writeStdout(shellText(command) + "\n");
    return 0;
  }
  DLRT_TRY(checkLaunch(*launcher, launch));
  auto run = LaunchedRun::start(command);
  if (!run)
    return run.takeError();
  return watch(**run, options);
}
