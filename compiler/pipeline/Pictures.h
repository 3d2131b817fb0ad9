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
  enum Kind { GraphDot, GraphSvg, MemorySvg };
  struct File {
    Kind kind;
    std::string path;
  };
  std::vector<File> files;
  pictures::View view = pictures::View::Blocks;
  std::string step; // empty: the training step, else the first
};

struct PictureFile {
  std::string path, text;
};

/// What is drawn of a graph with its gradients; empty where it shows kernels.
mlir::FailureOr<std::vector<PictureFile>>
drawGraph(mlir::ModuleOp imported, const PictureOptions &options);

/// What is drawn of kernels and of memory.
mlir::FailureOr<std::vector<PictureFile>>
drawPlan(mlir::ModuleOp module, plan::PlanOp plan,
         const PictureOptions &options);

} // namespace dl
