#ifndef DL_CPU_PASSES
#define DL_CPU_PASSES

include "dialects/plan/MachineOption.td"

def AnnotateKernels : Pass<"annotate-kernels", "::mlir::ModuleOp"> {
  let summary = "Decides how each kernel is cut into tiles";
  let description = [{
    What a schedule has to know of a kernel before there is code: its strategy, how many tiles
    threads may take, the scratch of one thread, and what one launch computes and moves. The same
    decisions are made again when code is emitted, and are the same for every instruction set.

    ```mlir
    %0 = graph.kernel %x, %w {name = "matmul_relu_5d0c41f2", ...} { ... }
    // =>
    %0 = graph.kernel %x, %w {name = "matmul_relu_5d0c41f2", strategy = "contract", tiles = 8 : i64,
                              scratch = 0 : i64, flops = 1048576 : i64, bytes = 81920 : i64, ...}
    ```
  }];
  // Payloads are built to be looked at.
  let dependentDialects = ["::dl::graph::GraphDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
  let options = [Option<"maxTiles", "max-tiles", "int64_t", "0",
                        "Of a kernel; 0: as many as are worth it">,
                 MachineOption<"what a tile should hold">];
}

#endif
