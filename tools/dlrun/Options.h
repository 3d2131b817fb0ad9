// The command line of dlrun.
#ifndef DLRUN_OPTIONS_H
#define DLRUN_OPTIONS_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dlrun {

enum class Command { Train, Eval, Info, Bench };

struct Options {
  Command command = Command::Train;
  std::string plan;
  bool help = false, longHelp = false, version = false;

  std::optional<uint64_t> epochs, steps;
  std::vector<std::string> data;
  std::string init, saveFinal, saveMetrics;
  uint64_t seed = 0;
  unsigned threads = 0; ///< 0: one per core
  bool noShuffle = false;
  std::optional<uint64_t> logEvery, evalEvery;
  bool haltOnNan = false, haltOnInf = false;
  bool json = false, quiet = false;
  std::string isa;
  std::string trace; ///< a file, or empty
  bool poison = false;
  std::optional<uint64_t> orderSeed; ///< of --order=random
  double seconds = 3;
};

/// Arguments without the program's name.
dlrt::Expected<Options> parseOptions(const std::vector<std::string> &arguments);

/// The text of -h or --help.
std::string helpText(bool full);

} // namespace dlrun

#endif
