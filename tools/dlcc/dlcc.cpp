// dlcc: evaluates a .dl in a child process, compiles what it made into a plan.
#include "compiler/codegen/cpu/Target.h"
#include "compiler/frontend/Frontend.h"
#include "compiler/pipeline/Files.h"
#include "compiler/pipeline/Pipeline.h"
#include "dialects/graph/Check.h"
#include "dialects/graph/Graph.h"
#include "dialects/plan/MachineOption.h"
#include "dialects/plan/Plan.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "tools/dlcc/Arguments.h"
#include "tools/dlcc/Diagnostics.h"
#include "tools/streams/StandardStreams.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdio>
#include <cstring>

using namespace mlir;
using dl::dlcc::Arguments;

static constexpr int kOurBug = 70;

static int fail(const std::string &text, int exitCode) {
  std::fprintf(stderr, "error: %s\n", text.c_str());
  return exitCode;
}

static int showSettings(const Arguments &arguments,
                        const dl::frontend::Result &result) {
  if (result.settings.empty() && result.exitCode != 0)
    return result.exitCode;
  if (result.settings.empty()) {
    std::printf("%s has no settings\n", arguments.model.c_str());
    return 0;
  }
  size_t names = 0, values = 0;
  for (const dl::frontend::Setting &setting : result.settings) {
    names = std::max(names, setting.name.size());
    values = std::max(values, setting.value.size());
  }
  std::printf("Settings of %s (set with -D name=value):\n",
              arguments.model.c_str());
  for (const dl::frontend::Setting &setting : result.settings)
    std::printf("  %-*s  %-*s  %s\n", static_cast<int>(names),
                setting.name.c_str(), static_cast<int>(values),
                setting.value.c_str(), setting.help.c_str());
  return result.exitCode;
}

/// 0 if kernels can be made for the CPU.
static int checkTarget(const std::string &cpu) {
  auto target = dl::cpu::targetForCpu(cpu);
  if (target)
    return 0;
  std::string why = llvm::toString(target.takeError());
  bool unknown = llvm::StringRef(why).starts_with("unknown");
  return fail("--target-cpu=" + cpu + ": " + why, unknown ? 2 : 3);
}

/// 0 if `machine` is what the file says.
static int readMachine(const std::string &path,
                       dl::plan::MachineModel &machine) {
  if (auto known = dl::plan::MachineModel::known(path)) {
    machine = *known;
    return 0;
  }
  auto loaded = dl::plan::loadMachine(path);
  if (loaded) {
    machine = *loaded;
    return 0;
  }
  int exitCode = 2;
  std::string text;
  llvm::handleAllErrors(
      loaded.takeError(), [&](const llvm::StringError &error) {
        text = error.getMessage();
        if (error.convertToErrorCode() != llvm::inconvertibleErrorCode())
          exitCode = 4;
      });
  return fail("--machine: " + text, exitCode);
}

static dl::PictureOptions pictureOptions(const Arguments &arguments) {
  dl::PictureOptions options;
  options.step = arguments.step;
  using dl::pictures::View;
  options.byDevices = arguments.view == "devices";
  options.view = arguments.view == "modules"   ? View::Modules
                 : arguments.view == "ops"     ? View::Ops
                 : arguments.view == "kernels" ? View::Kernels
                                               : View::Blocks;
  for (const dl::dlcc::Output &output : arguments.outputs) {
    if (output.kind == "graph.dot")
      options.files.push_back({dl::PictureOptions::GraphDot, output.path});
    if (output.kind == "graph.svg")
      options.files.push_back({dl::PictureOptions::GraphSvg, output.path});
    if (output.kind == "memory.svg")
      options.files.push_back({dl::PictureOptions::MemorySvg, output.path});
    if (output.kind == "timeline.svg")
      options.files.push_back({dl::PictureOptions::TimelineSvg, output.path});
  }
  return options;
}

/// Of heads of causal attention.
static int64_t streamedWidth(const Arguments &arguments,
                             const dl::plan::MachineModel &machine) {
  if (arguments.dtype == "bf16")
    return machine.streamedWidth(machine.productBf16, 2, /*masked=*/true);
  if (arguments.dtype == "f64")
    return machine.streamedWidth(machine.productF64, 8, /*masked=*/true);
  return machine.streamedWidth(
      arguments.tf32 ? machine.productTf32 : machine.productF32, 4,
      /*masked=*/true);
}

