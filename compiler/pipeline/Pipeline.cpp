#include "compiler/pipeline/Pipeline.h"
#include "compiler/codegen/cpu/CpuCodegen.h"
#include "compiler/codegen/cpu/Passes.h"
#include "compiler/codegen/cuda/CudaCodegen.h"
#include "compiler/codegen/cuda/Nvrtc.h"
#include "compiler/codegen/cuda/Passes.h"
#include "compiler/codegen/emit/EmitPlan.h"
#include "compiler/pipeline/Files.h"
#include "dialects/graph/PipelineOrder.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "passes/backward/ModelError.h"
#include "passes/backward/Passes.h"
#include "passes/chunk/Passes.h"
#include "passes/decode/Passes.h"
#include "passes/fuse/Passes.h"
#include "passes/layout/Passes.h"
#include "passes/partition/Passes.h"
#include "passes/precision/Passes.h"
#include "passes/saved/Passes.h"
#include "passes/schedule/Passes.h"
#include "passes/schedule/Sources.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include <chrono>

using namespace mlir;

namespace dl {
/// Of the whole model, whose stages are on several ranks.
static void countParameters(ArrayRef<plan::PlanOp> plans) {
  llvm::StringMap<int64_t> elements;
  for (plan::PlanOp plan : plans)
    for (auto state : plan.getBody().getOps<plan::StateOp>())
      if (state.getRole() == plan::StateRole::Parameter)
        elements[state.getName()] =
            cast<RankedTensorType>(state.getWhole().value_or(state.getType()))
                .getNumElements();
  int64_t all = 0;
  for (const auto &one : elements)
    all += one.second;
  for (plan::PlanOp plan : plans)
    plan.setParameters(all);
}

namespace {

/// The order of everything. Each phase ends with its own verification: what may
/// no longer exist (`verify-backward`, the end of `form-kernels`), or what must
/// hold (`verify-races`, the checks of a loader in `emit`).
class Compilation {
public:
  Compilation(ModuleOp module, const CompileOptions &options,
              CompileReport &report)
      : module(module), options(options), report(report) {}

  LogicalResult import() {
    if (failed(mlir::verify(module)))
      return failure();
    return writePictures(drawGraph(module, options.pictures));
  }

  LogicalResult backward() {
    return runPasses([&](OpPassManager &passes) {
      buildBackwardPipeline(passes);
      passes.addPass(createDecodeByPosition());
      MixedPrecisionOptions precision;
      precision.f32.assign(options.f32.begin(), options.f32.end());
      passes.addPass(createMixedPrecision(precision));
      passes.addPass(createNarrowCaches());
      passes.addNestedPass<graph::StepOp>(
          createRecomputeCheckpoints({options.keepBelow}));
    });
  }

  /// From here on there is a module for each class of ranks.
  LogicalResult partition() {
    FailureOr<graph::MeshOp> mesh = placeMesh();
    if (failed(mesh) || (*mesh && failed(runPasses(buildPartitionPipeline))))
      return failure();
    units = rankModules(module);
    return runPasses([&](OpPassManager &passes) {
      // (A GPU would have no room for what training does not use.)
      if (units.front() == module && !isCuda())
        passes.addPass(createPrepareWeights());
      OpPassManager &steps = passes.nest<graph::StepOp>();
      if (units.front() != module) {
        // What is simple for a whole batch may not be so for a part of it.
        // Parts of constants are constants; what a rank has nothing of is dead.
        steps.addPass(createDecompose());
        steps.addPass(createCanonicalizerPass());
        steps.addPass(createCSEPass());
      }
      plan::MachineModel machine = machineForChains();
      if (!options.keepAll)
        steps.addPass(createTransposeChains({machine}));
      steps.addPass(createChunkLargeValues({machine}));
    });
  }

  /// As passes see it that know products of f32, or find out what would be one
  /// kernel.
  plan::MachineModel machineForChains() const {
    plan::MachineModel machine = options.machine;
    if (options.tf32)
      machine.productF32 = machine.productTf32;
    if (!options.fuse)
      machine.chainScratchBytes = 0;
    return machine;
  }

