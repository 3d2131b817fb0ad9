#pragma once
// Which ops belong to a checkpoint: those that dl::checkpoint() makes, and
// those of a call of a module that dlcc --recompute names.
#include <string>
#include <vector>

namespace dl::frontend {

class Checkpoints {
public:
  /// Patterns of paths, as in dialects/graph/ModulePattern.h.
  explicit Checkpoints(const std::vector<std::string> &modules)
      : patterns(modules), isCalled(modules.size()) {}

  void begin() { count += depth++ == 0; }
  void end() { --depth; }
  /// A module is called. Each call is a checkpoint of its own.
  void enter(const std::string &path, bool isTraining);
  void leave();

  /// The outermost checkpoint in progress, counted from 1, or 0.
  unsigned current() const { return depth > 0 ? count : 0; }
  /// What is wrong where a pattern names no module that a training step calls.
  std::string complaint() const;

private:
  const std::vector<std::string> &patterns;
  std::vector<bool> isCalled; // of each pattern
  std::vector<std::string> calledPaths;
  std::vector<bool> named; // of the calls in progress: by a pattern
  unsigned count = 0, depth = 0;
};

} // namespace dl::frontend
