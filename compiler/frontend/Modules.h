#pragma once
// The tree of nn::Modules: paths of modules and names of parameters, as the
// walks of <dl/module.h> report them.
#include "compiler/dsl/dl/abi.h"
#include "compiler/frontend/Reporter.h"
#include "llvm/ADT/SetVector.h"
#include <deque>
#include <map>
#include <set>

namespace dl::frontend {

class Modules {
public:
  /// A module begins to live; an outer one before its members.
  void made(const void *module) { unmet.insert(module); }
  /// The next walk is ours: it gives names. Where nothing of it is used it
  /// brings in no parameter.
  const void *firstUnmet() {
    if (unmet.empty())
      return nullptr;
    beginOwnWalk();
    return unmet.front();
  }
  void beginOwnWalk() { walkIsOurs = true; }

  // The walk of one tree, from its outermost module.
  void enter(llvm::StringRef name, const void *module);
  /// A buffer is named like a parameter, and not listed.
  void parameter(llvm::StringRef name, int parameter, bool listed = true);
  /// A buffer of known values that no step changes: code, and no state.
  void constant(llvm::StringRef name, int buffer);
  /// Their names, as those of parameters.
  std::vector<std::string> constants() const;
  void leave();
  /// The parameters of the last walk in the order of members, each once. Lives
  /// as long as this.
  llvm::ArrayRef<dl_named_parameter> lastWalk() const {
    return *results.back();
  }

  bool isKnown(const void *module) const { return paths.count(module); }
  void forget(const void *module) {
    paths.erase(module);
    unmet.remove(module);
  }
  void forgetAll() { paths.clear(); }

  // The calls in progress.
  void call(const void *module, bool evaluates) {
    calls.push_back({module, evaluates});
  }
  void returned() { calls.pop_back(); }
  /// The path of the module being called, "" outside of modules and in the
  /// outermost one.
  std::string currentPath() const;
  bool isCalling() const { return !calls.empty(); }
  /// Module::eval() was called of the innermost one.
  bool evaluates() const { return !calls.empty() && calls.back().evaluates; }

  /// All names of a parameter, the canonical one first; empty where no walk met
  /// it. A parameter met from several outermost modules keeps the name that the
  /// first one gives, if no other has that one for a part ("fc.weight" after
  /// "weight").
  std::vector<std::string> namesOf(int parameter) const;
  /// The walk that gave these names, and with them those of the rest of the
  /// outermost module.
  int walkOf(int parameter) const;
  /// A step uses the parameter.
  void markUsed(int parameter);
  /// Does an outermost module have it of which something is used or listed?
  bool belongsToModel(int parameter) const;
  /// Parameters in the order of members.
  const std::vector<int> &order() const { return met; }

private:
  std::vector<int> constantBuffers; // those met
  struct Sighting {
    int walk;
    std::string name;
  };

  std::map<const void *, std::string> paths;
  llvm::SetVector<const void *> unmet; // they live, and no walk has met them
  struct Call {
    const void *module;
    bool evaluates;
  };
  std::vector<Call> calls;
  std::vector<std::string> walkPath;
  int walks = 0;
  bool walkIsOurs = false;
  std::set<int> unusedWalks; // of ours
  std::map<int, std::vector<Sighting>> sightings;
  std::vector<int> met;
  std::deque<std::string> nameTexts;
  std::vector<std::unique_ptr<std::vector<dl_named_parameter>>> results;
};

} // namespace dl::frontend
