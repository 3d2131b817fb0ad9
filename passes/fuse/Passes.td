#ifndef DL_FUSE_PASSES
#define DL_FUSE_PASSES

include "dialects/plan/MachineOption.td"

def TransposeChains : Pass<"transpose-chains", "::dl::graph::StepOp"> {
  let summary = "Makes values of chains again, transposed, for sums over their rows";
  let description = [{
    Scores of attention are made of rows, block by block, and what sums columns up joins them in
    one kernel. The gradients of keys and values sum over rows: for them alone the scores would
    have to be in memory. They are made again, transposed, and what sums rows up is one kernel
    with that; nothing of them is in memory then, and what a mask hides is computed nowhere.
    (Dao, "FlashAttention-2", 2023, computes scores twice in the backward, too, where it has a
    pass over rows and one over columns.)

    Done on machines whose chains have rows, where that takes less than what memory does. Sums over
    leading dims, too, heads of queries that share one of keys, follow the chain. Products whose
    columns stream, and those that add these up, are marked, so that no library gets one of them.

    ```mlir
    %p = graph.exp %s               // [B,H,q,k], of %s = q k^T
    %dv = graph.matmul %p, %do {spec = "abqk,abqn->abkn"}
    // =>
    %s_t = graph.matmul %q, %k {spec = "abqd,abkd->abkq"}
    %p_t = graph.exp %s_t
    %dv = graph.matmul %p_t, %do {spec = "abkq,abqn->abkn"}
    ```
  }];
  let dependentDialects = ["::dl::graph::GraphDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
  let options = [MachineOption<"how fast products and memory are">];
}

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

    A value in another order than the result's is transposed in registers, eight of them at most: what
    reads more is not joined, nor is the update of a state in an order of its own that is made of more.

    More than eight kernels that differ in the values of their constants alone, as the times of a loop do,
    are one code, and the values numbers of the launch.

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
