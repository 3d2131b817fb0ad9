// Runs passes over IR and prints the result: the compiler's phases one by one,
// and the facts of ops, for tests and for looking.

#include "compiler/codegen/cpu/Passes.h"
#include "compiler/codegen/cuda/Passes.h"
#include "dialects/graph/Check.h"
#include "dialects/graph/Graph.h"
#include "dialects/plan/Plan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/AsmState.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Support/ToolUtilities.h"
#include "mlir/Transforms/Passes.h"
#include "passes/backward/Passes.h"
#include "passes/chunk/Passes.h"
#include "passes/decode/Passes.h"
#include "passes/fuse/Passes.h"
#include "passes/layout/Passes.h"
#include "passes/partition/Passes.h"
#include "passes/precision/Passes.h"
#include "passes/saved/Passes.h"
#include "passes/schedule/Passes.h"
#include "tools/dl-opt/Arguments.h"
#include "tools/dl-opt/FactPasses.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
using namespace dl;

static void registerPasses() {
  registerCanonicalizer();
  registerCSE();
  registerBackwardPasses();
  registerFactPasses();
  PassPipelineRegistration<>("backward", "The whole backward phase",
                             buildBackwardPipeline);
  registerPartitionPasses();
  registerChunkPasses();
  registerDecodePasses();
  PassPipelineRegistration<>("partition", "The whole partition phase",
                             buildPartitionPipeline);
  registerLayoutPasses();
  registerFusePasses();
  registerPrecisionPasses();
  registerSavedPasses();
  registerSchedulePasses();
  registerCpuPasses();
  registerCudaPasses();
}

static void loadDialects(MLIRContext &context) {
  context.loadDialect<graph::GraphDialect, plan::PlanDialect,
                      arith::ArithDialect, math::MathDialect>();
}

/// Passes on functions are nested by themselves.
static LogicalResult addPass(PassManager &manager,
                             const opt::Arguments::Pass &pass) {
  if (pass.name.empty())
    return parsePassPipeline(pass.options, manager, llvm::errs());
  auto complain = [](const Twine &message) {
    llvm::errs() << "dl-opt: error: " << message << "\n";
    return failure();
  };
  const PassRegistryEntry *entry = PassInfo::lookup(pass.name);
  if (!entry)
    entry = PassPipelineInfo::lookup(pass.name);
  return entry->addToPipeline(manager, pass.options, complain);
}

static LogicalResult runPasses(ModuleOp module,
                               const opt::Arguments &arguments) {
  PassManager manager(module.getContext(), ModuleOp::getOperationName(),
                      OpPassManager::Nesting::Implicit);
  manager.enableVerifier(arguments.verifyEach);
  for (const opt::Arguments::Pass &pass : arguments.passes)
    if (failed(addPass(manager, pass)))
      return failure();
  return manager.run(module);
}

/// Parses, runs and prints one part of the input.
static LogicalResult process(std::unique_ptr<llvm::MemoryBuffer> buffer,
                             raw_ostream &out,
                             const opt::Arguments &arguments) {
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(std::move(buffer), SMLoc());
  MLIRContext context(MLIRContext::Threading::DISABLED);
  loadDialects(context);
  auto run = [&]() -> LogicalResult {
    OwningOpRef<ModuleOp> module =
        parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
    if (!module || failed(runPasses(*module, arguments)))
      return failure();
    if (!arguments.noOutput && !arguments.verifyDiagnostics) {
      OpPrintingFlags flags;
      module->print(out, arguments.printLocations ? flags.enableDebugInfo(true)
                                                  : flags);
    }
    return success();
  };
  if (!arguments.verifyDiagnostics) {
    SourceMgrDiagnosticHandler handler(*sources, &context);
    return run();
  }
  SourceMgrDiagnosticVerifierHandler handler(*sources, &context);
  context.printOpOnDiagnostic(false);
  (void)run(); // What fails must be expected; the handler knows.
  return handler.verify();
}

static int fail(const std::string &message) {
  llvm::errs() << "dl-opt: error: " << message << "\n";
  return 2;
}

int main(int argc, char **argv) {
  exitOnCrash();
  registerPasses();
  std::string error;
  std::optional<opt::Arguments> arguments =
      opt::parseArguments(argc, argv, error);
  if (!arguments)
    return fail(error);
  if (arguments->help) {
    llvm::outs() << opt::helpText();
    printRegisteredPasses();
    return 0;
  }
  if (arguments->version) {
    llvm::outs() << "dl-opt 0.1.0\n";
    return 0;
  }
  auto input = openInputFile(arguments->input, &error);
  auto output = input ? openOutputFile(arguments->output, &error) : nullptr;
  if (!output)
    return fail(error);
  auto processPart = [&](std::unique_ptr<llvm::MemoryBuffer> part,
                         raw_ostream &out) {
    return process(std::move(part), out, *arguments);
  };
  LogicalResult result =
      arguments->splitInput
          ? splitAndProcessBuffer(std::move(input), processPart, output->os(),
                                  kDefaultSplitMarker, kDefaultSplitMarker)
          : processPart(std::move(input), output->os());
  output->keep();
  return succeeded(result) ? 0 : 1;
}
