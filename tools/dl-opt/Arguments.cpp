#include "tools/dl-opt/Arguments.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/StringRef.h"

using llvm::StringRef;

namespace dl::opt {

std::string helpText() {
  return R"help(usage: dl-opt [FILE] [--PASS[=OPTIONS]]... [options]

Runs passes over MLIR of the graph and plan dialects, in the order given.
FILE is standard input unless given, or "-".

options:
  -o FILE               write the result there
  --pass-pipeline=TEXT  a textual pipeline, "builtin.module(graph.step(cse))"
  --split-input-file    each part between lines "// -----" on its own
  --verify-diagnostics  check expected-error and the like
  --verify-each=0       do not verify after each pass
  --mlir-print-debuginfo  print locations
  --no-output           print what the passes print, not the result
  -h, --help            this text and the passes
  --version             the version

passes:
)help";
}

static bool parseFlag(StringRef text, Arguments &arguments) {
  if (text == "--split-input-file")
    arguments.splitInput = true;
  else if (text == "--verify-diagnostics")
    arguments.verifyDiagnostics = true;
  else if (text == "--verify-each=0")
    arguments.verifyEach = false;
  else if (text == "--mlir-print-debuginfo")
    arguments.printLocations = true;
  else if (text == "--no-output")
    arguments.noOutput = true;
  else if (text == "-h" || text == "--help")
    arguments.help = true;
  else if (text == "--version")
    arguments.version = true;
  else
    return false;
  return true;
}

std::optional<Arguments> parseArguments(int argc, char **argv,
                                        std::string &error) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    StringRef text = argv[i];
    if (parseFlag(text, arguments))
      continue;
    if (text == "-o") {
      if (++i == argc) {
        error = "-o needs a file";
        return std::nullopt;
      }
      arguments.output = argv[i];
    } else if (text.consume_front("--pass-pipeline=")) {
      text.consume_front("builtin.module(");
      text.consume_back(")");
      arguments.passes.push_back({"", text.str()});
    } else if (text == "-" || !text.starts_with("-")) {
      arguments.input = text.str();
    } else {
      auto [name, options] = text.ltrim('-').split('=');
      if (!mlir::PassInfo::lookup(name) &&
          !mlir::PassPipelineInfo::lookup(name)) {
        error = (text + ": there is no such option or pass; see --help").str();
        return std::nullopt;
      }
      arguments.passes.push_back({name.str(), options.str()});
    }
  }
  return arguments;
}

} // namespace dl::opt
