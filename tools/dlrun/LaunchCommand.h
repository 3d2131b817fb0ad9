// The command that starts the processes of a run: the site's launcher with our
// program and its options.
#ifndef DLRUN_LAUNCHCOMMAND_H
#define DLRUN_LAUNCHCOMMAND_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace dlrun {

enum class LauncherKind { OpenMpi, Mpich, Slurm };

struct Launcher {
  LauncherKind kind = LauncherKind::OpenMpi;
  std::string path;
};

/// Where the processes go.
struct LaunchOptions {
  uint64_t processes = 0; ///< 0: -np was not given
  std::string hosts;      ///< "h1:2,h2:2", or empty
  std::string hostfile;   ///< or empty
  bool dryRun = false;
  double hangTimeout = 0; ///< seconds; 0: from the median step
};

/// srun inside of a Slurm allocation, else mpirun, else mpiexec, as PATH has
/// them. Unavailable if there is none: the message says what to do.
dlrt::Expected<Launcher> findLauncher();

/// The launcher's own refusals, found before it is started: places that are too
/// few, and a user that it does not serve.
dlrt::Status checkLaunch(const Launcher &launcher,
                         const LaunchOptions &options);

/// The whole command. `cores` are this machine's: more processes than that on
/// it alone have to be allowed. Of `environment` (NAME=VALUE) the processes
/// get all.
std::vector<std::string>
launcherCommand(const Launcher &launcher, const LaunchOptions &options,
                unsigned cores, const std::vector<std::string> &environment,
                const std::vector<std::string> &program);

/// As one types it into a shell.
std::string shellText(const std::vector<std::string> &command);

} // namespace dlrun

#endif
