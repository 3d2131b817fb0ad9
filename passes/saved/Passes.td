#ifndef DL_SAVED_PASSES
#define DL_SAVED_PASSES

include "mlir/Pass/PassBase.td"

def RecomputeCheckpoints : Pass<"recompute-checkpoints", "::dl::graph::StepOp"> {
  let summary = "Computes the values of checkpoints again in the backward";
  let description = [{
    Activation checkpointing (Chen et al., "Training Deep Nets with Sublinear Memory Cost", 2016):
    of what is computed within one dl::checkpoint(), as locations say, the gradients
    of the same ops read copies, which are made from what goes into it, in front of the first of
    these gradients. So the values are not alive between forward and backward. Kept are those that
    others of the backward read, small ones and totals of many, but for those that values made again are compared
    with: these are made of them. Random numbers are the same again, for their key is
    that of the op.

    ```mlir
    %h = graph.matmul %x, %w            // in a checkpoint
    %y = graph.relu %h
    ...
    %g = graph.matmul %dz, %y           // the backward of the next op in the checkpoint
    // =>
    %h2 = graph.matmul %x, %w {graph.recomputed}
    %y2 = graph.relu %h2 {graph.recomputed}
    %g = graph.matmul %dz, %y2
    ```
    The attribute keeps copies apart from what they repeat until no pass looks for equal ops.
  }];
  let options = [Option<"leastBytes", "least-bytes", "int64_t", "65536",
                        "Values of fewer bytes are kept">];
}

def ChooseSaved : Pass<"choose-saved", "::dl::graph::StepOp"> {
  let summary = "Chooses which values the backward keeps, and which it makes again";
  let description = [{
    A value of the forward that the backward reads takes memory from one to the other. What is
    elementwise can be computed again from other values instead, in the kernel that reads it. Which
    values are kept is a minimum cut, by bytes, between what cannot be computed again (products,
    sums, what comes from other ranks) and the readers. Ops on the readers' side of the cut are
    repeated for them, with an attribute by which fusion knows them.

    ```mlir
    %h = graph.add %product, %b
    %half = graph.mul %h, 0.5
    %y = graph.mul %half, %half
    %z = graph.matmul %y, %w
    ...
    %g = graph.mul %dy, %half                  // in the backward
    // =>
    %h = graph.add %product, %b                // kept
    ...
    %again = graph.mul %h, 0.5 {graph.made_again}
    %g = graph.mul %dy, %again
    ```
    A product reads its operands from memory: one is made again only where an op of the backward
    that is computed before it can write it beside its own result; else it is kept.
  }];
  let options = [Option<"leastBytes", "least-bytes", "int64_t", "65536",
                        "Values of fewer bytes are kept, and so are all where less is saved">];
  // Payloads are built to be looked at.
  let dependentDialects = ["::dl::graph::GraphDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
}

#endif
