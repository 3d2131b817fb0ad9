#ifndef DL_CHUNK_PASSES
#define DL_CHUNK_PASSES

include "dialects/plan/MachineOption.td"

def ChunkLargeValues : Pass<"chunk-large-values", "::dl::graph::StepOp"> {
  let summary = "Computes large values between products in chunks of their rows";
  let description = [{
    The logits of a language model have a number for each token of the vocabulary: for 8192 rows of 50257 they take
    1.6 GB, and so do their softmax and their gradient. What is done with them is done row by row, or adds
    rows up: the loss, the gradient of the head's input, that of its weight. So all of it is done for some
    rows, then for the next ones, and only these rows are in memory (as the fused losses of Hsu et
    al., "Liger Kernel", 2024, do by hand). Sums over rows are added up chunk by chunk, in
    their order; values with few numbers for each row are put together again.

    ```mlir
    %logits = graph.matmul %x, %w {spec = "mk,nk->mn"}     // 4096 x 50257
    ...                                                    // maximum, exp, sum, gradient %d
    %dw = graph.matmul %d, %x {spec = "mn,mk->nk"}
    // =>
    %x0 = graph.slice %x ...                               // 512 rows
    %logits0 = graph.matmul %x0, %w
    ...
    %dw0 = graph.matmul %d0, %x0
    %x1 = graph.slice %x ...
    ...
    %dw1 = graph.matmul %d1, %x1
    %sum1 = graph.add %dw0, %dw1
    ```
    Left whole is what leaves the step or goes to other ranks, what needs a total over rows before it goes
    on (a loss that is squared), and values in slices that form-kernels makes one kernel of.
  }];
  let dependentDialects = ["::dl::graph::GraphDialect"];
  let options = [MachineOption<"the sizes of chunks">];
}

#endif
