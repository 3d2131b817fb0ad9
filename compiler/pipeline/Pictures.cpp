#include "compiler/pipeline/Pictures.h"
#include "compiler/pictures/BuildPicture.h"
#include "compiler/pictures/DevicesPicture.h"
#include "compiler/pictures/DotWriter.h"
#include "compiler/pictures/Fold.h"
#include "compiler/pictures/Layout.h"
#include "compiler/pictures/MemoryPicture.h"
#include "compiler/pictures/SvgWriter.h"
#include "compiler/pictures/Timeline.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"
#include "passes/backward/Passes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace dl {

using pictures::Picture;
using pictures::View;

/// The step to be drawn.
static FailureOr<std::string> chooseStep(ModuleOp module,
                                         const PictureOptions &options) {
  std::vector<std::string> names = pictures::stepNames(module);
  if (options.step.empty() && !names.empty())
    return llvm::is_contained(names, "train") ? "train" : names.front();
  if (llvm::is_contained(names, options.step))
    return options.step;
  return emitError(UnknownLoc::get(module.getContext()))
         << "--step=" << options.step << ": the steps of this model are "
         << llvm::join(names, ", ");
}

static bool isGraph(const PictureOptions::File &file) {
  return file.kind == PictureOptions::GraphDot ||
         file.kind == PictureOptions::GraphSvg;
}

static bool wantsGraph(const PictureOptions &options) {
  return llvm::any_of(options.files, isGraph);
}

/// Beyond this many pixels browsers cut pictures off, or show none.
static constexpr double kTallest = 16000;

static bool isTooTall(const Picture &picture) {
  return pictures::layOut(picture, pictures::arrange(picture)).height >
         kTallest;
}

static void drawGraphFiles(const Picture &picture,
                           const PictureOptions &options,
                           std::vector<PictureFile> &files) {
  pictures::Arrangement arrangement = pictures::arrange(picture);
  for (const PictureOptions::File &file : options.files)
    if (file.kind == PictureOptions::GraphDot)
      files.push_back({file.path, pictures::writeDot(picture, arrangement)});
    else if (file.kind == PictureOptions::GraphSvg)
      files.push_back({file.path, pictures::writeSvg(picture, arrangement)});
}

FailureOr<std::vector<PictureFile>> drawGraph(ModuleOp imported,
                                              const PictureOptions &options) {
  std::vector<PictureFile> files;
  if (options.files.empty())
    return files;
  FailureOr<std::string> step = chooseStep(imported, options);
  if (failed(step))
    return failure();
  if (options.view == View::Kernels || options.byDevices ||
      !wantsGraph(options))
    return files;
  // The ops as the user named them: a copy, before composite ops and optimizers
  // are taken apart.
  OwningOpRef<ModuleOp> copy = imported.clone();
  PassManager passes((*copy)->getName());
  buildGradientsPipeline(passes);
  if (failed(passes.run(*copy)))
    return failure();
  auto picture = pictures::describeOps(*copy, *step, options.view != View::Ops);
  if (!picture)
    return files;
  if (options.view != View::Ops)
    *picture = pictures::foldBlocks(*picture);
  bool tooTall = options.view == View::Blocks && isTooTall(*picture);
  if (tooTall)
    emitWarning(UnknownLoc::get(imported.getContext()))
        << "the graph with all its ops would be more than " << int64_t(kTallest)
        << " pixels high; the picture shows a box a module instead "
           "(--view=modules)";
  if (tooTall || options.view == View::Modules)
    *picture = pictures::foldModules(*picture);
  drawGraphFiles(*picture, options, files);
  return files;
}

FailureOr<std::vector<PictureFile>> drawPlan(ArrayRef<ModuleOp> units,
                                             ArrayRef<plan::PlanOp> plans,
                                             const PictureOptions &options) {
  std::vector<PictureFile> files;
  if (options.files.empty())
    return files;
  ModuleOp module = units.front();
  FailureOr<std::string> step = chooseStep(module, options);
  if (failed(step))
    return failure();
  if (options.view == View::Kernels && wantsGraph(options))
    if (auto picture = pictures::describeKernels(module, *step))
      drawGraphFiles(pictures::foldBlocks(*picture), options, files);
  for (const PictureOptions::File &file : options.files) {
    if (options.byDevices && isGraph(file))
      files.push_back(
          {file.path,
           pictures::writeDevicesSvg(pictures::describeDevices(units, *step))});
    if (file.kind == PictureOptions::MemorySvg)
      files.push_back(
          {file.path, pictures::writeMemorySvg(pictures::describeMemory(
                          module, plans.front(), options.step))});
    if (file.kind == PictureOptions::TimelineSvg)
      files.push_back(
          {file.path, pictures::writeTimelineSvg(
                          pictures::describeTimeline(units, plans, *step))});
  }
  return files;
}

} // namespace dl
