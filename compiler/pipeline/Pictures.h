// Takes the pictures that were asked for at the phases that have what they
// show.
#pragma once

#include "compiler/pictures/Picture.h"
#include "dialects/plan/Plan.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace dl {

struct PictureOptions {
  enum Kind { GraphDot, GraphSvg, MemorySvg, TimelineSvg };
  struct File {
    Kind kind;
    std::string path;
  };
  std::vector<File> files;
  pictures::View view = pictures::View::Blocks;
  bool byDevices = false; // a graph is what each class of ranks does
  std::string step;       // empty: the training step, else the first
};

struct PictureFile {
  std::string path, text;
};

/// What is drawn of a graph with its gradients; empty where it shows kernels.
mlir::FailureOr<std::vector<PictureFile>>
drawGraph(mlir::ModuleOp imported, const PictureOptions &options);

/// What is drawn of kernels, of memory and of time, from the modules and plans
/// of all classes of ranks.
mlir::FailureOr<std::vector<PictureFile>>
drawPlan(llvm::ArrayRef<mlir::ModuleOp> units,
         llvm::ArrayRef<plan::PlanOp> plans, const PictureOptions &options);

} // namespace dl