  LogicalResult layout() {
    if (failed(runPasses(buildOpenBorderPipeline)) || failed(fillBuckets()))
      return failure();
    return runPasses([&](OpPassManager &passes) {
      passes.addNestedPass<graph::StepOp>(createComposeViews());
      passes.addPass(createPlanesOutermost());
      passes.addPass(createBatchesOutermost());
      if (isCuda()) {
        passes.addPass(createChannelsInnermost());
      } else { // what vectors along batches want
        passes.addPass(createAssignLayouts());
        passes.addPass(createBatchInnermost());
        passes.addPass(createChannelsInnermost({/*fewImages=*/true}));
      }
      // Nothing may merge behind it what it has doubled.
      if (options.fuse && !options.keepAll)
        passes.addNestedPass<graph::StepOp>(
            createChooseSaved({options.keepBelow}));
    });
  }

  LogicalResult fuse() {
    return runPasses([&](OpPassManager &passes) {
      if (isCuda() && !options.ownKernels) {
        passes.addPass(createAlignProducts({options.tf32, options.machine}));
        passes.addPass(
            createChooseLibraryCalls({options.tf32, options.machine}));
      }
      passes.addPass(createFormKernels({options.fuse, machineForChains()}));
    });
  }

  LogicalResult schedule() {
    if (failed(runPasses([&](OpPassManager &passes) {
          passes.addPass(createInsertCopies());
          if (isCuda())
            passes.addPass(createAnnotateCudaKernels(
                {options.tf32, /*leastProduct=*/0, options.machine}));
          else
            passes.addPass(
                createAnnotateKernels({options.maxTiles, options.machine}));
          passes.addPass(createLowerToPlan(
              {options.machine,
               isCuda() ? plan::Target::Cuda : plan::Target::Cpu}));
          passes.addPass(createMarkSerial({options.machine}));
          passes.addPass(createPlaceBuffers());
          passes.addPass(createAddDependencies());
          passes.addPass(createVerifyRaces());
        })))
      return failure();
    for (ModuleOp unit : units)
      plans.push_back(*unit.getOps<plan::PlanOp>().begin());
    countParameters(plans);
    report.describe(plans.front(), options.machine);
    if (failed(checkMemory()))
      return failure();
    return writePictures(drawPlan(units, plans, options.pictures));
  }

  LogicalResult codegen() {
    // Kernels are compiled by several threads, which make types and attributes.
    module.getContext()->enableMultithreading();
    if (failed(isCuda() ? compileForCuda() : compileForCpu()))
      return failure();
    report.describe(plans.front(), options.machine);
    for (const dl::emit::Image &image : images)
      report.images.push_back({image.features, image.bytes.size()});
    if (failed(checkMemory()))
      return failure();
    return options.kernelsPath.empty() ? success() : writeKernels();
  }

  LogicalResult emit() {
    FailureOr<dl::emit::PlanFile> file = dl::emit::encodePlan(plans, images);
    if (failed(file))
      return failure();
    report.planBytes = file->bytes.size();
    report.batchBytes = file->batchBytes;
    return options.planPath.empty() ? success()
                                    : write(options.planPath, file->bytes);
  }

  LogicalResult dump(StringRef phase) {
    for (const auto &[wanted, path] : options.dumps) {
      if (wanted != phase)
        continue;
      std::string text;
      llvm::raw_string_ostream stream(text);
      module.print(stream, OpPrintingFlags().elideLargeElementsAttrs());
      if (failed(write(path,
                       ArrayRef(reinterpret_cast<const uint8_t *>(text.data()),
                                text.size()))))
        return failure();
    }
    return success();
  }

private:
  bool isCuda() const { return !options.cudaArchitectures.empty(); }

  LogicalResult compileForCpu() {
    auto compiled =
        dl::cpu::compileKernels(module, {options.targetCpu, options.threads,
                                         options.cache, options.machine});
    if (failed(compiled))
      return failure();
    code = std::move(*compiled);
    for (const dl::cpu::CpuImage &image : code.images)
      images.push_back({image.features, image.elf});
    setScratch(code.scratchBytes);
    return success();
  }

