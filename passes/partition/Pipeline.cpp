#include "dialects/graph/Step.h"
#include "mlir/Pass/PassManager.h"
#include "passes/partition/Mesh.h"
#include "passes/partition/Passes.h"

using namespace mlir;

void dl::buildPartitionPipeline(OpPassManager &manager) {
  manager.addPass(createShardSteps());
  manager.addPass(createVerifyShardings());
  manager.addPass(createAssignStages());
  manager.addPass(createPartitionSteps());
}

SmallVector<ModuleOp> dl::rankModules(ModuleOp module) {
  SmallVector<ModuleOp> modules(module.getOps<ModuleOp>());
  if (modules.empty())
    modules.push_back(module);
  return modules;
}
