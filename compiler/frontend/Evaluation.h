#pragma once
// All that the ABI functions of one evaluation work on.
#include "compiler/frontend/Graph.h"
#include "compiler/frontend/Jit.h"
#include "compiler/frontend/Settings.h"

namespace dl::frontend {

struct Evaluation {
  Evaluation(const Options &options, Channel &channel, CompiledModel &model)
      : types(model.types), stack(model.foreignFolders),
        reporter(channel, stack), settings(options, reporter),
        graph(options, reporter, modules, model.types),
        streamedWidth(options.streamedWidth) {
    reporter.currentModule = [this] { return modules.currentPath(); };
    reporter.circumstance = [this] { return graph.aboutTrace(); };
  }

  std::string text(const char *given) {
    if (!given)
      reporter.fail("a name is a null pointer");
    return given;
  }

  const ReflectedTypes &types;
  CallStack stack;
  Reporter reporter;
  Modules modules;
  Settings settings;
  Graph graph;
  const int64_t streamedWidth; // see Options
  std::map<std::string, std::vector<dl_member>>
      members; // as dl_members() gives them
};

/// The functions of <dl/abi.h>, working on `evaluation`. C functions have no
/// other way to find it: a process evaluates one model.
std::vector<Jit::Symbol> abiSymbols(Evaluation &evaluation);
/// Those of them that are in DataAbi.cpp and in MeshAbi.cpp.
std::vector<Jit::Symbol> dataSymbols(Evaluation &evaluation);
std::vector<Jit::Symbol> meshSymbols(Evaluation &evaluation);

} // namespace dl::frontend