  LogicalResult compileForCuda() {
    if (llvm::any_of(options.cudaArchitectures,
                     [](StringRef name) { return name != "source"; }))
      if (auto nvrtc = dl::cuda::Nvrtc::open(); !nvrtc) {
        report.exitCode = CompileReport::notInThisVersion;
        return emitError(UnknownLoc::get(module.getContext()))
               << "--target=cuda: " << llvm::toString(nvrtc.takeError());
      }
    auto compiled = dl::cuda::compileKernels(
        module, {options.cudaArchitectures, options.threads, options.cache});
    if (failed(compiled))
      return failure();
    cudaCode = std::move(*compiled);
    for (const dl::cuda::CudaImage &image : cudaCode.images)
      images.push_back({image.features, image.bytes});
    setScratch(cudaCode.scratchBytes);
    if (options.sourcePath.empty())
      return success();
    return write(options.sourcePath, ArrayRef(reinterpret_cast<const uint8_t *>(
                                                  cudaCode.source.data()),
                                              cudaCode.source.size()));
  }

  /// What cannot fit into a machine whose memory is known is refused here, not
  /// by it.
  LogicalResult checkMemory() {
    std::vector<std::string> why = report.whyTooLarge();
    if (why.empty())
      return success();
    report.exitCode = CompileReport::notInThisVersion;
    InFlightDiagnostic error = emitError(UnknownLoc::get(module.getContext()))
                               << why.front();
    for (const std::string &line : llvm::drop_begin(why))
      error.attachNote() << line;
    return failure();
  }

  void setScratch(std::map<std::string, uint64_t> &bytes) {
    for (plan::PlanOp plan : plans)
      for (auto kernel : plan.getOps<plan::KernelOp>())
        kernel.setScratch(bytes[kernel.getSymName().str()]);
  }

  /// The program is verified behind the last of them: behind each one would
  /// take a third of the time. (`dl-opt` does, and with it all tests.)
  LogicalResult runPasses(llvm::function_ref<void(OpPassManager &)> fill) {
    for (ModuleOp unit : units) {
      PassManager passes(unit->getName());
      passes.enableVerifier(false);
      fill(passes);
      if (failed(passes.run(unit)) || failed(mlir::verify(unit)))
        return failure();
    }
    return success();
  }

  /// What all classes of ranks decide together.
  LogicalResult fillBuckets() {
    if (units.front() == module)
      return success();
    PassManager passes(module->getName());
    passes.enableVerifier(false);
    passes.addPass(createCombineCommunications({options.machine}));
    return failure(failed(passes.run(module)) || failed(mlir::verify(module)));
  }

