#ifndef DL_FACT_PASSES
#define DL_FACT_PASSES

include "mlir/Pass/PassBase.td"

def PrintLoopNests : Pass<"print-loop-nests", "::mlir::ModuleOp"> {
  let summary = "Prints the loop nest and the payload of each op";
  let description = [{
    Extents with the reduction dims behind a bar, how they are combined, what of each operand an
    iteration reads, and the ops of the payload.

    ```mlir
    %0 = graph.sum %x {dims = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
    // prints
    graph.sum
      extents [2 | 3] combine sum
      access (d0, d1) -> (d0, d1)
    ```
  }];
}

def PrintCosts : Pass<"print-costs", "::mlir::ModuleOp"> {
  let summary = "Prints the floating-point operations of each op";
  let description = [{
    ```mlir
    %0 = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>   // prints: graph.exp flops 4
    ```
  }];
}

def PrintGradients : Pass<"print-gradients", "::mlir::ModuleOp"> {
  let summary = "Prints the gradient of each op as a function";
  let description = [{
    Of the op's operands and the gradients of its results.

    ```mlir
    %0 = graph.neg %x : (tensor<2xf32>) -> tensor<2xf32>
    // prints
    graph.step @gradient.neg(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>) -> tensor<2xf32> {
      %0 = graph.neg %arg0 ...
      %1 = graph.neg %arg1 ...
      graph.return %1 : tensor<2xf32>
    }
    ```
  }];
}

def PrintShardingRules : Pass<"print-sharding-rules", "::mlir::ModuleOp"> {
  let summary = "Prints the factors of each op and its local ops";
  let description = [{
    See `dialects/graph/Sharding.h`.

    ```mlir
    %0 = graph.relu %x : (tensor<4x3xf32>) -> tensor<4x3xf32>
    // prints
    graph.relu ([i, j]) -> ([i, j]) i=4 j=3
    ```
  }];
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

    ```mlir
    graph.step @f(%x: tensor<2xf64>) -> tensor<2xf64> {
      %0 = graph.neg %x : (tensor<2xf64>) -> tensor<2xf64>
      graph.return %0 : tensor<2xf64>
    }
    // prints: @f #0 f64 [2] [-0.25, -0.5]
    ```
  }];
}

#endif
