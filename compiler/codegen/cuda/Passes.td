#ifndef DL_CUDA_PASSES
#define DL_CUDA_PASSES

include "dialects/plan/MachineOption.td"

def AlignProducts : Pass<"align-products", "::mlir::ModuleOp"> {
  let summary = "Has products of odd extents computed with zeros behind, on whole vectors";
  let description = [{
    The library's fast kernels for tensor cores want rows that begin at multiples of 16 bytes: 8 elements of bf16,
    4 of f32. The logits of a vocabulary of 50257 have none. Where it takes less time than it saves, the operands
    of such a product get zeros behind, once for all products that read them, and the first elements of its result are used. Sums of such products
    are sums of all of their elements, so that they remain part of a call. The same is known as `pad_mm` in PyTorch's compiler.
    Runs before `choose-library-calls`.

    ```mlir
    %0 = graph.matmul %x, %w {spec = "mk,nk->mn"} : (tensor<4096x768xf32>, tensor<50257x768xf32>) -> ...
    // =>
    %p = graph.pad %w {high = array<i64: 3, 0>, ...}   // tensor<50260x768xf32>
    %m = graph.matmul %x, %p {spec = "mk,nk->mn"}
    %0 = graph.slice %m {sizes = array<i64: 4096, 50257>, ...}
    ```
  }];
  let dependentDialects = ["::dl::graph::GraphDialect", "::dl::plan::PlanDialect",
                           "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
  let options = [Option<"tf32", "tf32", "bool", "false", "Products of f32 on tensor cores">,
                 MachineOption<"the rates of products">];
}

def ChooseLibraryCalls : Pass<"choose-library-calls", "::mlir::ModuleOp"> {
  let summary = "Marks products that NVIDIA's library computes faster";
  let description = [{
    A product of matrices, of one stride each for rows, columns, sums and batches, may be cuBLASLt's, with a bias
    and a matrix that are added to it. What else a kernel of ours would compute on its sums is then computed apart, so
    the product is stored once more and loaded again. The machine says what either reaches; a remark says the times. Long sums of few results
    are a batch of products and its sum, where that is faster still.
    Runs before `form-kernels`, which fuses nothing but the ops of one call, which have its number.

    ```mlir
    %0 = graph.matmul %x, %w {spec = "mk,nk->mn"} : (tensor<8192x384xf32>, tensor<1536x384xf32>) -> ...
    // =>
    %0 = graph.matmul %x, %w {graph.library_call = 0, spec = "mk,nk->mn"} : ...
    ```
  }];
  let dependentDialects = ["::dl::graph::GraphDialect", "::dl::plan::PlanDialect",
                           "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
  let options = [Option<"tf32", "tf32", "bool", "false", "Products of f32 on tensor cores">,
                 MachineOption<"the rates of products">];
}

def AnnotateCudaKernels : Pass<"annotate-cuda-kernels", "::mlir::ModuleOp"> {
  let summary = "Decides how each kernel is shared among blocks of threads";
  let description = [{
    What a schedule has to know of a kernel before there is code: its strategy, the blocks of a
    launch, the threads and the shared memory of each, the device memory of a launch (`workspace`, and
    `scratch` that has to be zero), what one launch computes and moves, and how long it is expected to take. A product that `choose-library-calls` has marked is described as the library
    takes it (`product`). The same decisions are made again when source is written.

    ```mlir
    %0 = graph.kernel %x {name = "softmax_5d0c41f2", ...} { ... }
    // =>
    %0 = graph.kernel %x {name = "softmax_5d0c41f2", strategy = "rows", tiles = 256 : i64, threads = 256 : i64,
                          shared = 4352 : i64, scratch = 0 : i64, workspace = 0 : i64, flops = 1048576 : i64, bytes = 81920 : i64, seconds = 1.0e-06, ...}
    ```
  }];
  // Payloads are built to be looked at.
  let dependentDialects = ["::dl::graph::GraphDialect", "::dl::plan::PlanDialect",
                           "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
  let options = [Option<"tf32", "tf32", "bool", "false",
                        "Products of f32 on tensor cores, with operands rounded to tf32">,
                 Option<"leastProduct", "least-product", "int64_t", "0",
                        "Multiplications from which on a product has tiles in registers; 0: where that pays">,
                 MachineOption<"the seconds of a launch">];
}

#endif
