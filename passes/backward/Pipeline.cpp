#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "passes/backward/Passes.h"

using namespace mlir;

void dl::buildGradientsPipeline(OpPassManager &manager) {
  manager.addPass(createSplitStep());
  OpPassManager &steps = manager.nest<graph::StepOp>();
  steps.addPass(createCanonicalizerPass());
  steps.addPass(createExpandGradients());
  steps.addPass(createOpenBorder());
  steps.addPass(createCanonicalizerPass());
  steps.addPass(createCSEPass());
}

void dl::buildBackwardPipeline(OpPassManager &manager) {
  manager.addPass(createSplitStep());
  OpPassManager &steps = manager.nest<graph::StepOp>();
  // Powers become products before they are differentiated.
  steps.addPass(createCanonicalizerPass());
  steps.addPass(createExpandGradients());
  steps.addPass(createExpandOptimizers());
  steps.addPass(createDecompose());
  steps.addPass(createCanonicalizerPass());
  steps.addPass(createCSEPass());
  manager.addPass(createPlaceSettings());
  manager.addNestedPass<graph::StepOp>(createVerifyBackward());
}

void dl::buildOpenBorderPipeline(OpPassManager &manager) {
  OpPassManager &steps = manager.nest<graph::StepOp>();
  steps.addPass(createOpenBorder());
  // What folds with a gradient now.
  steps.addPass(createCanonicalizerPass());
  steps.addPass(createCSEPass());
}
