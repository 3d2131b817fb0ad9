// Whether a launcher has started this process as one of several.
#ifndef DLRT_COMM_LAUNCHER_H
#define DLRT_COMM_LAUNCHER_H

#include <cstdint>
#include <optional>
#include <string>

namespace dlrt {

/// What the environment says of the run, before any library is asked.
struct LaunchedAs {
  std::string launcher; ///< "mpirun of Open MPI", "srun", …
  uint32_t rank = 0, size = 1;
  uint32_t here = 1;  ///< processes on this host, as far as the launcher tells
  uint32_t place = 0; ///< among those
};

/// Nothing if nobody has started several.
std::optional<LaunchedAs> launchedAs();

/// The machine's name, for messages; $DLRUN_HOST where it is set.
std::string hostName();

/// `dlrun -np` watches this process: the status goes to stderr in frames, and
/// it asks for a polite end by SIGUSR1 and SIGUSR2. A SIGTERM then means that
/// the run is lost.
bool isWatched();

/// The variable that says so.
constexpr const char *watchedVariable = "DLRUN_WATCHED";

} // namespace dlrt

#endif