  /// The model's mesh with the options' sizes, without axes of one rank; null
  /// where one rank is left.
  FailureOr<graph::MeshOp> placeMesh() {
    SmallVector<Attribute> axes;
    std::string data = "dp", stages = "pp", schedule = "1f1b";
    int64_t zero = 0, micros = 1, perRank = 1;
    ArrayAttr cut = ArrayAttr::get(module.getContext(), {}), replicas = cut;
    Location place = module.getLoc();
    auto add = [&](StringRef name, int64_t size) {
      if (size > 1)
        axes.push_back(graph::AxisAttr::get(module.getContext(), name, size));
    };
    for (auto known :
         llvm::make_early_inc_range(module.getOps<graph::MeshOp>())) {
      if (options.mesh.axes.empty())
        for (auto axis : known.getAxes().getAsRange<graph::AxisAttr>())
          add(axis.getName(), axis.getSize());
      zero = known.getZero();
      data = known.getData().str();
      replicas = known.getReplicas();
      stages = known.getStages().str();
      micros = known.getMicroBatches();
      schedule = known.getSchedule().str();
      perRank = known.getStagesPerRank();
      cut = known.getCut();
      if (!isa<UnknownLoc>(known.getLoc()))
        place = known.getLoc();
      known.erase();
    }
    for (const auto &[name, size] : options.mesh.axes)
      add(name, size);
    // A mesh of the command line is not the model's, but its cut is.
    if (!options.mesh.axes.empty() && cut.empty())
      place = module.getLoc();
    dropOtherAxes(axes);
    zero = options.mesh.zero.value_or(zero);
    micros = options.mesh.microBatches.value_or(micros);
    if (!options.mesh.schedule.empty()) {
      schedule = options.mesh.schedule;
      if (!graph::whyNotOnEachRank(schedule, perRank).empty())
        perRank = graph::usualStagesPerRank(
            *graph::pipelineScheduleOf(schedule)); // as of the arguments
    }
    perRank = options.mesh.stagesPerRank.value_or(perRank);
    if (std::string why = graph::whyNotOnEachRank(schedule, perRank);
        !why.empty()) {
      report.exitCode = CompileReport::wrongUse;
      return emitError(UnknownLoc::get(module.getContext()))
             << "--stages-per-rank=" << perRank << ": " << why
             << "; --schedule=interleaved has more than one";
    }
    auto lacks = [&](const std::string &name) {
      return llvm::none_of(axes, [&](Attribute axis) {
        return cast<graph::AxisAttr>(axis).getName() == name;
      });
    };
    auto warn = [&] {
      return emitWarning(UnknownLoc::get(module.getContext()));
    };
    if (options.mesh.zero.value_or(0) > 0 && lacks(data))
      warn() << "--zero=" << zero << " divides nothing: the mesh has no axis '"
             << data << "'";
    if (!options.mesh.schedule.empty() && lacks(stages) &&
        (micros == 1 || perRank > 1))
      warn() << "--schedule=" << schedule
             << " orders nothing: the mesh has no axis '" << stages << "'";
    if (axes.empty() && micros == 1)
      return graph::MeshOp();
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    return graph::MeshOp::create(builder, place, builder.getArrayAttr(axes),
                                 data, replicas, zero, stages, micros, schedule,
                                 perRank, cut);
  }

  /// An axis of one rank divides nothing.
  void dropOtherAxes(ArrayRef<Attribute> axes) {
    auto has = [&](Attribute name) {
      return llvm::any_of(axes, [&](Attribute axis) {
        return cast<graph::AxisAttr>(axis).getName() ==
               cast<StringAttr>(name).getValue();
      });
    };
    // An axis that another mesh would have is left out silently; one that looks
    // like a slip is not: "tpx" where there is "tp".
    llvm::DenseSet<Attribute> told;
    auto warnOfSlip = [&](Attribute name, Location place) {
      StringRef wrong = cast<StringAttr>(name).getValue();
      for (Attribute axis : axes)
        if (StringRef known = cast<graph::AxisAttr>(axis).getName();
            !has(name) &&
            (wrong.starts_with(known) || known.starts_with(wrong)) &&
            told.insert(name).second)
          emitWarning(place)
              << "the mesh has no axis '" << wrong << "', but one that is '"
              << known << "': this is not divided";
    };
    Builder builder(module.getContext());
    module.walk([&](graph::ShardOp op) {
      for (StringRef name : op.getAxisOfDims())
        if (!name.empty())
          warnOfSlip(builder.getStringAttr(name), op.getLoc());
    });
    for (auto state : module.getOps<graph::StateOp>()) {
      graph::ShardingAttr sharding = state.getShardingAttr();
      if (!sharding)
        continue;
      SmallVector<Attribute> dims;
      for (auto dim : sharding.getDims().getAsRange<ArrayAttr>()) {
        for (Attribute name : dim)
          warnOfSlip(name, state.getLoc());
        dims.push_back(builder.getArrayAttr(llvm::filter_to_vector(dim, has)));
      }
      state.setShardingAttr(graph::ShardingAttr::get(
          module.getContext(), builder.getArrayAttr(dims), sharding.getSum(),
          sharding.getMax()));
    }
    if (!axes.empty())
      return;
    module.walk([](graph::ShardOp op) {
      op.getResult().replaceAllUsesWith(op.getX());
      op.erase();
    });
  }

