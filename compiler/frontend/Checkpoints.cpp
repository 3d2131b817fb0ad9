#include "compiler/frontend/Checkpoints.h"
#include "compiler/frontend/Suggest.h"
#include "dialects/graph/ModulePattern.h"
#include "llvm/ADT/STLExtras.h"

using namespace dl::frontend;

void Checkpoints::enter(const std::string &path, bool isTraining) {
  bool isNamed = false;
  for (auto [i, pattern] : llvm::enumerate(patterns))
    if (dl::graph::namesModule(pattern, path)) {
      isNamed = true;
      isCalled[i] = isCalled[i] || isTraining;
    }
  // (More of them than anybody would read are not looked at.)
  if (!patterns.empty() && !isNamed && isTraining && !path.empty() &&
      calledPaths.size() < 1000 && !llvm::is_contained(calledPaths, path))
    calledPaths.push_back(path);
  named.push_back(isNamed);
  if (isNamed)
    begin();
}

void Checkpoints::leave() {
  if (named.back())
    end();
  named.pop_back();
}

std::string Checkpoints::complaint() const {
  for (auto [pattern, called] : llvm::zip(patterns, isCalled)) {
    if (called)
      continue;
    std::string text =
        "--recompute=" + pattern + ": no training step calls such a module";
    std::vector<std::string> alike;
    for (const std::string &path : calledPaths)
      alike.push_back(dl::graph::inFormOf(pattern, path));
    std::string better = nearest(pattern, alike);
    if (better == pattern) // a list, whose modules are called
      better += ".*";
    if (!better.empty())
      return text + "; did you mean '" + better + "'?";
    return calledPaths.empty()
               ? text
               : text + "; the first is '" + calledPaths.front() + "'";
  }
  return "";
}