static dl::CompileOptions
compileOptions(const Arguments &arguments,
               const dl::plan::MachineModel &machine) {
  dl::CompileOptions options;
  options.machine = machine;
  options.fuse = arguments.fuse;
  options.keepAll = arguments.keepAll;
  options.keepBelow = arguments.keepBelow;
  options.maxTiles = arguments.tiles;
  options.threads = static_cast<int>(arguments.threads);
  options.targetCpu = arguments.targetCpu;
  options.cudaArchitectures = arguments.cudaArchitectures;
  options.tf32 = arguments.tf32;
  options.f32 = arguments.f32;
  options.ownKernels = arguments.ownKernels;
  options.mesh = arguments.mesh;
  options.pictures = pictureOptions(arguments);
  if (arguments.check)
    options.stopAfter = "import";
  else
    options.planPath = arguments.plan;
  for (const dl::dlcc::Output &output : arguments.outputs) {
    if (output.kind == "mlir")
      options.dumps.emplace_back(output.phase, output.path);
    if (output.kind == "kernels.so")
      options.kernelsPath = output.path;
    if (output.kind == "cu")
      options.sourcePath = output.path;
  }
  return options;
}

static int writeText(const std::string &path, const std::string &text) {
  std::fflush(stdout); // what was said before comes before it
  std::string why = dl::writeFile(path, llvm::arrayRefFromStringRef(text));
  return why.empty() ? 0 : fail("cannot write " + path + ": " + why, 4);
}

static int writeReports(const Arguments &arguments,
                        const dl::plan::MachineModel &machine,
                        const dl::CompileReport &report) {
  if (arguments.report)
    std::fputs(report.text().c_str(), stdout);
  if (arguments.reportJson)
    std::printf("%s\n", report.json().c_str());
  for (const dl::dlcc::Output &output : arguments.outputs) {
    int exitCode = 0;
    if (output.kind == "report.json")
      exitCode = writeText(output.path, report.json() + "\n");
    if (output.kind == "machine")
      exitCode = writeText(output.path, machine.text());
    if (exitCode)
      return exitCode;
  }
  return 0;
}

/// As make reads it.
static std::string escaped(StringRef path) {
  std::string text;
  for (char c : path) {
    if (c == ' ' || c == '#')
      text += '\\';
    text += c;
    if (c == '$')
      text += '$';
  }
  return text;
}

/// Of its items, and of weights that they are drawn by.
static llvm::SmallVector<StringRef> filesOf(dl::graph::DatasetOp dataset) {
  auto paths = dataset.getPaths().getAsValueRange<StringAttr>();
  llvm::SmallVector<StringRef> files(paths.begin(), paths.end());
  if (auto sampler = dataset.getSamplerAttr())
    files.push_back(sampler.getWeights().getValue());
  return files;
}

/// "net.plan: net.dl layers.h x.npy". Data that are there when the plan runs
/// are no part of it.
static int writeDependencies(const Arguments &arguments, ModuleOp module,
                             std::vector<std::string> files) {
  for (auto dataset : module.getOps<dl::graph::DatasetOp>())
    for (StringRef path : filesOf(dataset)) {
      llvm::SmallString<256> beside =
          llvm::sys::path::parent_path(arguments.model);
      llvm::sys::path::append(beside, path);
      bool isBeside =
          llvm::sys::fs::exists(beside) && !llvm::sys::path::is_absolute(path);
      std::string file = isBeside ? beside.str().str() : path.str();
      if (llvm::sys::fs::exists(file) && !llvm::is_contained(files, file))
        files.push_back(file);
    }
  std::string text = escaped(arguments.plan) + ":";
  for (const std::string &file : files)
    text += " " + escaped(file);
  for (const dl::dlcc::Output &output : arguments.outputs)
    if (output.kind == "deps")
      if (int exitCode = writeText(output.path, text + "\n"))
        return exitCode;
  return 0;
}

