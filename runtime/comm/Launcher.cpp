#include "runtime/comm/Launcher.h"

#include "runtime/base/Numbers.h"

#include <cstdlib>
#include <unistd.h>

using namespace dlrt;

static std::optional<uint32_t> number(const char *variable) {
  const char *text = std::getenv(variable);
  auto value = text ? parseUnsigned(text) : std::nullopt;
  if (!value || *value > UINT32_MAX)
    return std::nullopt;
  return static_cast<uint32_t>(*value);
}

namespace {

struct Variables {
  const char *launcher, *rank, *size, *here, *place;
  const char *only; ///< set where it is this launcher, or null
};

/// A batch script of Slurm has the variables of its job, but no step of its
/// own with several tasks.
constexpr Variables known[] = {
    {"mpirun of Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", nullptr},
    {"srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS_PER_NODE",
     "SLURM_LOCALID", "SLURM_STEP_ID"},
    {"mpiexec", "PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", "MPI_LOCALRANKID",
     nullptr},
};

} // namespace

std::optional<LaunchedAs> dlrt::launchedAs() {
  for (const Variables &variables : known) {
    if (variables.only && !std::getenv(variables.only))
      continue;
    auto rank = number(variables.rank), size = number(variables.size);
    if (rank && size && *rank < *size)
      return LaunchedAs{variables.launcher, *rank, *size,
                        number(variables.here).value_or(1),
                        number(variables.place).value_or(0)};
  }
  return std::nullopt;
}

std::string dlrt::hostName() {
  if (const char *given = std::getenv("DLRUN_HOST"); given && *given)
    return given;
  char name[256] = {};
  if (gethostname(name, sizeof(name) - 1) != 0)
    return "?";
  return name;
}

bool dlrt::isWatched() {
  const char *text = std::getenv(watchedVariable);
  return text && *text;
}
