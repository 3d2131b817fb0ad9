// The command line of dlcc. LLVM's own option parser is not used: it would add
// the options of every library to --help.
#pragma once

#include "compiler/pipeline/Pipeline.h"
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace dl::dlcc {

struct Output {
  std::string kind;  // "mlir", "graph.svg", "report.json"
  std::string phase; // of mlir
  std::string path;
};

struct Arguments {
  std::string model, plan, machine;
  std::vector<std::pair<std::string, std::string>> settings;
  std::vector<std::string> includeFolders;
  std::string dtype = "f32", targetCpu;
  std::vector<std::string> cudaArchitectures; // see CompileOptions
  std::vector<std::string> f32;               // patterns of modules
  bool tf32 = false;
  bool ownKernels = false;
  int64_t accumulate = 1, threads = 0, tiles = 0, maxOps = 1000000;
  double evalTimeout = 20;
  MeshOptions mesh;
  std::vector<Output> outputs;
  /// Of pictures: "blocks", "modules", "ops", "kernels"; and which step.
  std::string view = "blocks", step;
  bool report = false, reportJson = false, check = false, fuse = true;
  bool keepAll = false; // see CompileOptions
  int64_t keepBelow = CompileOptions().keepBelow;
  std::vector<std::string> recompute;
  bool help = false, version = false;

  /// What is wrong with the command line, and the exit code for it; 0 if it is
  /// right.
  int exitCode = 0;
  std::string error;
};

Arguments parseArguments(int argc, const char *const *argv);

/// Which output would be written over a file, or nothing.
std::string replacedBy(const Arguments &arguments, llvm::StringRef path);

/// The text of --help and of -h.
const char *helpText();

} // namespace dl::dlcc