/// Files of the data are known when the model has been evaluated. Their paths
/// are relative to its folder, then to the working directory.
static int checkData(const Arguments &arguments, ModuleOp module) {
  for (auto dataset : module.getOps<dl::graph::DatasetOp>())
    for (StringRef path : filesOf(dataset)) {
      llvm::SmallString<256> beside =
          llvm::sys::path::parent_path(arguments.model);
      llvm::sys::path::append(beside, path);
      for (StringRef file : {beside.str(), path})
        if (std::string what = dl::dlcc::replacedBy(arguments, file);
            !what.empty() && llvm::sys::fs::exists(file))
          return fail(what + " would replace " + file.str() +
                          ", a file of the data; name another one",
                      2);
    }
  return 0;
}

static int compile(const Arguments &arguments,
                   const dl::plan::MachineModel &machine,
                   const dl::frontend::Result &evaluated) {
  DialectRegistry registry;
  registry.insert<dl::graph::GraphDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  // What the bodies of kernels are made of.
  context.loadDialect<arith::ArithDialect, math::MathDialect>();
  context.getDiagEngine().registerHandler([](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Remark)
      return success();
    std::fputs(dl::dlcc::renderDiagnostic(diagnostic).c_str(), stderr);
    for (Diagnostic &note : diagnostic.getNotes())
      std::fputs(dl::dlcc::renderDiagnostic(note).c_str(), stderr);
    return success();
  });
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(evaluated.bytecode, &context);
  if (!module)
    return fail("the graph cannot be read back; this is a bug of dlcc",
                kOurBug);
  if (int exitCode = checkData(arguments, *module))
    return exitCode;
  dl::CompileReport report;
  if (!evaluated.whyParsed.empty())
    report.remarks.push_back(
        {arguments.model,
         "<dl/dl.h> was parsed, which takes time: " + evaluated.whyParsed});
  if (failed(dl::compileToPlan(*module, compileOptions(arguments, machine),
                               report)))
    return report.exitCode ? report.exitCode : kOurBug;
  if (arguments.check)
    return 0;
  if (int exitCode = writeDependencies(arguments, *module, evaluated.files))
    return exitCode;
  return writeReports(arguments, machine, report);
}

/// A full disk behind the output is found no later than here.
static int finishOutput() {
  llvm::outs().flush();
  bool isWritten = std::fflush(stdout) == 0 && !std::ferror(stdout) &&
                   !llvm::outs().has_error();
  llvm::outs().clear_error();
  return isWritten ? 0 : fail("cannot write to standard output", 4);
}

static int run(int argc, char **argv) {
  Arguments arguments = dl::dlcc::parseArguments(argc, argv);
  if (arguments.exitCode)
    return fail(arguments.error, arguments.exitCode);
  if (arguments.version) {
    std::puts("dlcc " DL_VERSION " (LLVM " DL_LLVM_VERSION ")");
    return 0;
  }
  if (arguments.help && arguments.model.empty()) {
    std::fputs(dl::dlcc::helpText(), stdout);
    return 0;
  }

  if (!arguments.targetCpu.empty())
    if (int exitCode = checkTarget(arguments.targetCpu))
      return exitCode;
  dl::plan::MachineModel machine;
  if (!arguments.cudaArchitectures.empty()) {
    machine = *dl::plan::MachineModel::known("h100");
    machine.memoryMib = 0; // of one that is not named
  }
  if (!arguments.machine.empty())
    if (int exitCode = readMachine(arguments.machine, machine))
      return exitCode;
  if (!arguments.cudaArchitectures.empty() && machine.chainRows == 0)
    machine.chainScratchBytes = 0; // a file that does not say it means a CPU

  dl::frontend::Options options;
  options.model = arguments.model;
  options.settings = arguments.settings;
  options.dtype = arguments.dtype;
  options.accumulate = arguments.accumulate;
  options.recompute = arguments.recompute;
  options.includeFolders = arguments.includeFolders;
  options.timeLimitSeconds = arguments.evalTimeout;
  options.opLimit = arguments.maxOps;
  options.streamedWidth = streamedWidth(arguments, machine);
  dl::frontend::Result evaluated = dl::frontend::evaluate(options);
  std::fputs(evaluated.messages.c_str(), stderr);
  if (arguments.help)
    return showSettings(arguments, evaluated);
  if (evaluated.exitCode != 0)
    return evaluated.exitCode;
  if (arguments.check && arguments.outputs.empty())
    return 0;
  return compile(arguments, machine, evaluated);
}

int main(int argc, char **argv) {
  keepStandardStreams();
  dl::exitOnCrash();
  int exitCode = run(argc, argv);
  return exitCode ? exitCode : finishOutput();
}
