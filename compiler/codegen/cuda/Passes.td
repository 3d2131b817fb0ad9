#ifndef DL_CUDA_PASSES
#define DL_CUDA_PASSES

include "mlir/Pass/PassBase.td"

def AnnotateCudaKernels : Pass<"annotate-cuda-kernels", "::mlir::ModuleOp"> {
  let summary = "Decides how each kernel is shared among blocks of threads";
  let description = [{
    What a schedule has to know of a kernel before there is code: its strategy, the blocks of a
    launch, the threads and the shared memory of each, the device memory of a launch, and what one
    launch computes and moves. The same decisions are made again when source is written.

    ```mlir
    %0 = graph.kernel %x {name = "softmax_5d0c41f2", ...} { ... }
    // =>
    %0 = graph.kernel %x {name = "softmax_5d0c41f2", strategy = "rows", tiles = 256 : i64, threads = 256 : i64,
                          shared = 4352 : i64, scratch = 0 : i64, flops = 1048576 : i64, bytes = 81920 : i64, ...}
    ```
  }];
  // Payloads are built to be looked at.
  let dependentDialects = ["::dl::graph::GraphDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
  let options = [Option<"tf32", "tf32", "bool", "false",
                        "Products of f32 on tensor cores, with operands rounded to tf32">,
                 Option<"leastProduct", "least-product", "int64_t", "0",
                        "Multiplications from which on a product has tiles in registers; 0: where that pays">];
}

#endif
