#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "passes/backward/Passes.h"

using namespace mlir;

/// Steps are one block: there are no regions to simplify.
static std::unique_ptr<Pass> createCanonicalizer() {
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  return createCanonicalizerPass(config);
}

void dl::buildGradientsPipeline(OpPassManager &manager) {
  manager.addPass(createSplitStep());
  OpPassManager &steps = manager.nest<graph::StepOp>();
  steps.addPass(createCanonicalizer());
  steps.addPass(createExpandGradients());
  steps.addPass(createOpenBorder());
  steps.addPass(createCanonicalizer());
  steps.addPass(createCSEPass());
}

void dl::buildBackwardPipeline(OpPassManager &manager) {
  // Before anything folds: what is noted on ops would be lost.
  manager.addPass(createSeparateItems());
  manager.addPass(createSplitStep());
  OpPassManager &steps = manager.nest<graph::StepOp>();
  // Powers become products before they are differentiated.
  steps.addPass(createCanonicalizer());
  steps.addPass(createSkipZeros());
  // What nothing reads keeps nothing whole. (Equal values are not merged: each
  // may be asked for its gradient.)
  steps.addPass(createCanonicalizer());
  steps.addPass(createNarrowToSlices());
  steps.addPass(createExpandGradients());
  steps.addPass(createExpandOptimizers());
  steps.addPass(createDecompose());
  steps.addPass(createCanonicalizer());
  steps.addPass(createCSEPass());
  manager.addPass(createPlaceSettings());
  manager.addNestedPass<graph::StepOp>(createVerifyBackward());
}

void dl::buildOpenBorderPipeline(OpPassManager &manager) {
  OpPassManager &steps = manager.nest<graph::StepOp>();
  steps.addPass(createOpenBorder());
  // What folds with a gradient now.
  steps.addPass(createCanonicalizer());
  steps.addPass(createCSEPass());
}
