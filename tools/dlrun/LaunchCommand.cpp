#include "tools/dlrun/LaunchCommand.h"

#include "runtime/base/Numbers.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <unistd.h>

using namespace dlrun;
using namespace dlrt;

static std::optional<std::string> inPath(const std::string &name) {
  const char *variable = std::getenv("PATH");
  std::string path = variable ? variable : "";
  for (size_t at = 0; at <= path.size();) {
    size_t end = std::min(path.find(':', at), path.size());
    std::string file = path.substr(at, end - at) + "/" + name;
    if (end != at && access(file.c_str(), X_OK) == 0)
      return file;
    at = end + 1;
  }
  return std::nullopt;
}

std::string dlrun::shellText(const std::vector<std::string> &command) {
  std::string text;
  for (const std::string &word : command) {
    bool plain = !word.empty() &&
                 word.find_first_not_of(
                     "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                     "0123456789_-+=:,./@%^") == std::string::npos;
    text += text.empty() ? "" : " ";
    if (plain) {
      text += word;
      continue;
    }
    text += '\'';
    for (char c : word)
      text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    text += '\'';
  }
  return text;
}

/// What the program says to --version.
static std::string versionOf(const std::string &path) {
  std::string text;
  FILE *pipe = popen(
      (shellText({path}) + " --version 2>/dev/null </dev/null").c_str(), "re");
  if (!pipe)
    return text;
  char buffer[512];
  while (size_t count = fread(buffer, 1, sizeof(buffer), pipe))
    text.append(buffer, count);
  pclose(pipe);
  return text;
}

Expected<Launcher> dlrun::findLauncher() {
  if (std::getenv("SLURM_JOB_ID"))
    if (auto path = inPath("srun"))
      return Launcher{LauncherKind::Slurm, *path};
  std::string unknown;
  for (const char *name : {"mpirun", "mpiexec"}) {
    auto path = inPath(name);
    if (!path)
      continue;
    std::string version = versionOf(*path);
    if (version.find("Open MPI") != std::string::npos ||
        version.find("OpenRTE") != std::string::npos)
      return Launcher{LauncherKind::OpenMpi, *path};
    if (version.find("HYDRA") != std::string::npos)
      return Launcher{LauncherKind::Mpich, *path};
    unknown = *path;
  }
  if (!unknown.empty())
    return Status(Code::Unavailable,
                  fmt::format("{} is neither Open MPI's nor MPICH's; start the "
                              "processes with it yourself: {} -n N dlrun PLAN",
                              unknown, unknown));
  return Status(
      Code::Unavailable,
      "-np: there is no mpirun in PATH. Processes need an MPI library (Debian: "
      "apt install openmpi-bin libopenmpi-dev, then runtime/comm/mpi/build.sh "
      "of dlrun's sources); without -np, dlrun PLAN runs all ranks in one "
      "process");
}

/// Processes that "h1:2,h2" has places for: a host without a number has one.
static uint64_t placesOf(const std::string &hosts) {
  uint64_t places = 0;
  for (size_t at = 0; at < hosts.size();) {
    size_t end = std::min(hosts.find(',', at), hosts.size());
    std::string host = hosts.substr(at, end - at);
    size_t colon = host.rfind(':');
    auto number = colon == std::string::npos
                      ? std::nullopt
                      : parseUnsigned(host.substr(colon + 1));
    places += number.value_or(1);
    at = end + 1;
  }
  return places;
}

Status dlrun::checkLaunch(const Launcher &launcher,
                          const LaunchOptions &options) {
  if (!options.hosts.empty() && launcher.kind != LauncherKind::Slurm)
    if (uint64_t places = placesOf(options.hosts); places < options.processes)
      return {Code::Usage,
              fmt::format("-H {}: it has places for {} processes, -np asks for "
                          "{}; HOST:N gives a host N places",
                          options.hosts, places, options.processes)};
  if (launcher.kind == LauncherKind::OpenMpi && geteuid() == 0)
    for (const char *name :
         {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"})
      if (!std::getenv(name))
        return {
            Code::Unavailable,
            fmt::format("Open MPI starts nothing as root unless "
                        "OMPI_ALLOW_RUN_AS_ROOT=1 and "
                        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 are both set, and "
                        "{} is not: run dlrun as another user, or, in a "
                        "container, set them",
                        name)};
  return {};
}

using Words = std::vector<std::string>;

static void add(Words &to, const Words &words) {
  to.insert(to.end(), words.begin(), words.end());
}

static Words openMpiOptions(const LaunchOptions &options, unsigned cores,
                            const Words &environment) {
  Words words;
  if (!options.hosts.empty())
    add(words, {"-H", options.hosts});
  if (!options.hostfile.empty())
    add(words, {"--hostfile", options.hostfile});
  // Bound to a core, the thread that moves messages would take turns with the
  // one that computes. Who waits for a message shall leave its core where
  // another process may need it, and nowhere else: a look would take as long as
  // any other thread likes to run.
  add(words, {"--bind-to", "none"});
  bool here = options.hosts.empty() && options.hostfile.empty();
  if (!here || options.processes > cores)
    add(words, {"--mca", "mpi_yield_when_idle", "1"});
  if (here && options.processes > cores)
    add(words, {"--oversubscribe"});
  for (const std::string &variable : environment)
    add(words, {"-x", variable});
  return words;
}

static Words mpichOptions(const LaunchOptions &options,
                          const Words &environment) {
  Words words;
  if (!options.hosts.empty())
    add(words, {"-hosts", options.hosts});
  if (!options.hostfile.empty())
    add(words, {"-f", options.hostfile});
  add(words, {"-bind-to", "none"});
  for (const std::string &variable : environment) {
    size_t equals = variable.find('=');
    add(words,
        {"-genv", variable.substr(0, equals), variable.substr(equals + 1)});
  }
  return words;
}

static Words slurmOptions(const LaunchOptions &options,
                          const Words &environment) {
  Words words;
  if (!options.hosts.empty()) {
    std::string names;
    for (size_t at = 0; at < options.hosts.size();) {
      size_t end = std::min(options.hosts.find(',', at), options.hosts.size());
      std::string host = options.hosts.substr(at, end - at);
      names += (names.empty() ? "" : ",") + host.substr(0, host.find(':'));
      at = end + 1;
    }
    add(words, {"-w", names});
  }
  if (!options.hostfile.empty())
    add(words, {"-F", options.hostfile});
  add(words, {"--cpu-bind=none", "--kill-on-bad-exit=1"});
  std::string exported = "ALL";
  for (const std::string &variable : environment)
    exported += "," + variable;
  add(words, {"--export=" + exported});
  return words;
}

std::vector<std::string>
dlrun::launcherCommand(const Launcher &launcher, const LaunchOptions &options,
                       unsigned cores,
                       const std::vector<std::string> &environment,
                       const std::vector<std::string> &program) {
  Words command = {launcher.path,
                   launcher.kind == LauncherKind::Slurm ? "-n" : "-np",
                   std::to_string(options.processes)};
  switch (launcher.kind) {
  case LauncherKind::OpenMpi:
    add(command, openMpiOptions(options, cores, environment));
    break;
  case LauncherKind::Mpich:
    add(command, mpichOptions(options, environment));
    break;
  case LauncherKind::Slurm:
    add(command, slurmOptions(options, environment));
    break;
  }
  add(command, program);
  return command;
}
