#ifndef DL_FACT_PASSES
#define DL_FACT_PASSES

include "mlir/Pass/PassBase.td"

def PrintLoopNests : Pass<"print-loop-nests", "::mlir::ModuleOp"> {
  let summary = "Prints the loop nest and the payload of each op";
}

def PrintCosts : Pass<"print-costs", "::mlir::ModuleOp"> {
  let summary = "Prints the floating-point operations of each op";
}

def PrintGradients : Pass<"print-gradients", "::mlir::ModuleOp"> {
  let summary = "Prints the gradient of each op as a function";
}

def PrintShardingRules : Pass<"print-sharding-rules", "::mlir::ModuleOp"> {
  let summary = "Prints the factors of each op and its local ops";
  let options = [Option<"shards", "shards", "int64_t", "1",
                        "Also print the first and last part of each factor">];
}

def FailCheck : Pass<"fail-check", "::mlir::ModuleOp"> {
  let summary = "Fails a check at the first op with the attribute `fail`";
  let description = [{
    For the test that a check which does not hold is an error at its op, with
    exit code 70, in release builds, too.

    ```mlir
    %0 = graph.relu %x {fail} ...   // error: relu: the op has the attribute `fail`
    ```
  }];
}

def Evaluate : Pass<"evaluate", "::mlir::ModuleOp"> {
  let summary = "Evaluates functions with the ops' references";
  let description = [{
    Arguments count through the numbers 1, 2, ... in row-major order, divided by
    4 for floats.
  }];
}

#endif
