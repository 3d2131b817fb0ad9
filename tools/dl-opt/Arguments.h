// The command line of dl-opt. LLVM's own option parser is not used: it would
// add the options of every library to --help.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace dl::opt {

struct Arguments {
  std::string input = "-", output = "-";
  /// Passes in order; with an empty name `options` is a textual pipeline.
  struct Pass {
    std::string name, options;
  };
  std::vector<Pass> passes;
  bool splitInput = false, verifyDiagnostics = false, verifyEach = true;
  bool printLocations = false, noOutput = false;
  bool help = false, version = false;
};

/// Nothing where the command line is wrong; `error` then says why.
std::optional<Arguments> parseArguments(int argc, char **argv,
                                        std::string &error);
std::string helpText();

} // namespace dl::opt
