#ifndef DL_FUSE_PASSES
#define DL_FUSE_PASSES

include "dialects/plan/MachineOption.td"

def FormKernels : Pass<"form-kernels", "::mlir::ModuleOp"> {
  let summary = "Groups the ops of each function into kernels";
  let description = [{
    A contraction takes in the elementwise ops behind it (bias, activation, the update of its
    parameter) and cheap ones in front of it (decoding of raw input). Elementwise ops and
    reductions form chains as long as they can share tiles. Ops without work of their own (views,
    constants, random numbers) are cloned into every kernel that reads them: a dropout mask is made
    again in the backward, never stored.

    A cheap elementwise value is not stored either where fewer bytes move if each of its readers computes
    it: of a batch norm, the centred tensor and its square are made from x by whoever reads them.

    Sums over the same points are one kernel, which adds them up in one pass; so are short updates of one
    shape, and gradients that read the same large values.

    Products that are a chain through large values (scores of attention) are one kernel with what is
    between them, if all go over one batch; on a GPU those that make rows of its rows, which may be
    longer than its memory where each op goes over columns or adds them up.

    A result is written over an operand where each element is read only before the same one is
    written: new values of states, and what grows from values that nobody else reads (`inplace`).

    An op that would join a kernel and so make it wait for one that could run beside it stays out,
    unless what that saves in memory traffic is worth it; a remark says which.

    ```mlir
    %0 = graph.matmul %x, %w ...
    %1 = graph.add %0, %b ...
    %2 = graph.relu %1 ...
    // =>
    %2 = graph.kernel %x, %w, %b {name = "matmul_add_relu_5d0c41f2", ...} { ... }
    ```
    Afterwards a function holds kernels, graph.reshape (another shape of the same buffer) and its
    return.
  }];
  // Payloads are built to be looked at.
  let dependentDialects = ["::dl::graph::GraphDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
  let options = [Option<"fuse", "fuse", "bool", "true", "Off: one op a kernel">,
                 MachineOption<"the limits of kernels and the costs of waiting">];
}

#endif
