#ifndef DL_BACKWARD_PASSES
#define DL_BACKWARD_PASSES

include "mlir/Pass/PassBase.td"

def SplitStep : Pass<"split-step", "::mlir::ModuleOp"> {
  let summary = "Splits training steps into micro-batches and an update";
  let description = [{
    Where the program accumulates more than 1 micro-batch, a step keeps what leads
    to the gradients and adds them, times its items, into accumulators (or starts
    them, in micro-batch 0). Everything that depends on gradients moves into an
    update, which divides the accumulators by the items of the whole group.
    Steps for the short last batch share accumulators and update.

    ```mlir
    graph.step @train(%x, %s, %w state @w) -> (metric "loss", state @w)
      %g = graph.gradients %loss, %w
      %w1 = graph.sgd %w, %g
    // =>
    graph.step @train(%x, %s, %w state @w, %acc state @accumulate.w)
        -> (metric "loss", state @accumulate.w) micro
    graph.step @train.update(%s, %w state @w, %acc state @accumulate.w) -> (state @w) update
    ```
  }];
  let dependentDialects = ["::dl::graph::GraphDialect"];
}

def ExpandGradients : Pass<"expand-gradients", "::dl::graph::StepOp"> {
  let summary = "Writes out graph.gradients, in reverse over SSA";
  let description = [{
    Asks DifferentiableOpInterface of each op between the parameters and the loss.
    A parameter that the loss does not depend on is an error. Afterwards
    there is no graph.gradients and no graph.detach.

    ```mlir
    %y = graph.mul %w, %x
    %g = graph.gradients %y, %w
    // =>
    %y = graph.mul %w, %x
    %one = graph.full {value = 1.0}
    %g = graph.mul %one, %x
    ```
  }];
}

def ExpandOptimizers : Pass<"expand-optimizers", "::dl::graph::StepOp"> {
  let summary = "Writes optimizers as elementwise ops";
  let description = [{
    PyTorch's semantics, in the order of its operations. Constants and scalars
    that depend on the step are computed in f64 and rounded once. Afterwards
    there is no optimizer op.

    ```mlir
    %w1 = graph.sgd %w, %g {lr = 0.1}
    // =>
    %delta = graph.mul %g, 0.1
    %w1 = graph.sub %w, %delta
    ```
  }];
}

def Decompose : Pass<"decompose", "::dl::graph::StepOp"> {
  let summary = "Writes composite ops with simpler ones";
  let description = [{
    Asks DecomposableOpInterface until nothing is left to do. Afterwards every op
    has a LoopNest, or is a reshape.

    ```mlir
    %y = graph.log_softmax %x {dim = 1}
    // =>
    %m = graph.amax %x ...                       // x - m - log(sum(exp(x - m)))
    ```
  }];
}

def VerifyBackward : Pass<"verify-backward", "::dl::graph::StepOp"> {
  let summary = "Proves that a step is ready for layout and fusion";
  let description = [{
    Every op has a LoopNest, or is a reshape or the return.
  }];
}

#endif
