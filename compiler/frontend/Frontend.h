#pragma once
// Evaluates a .dl: a C++ program whose calls make a graph. Clang compiles it,
// a JIT runs it in a forked child, and what comes back is MLIR bytecode and
// messages. Nothing the .dl does can take the caller down.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dl::frontend {

/// What the .dl asked for with p.arg().
struct Setting {
  std::string name;
  std::string value; // the one in use
  std::string help;
};

struct Options {
  std::string model; // path, as the user wrote it
  std::vector<std::pair<std::string, std::string>> settings;
  std::string dtype = "f32"; // or "f64", or "bf16" for mixed precision
  int64_t accumulate = 1;
  std::vector<std::string> recompute; // patterns of modules: see Checkpoints.h
  std::vector<std::string> includeFolders;
  /// Heads of causal attention up to so wide have no scores in memory on the
  /// target.
  int64_t streamedWidth = 0;
  double timeLimitSeconds = 20;
  uint64_t memoryLimitBytes = uint64_t(4) << 30;
  int64_t opLimit = 1000000;
};

struct Result {
  /// As the tool's exit code: 0, 1 the model is wrong, 2 wrong use, 3 not in
  /// this version, 4 cannot read, 70 our bug.
  int exitCode = 70;
  std::string messages; // ready to be shown
  std::vector<Setting> settings;
  /// Where <dl/dl.h> had to be parsed, which takes most of the time: why.
  std::string whyParsed;
  std::vector<std::string> files;    // the model, and what it includes
  std::optional<std::string> probed; // of a process within: see BatchProbe.h
  std::string bytecode;              // a builtin.module with graph ops
};

/// Forks: to be called before the process has threads.
Result evaluate(const Options &options);

} // namespace dl::frontend