  LogicalResult writePictures(FailureOr<std::vector<PictureFile>> files) {
    if (failed(files)) {
      if (!report.exitCode)
        report.exitCode = CompileReport::wrongUse;
      return failure();
    }
    for (const PictureFile &file : *files)
      if (failed(write(file.path, ArrayRef(reinterpret_cast<const uint8_t *>(
                                               file.text.data()),
                                           file.text.size()))))
        return failure();
    return success();
  }

  LogicalResult writeKernels() {
    if (isCuda()) {
      report.exitCode = CompileReport::wrongUse;
      return emitError(UnknownLoc::get(module.getContext()))
             << "--emit=kernels.so: kernels for GPUs are no shared object; "
                "--emit=cu writes their source";
    }
    if (code.images.empty()) {
      report.exitCode = CompileReport::wrongUse;
      return emitError(UnknownLoc::get(module.getContext()))
             << "--emit=kernels.so: the steps need no kernels; leave it out";
    }
    for (auto [index, image] : llvm::enumerate(code.images)) {
      bool last = index + 1 == code.images.size();
      std::string path = last ? options.kernelsPath
                              : withInfix(options.kernelsPath, image.features);
      if (failed(write(path, ArrayRef(reinterpret_cast<const uint8_t *>(
                                          image.elf.data()),
                                      image.elf.size()))))
        return failure();
    }
    return success();
  }

  LogicalResult write(StringRef path, ArrayRef<uint8_t> bytes) {
    std::string why = writeFile(path, bytes);
    if (why.empty())
      return success();
    report.exitCode = CompileReport::cannotWrite;
    return emitError(UnknownLoc::get(module.getContext()))
           << "cannot write '" << path << "': " << why;
  }

  ModuleOp module;
  const CompileOptions &options;
  CompileReport &report;
  /// What ranks run: the module itself where there is one.
  SmallVector<ModuleOp> units{module};
  SmallVector<plan::PlanOp> plans;
  // Of one target.
  dl::cpu::CpuCode code;
  dl::cuda::CudaCode cudaCode;
  std::vector<dl::emit::Image> images;
};

struct Phase {
  StringRef name;
  LogicalResult (Compilation::*run)();
};

constexpr Phase phases[] = {
    {"import", &Compilation::import},
    {"backward", &Compilation::backward},
    {"partition", &Compilation::partition},
    {"layout", &Compilation::layout},
    {"fuse", &Compilation::fuse},
    {"schedule", &Compilation::schedule},
    {"codegen", &Compilation::codegen},
    {"emit", &Compilation::emit},
};

} // namespace

ArrayRef<StringRef> phaseNames() {
  static const auto names = llvm::map_to_vector(
      phases, [](const Phase &phase) { return phase.name; });
  return names;
}

LogicalResult compileToPlan(ModuleOp module, const CompileOptions &options,
                            CompileReport &report) {
  llvm::StringSet<> known;
  ScopedDiagnosticHandler collectRemarks(
      module.getContext(), [&](Diagnostic &diagnostic) {
        if (isModelError(diagnostic))
          report.exitCode = CompileReport::wrongModel;
        if (diagnostic.getSeverity() != DiagnosticSeverity::Remark)
          return failure();
        // The short version of a step is decided like the whole one.
        CompileReport::Remark remark{
            schedule::describe(diagnostic.getLocation()), diagnostic.str()};
        if (known.insert(remark.location + "\n" + remark.text).second)
          report.remarks.push_back(std::move(remark));
        return success();
      });
  Compilation compilation(module, options, report);
  for (const Phase &phase : phases) {
    auto start = std::chrono::steady_clock::now();
    if (failed((compilation.*phase.run)()) ||
        failed(compilation.dump(phase.name))) {
      if (!report.exitCode)
        report.exitCode = CompileReport::ourBug;
      return failure();
    }
    report.phases.push_back(
        {phase.name.str(),
         std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
             .count()});
    if (phase.name == options.stopAfter)
      break;
  }
  return success();
}

} // namespace dl
