#ifndef DL_BACKWARD_PASSES
#define DL_BACKWARD_PASSES

include "mlir/Pass/PassBase.td"

def SeparateItems : Pass<"separate-items", "::mlir::ModuleOp"> {
  let summary = "Makes what runs the items that full batches leave over, one by one";
  let description = [{
    How many items there are is known when the plan runs, and any number must be evaluated and
    predicted. By the sharding rules of its ops the pass proves that an evaluation or a prediction
    may be divided into single items. The step for one item adds up what is summed over items; its
    update makes metrics of the sums, once, as a batch of just these items would. Numbers that the
    front end has marked as growing with the batch follow from the step's count of items. Where
    items meet before a sum (batch statistics, contrastive losses), or the places of items in their
    batch matter, the step says so in `graph.mixes`, and has no such parts.

    ```mlir
    graph.step @eval.test(%x: tensor<4x3xf32> input 0, %s) -> (tensor<f32> metric "loss")
      %0 = graph.sum %x {dims = [0, 1]}
      %1 = graph.full {value = 0.25, graph.batch_power = -1}
      %2 = graph.mul %0, %1
    // =>
    graph.step @eval.test.item(%x: tensor<1x3xf32> input 0, %s, %sum state @items.test.0)
        -> (tensor<f32> state @items.test.0)
    graph.step @eval.test.update(%sum state @items.test.0, %s) -> (tensor<f32> metric "loss") update
    ```
  }];
  let dependentDialects = ["::dl::graph::GraphDialect"];
}

def SplitStep : Pass<"split-step", "::mlir::ModuleOp"> {
  let summary = "Draws the border of micro-batch and update in training steps";
  let description = [{
    Each gradient that something reads gets a graph.gradient: what does not depend on one is
    the micro-batch, the rest the update.

    ```mlir
    graph.step @train(%x, %s, %w state @w) -> (metric "loss", state @w) {
      %g = graph.gradients %loss, %w
      %w1 = graph.sgd %w, %g
    // =>
      %0 = graph.gradients %loss, %w
      %g = graph.gradient %0 {of = "w"}
      %w1 = graph.sgd %w, %g
    ```
    That is all where an update has one micro-batch: two graph.steps that are joined again would
    say no more, and could not say it of a step whose second loss depends on weights that its first
    optimizer made; nor would the order of ops be that of the program. Where the program accumulates
    more, the step is cut there: it keeps what leads to the gradients and adds them, times its items,
    into accumulators (or starts them, in micro-batch 0). The rest moves into an update, which
    divides the accumulators by the items of the whole group. Steps for the short last batch share
    accumulators and update.

    ```mlir
    // =>
    graph.step @train(%x, %s, %w state @w, %acc state @accumulate.w)
        -> (metric "loss", state @accumulate.w) micro
    graph.step @train.update(%s, %w state @w, %acc state @accumulate.w) -> (state @w) update
    ```
  }];
  let dependentDialects = ["::dl::graph::GraphDialect"];
}

def NarrowToSlices : Pass<"narrow-to-slices", "::dl::graph::StepOp"> {
  let summary = "Of what slices alone read, the rest is not computed";
  let description = [{
    In training, before there are gradients, so that these are narrow, too: the first token of a
    classifier's last block, as far as no dropout stands behind it, the lowest frequencies of a transform. An op that only slices read, of
    a part of its result, is computed for that part, of parts of its operands; the hull of
    several parts, or each by itself where they are less than half of it. Not through what sums
    over a dim that is cut, nor convolutions and draws.

    ```mlir
    %y = graph.matmul %x, %w {spec = "btc,oc->bto"}
    %f = graph.slice %y [:, 0:1, :]
    // =>
    %s = graph.slice %x [:, 0:1, :]
    %f = graph.matmul %s, %w {spec = "btc,oc->bto"}
    ```
  }];
}

def SkipZeros : Pass<"skip-zeros", "::dl::graph::StepOp"> {
  let summary = "Products do not multiply the zeros around parts";
  let description = [{
    In training, before there are gradients. Of a tensor that is zero but for parts, `graph.pad` or parts
    that were assigned, it is known which they are, through what keeps zeros: negation, factors,
    sums of such tensors, other shapes, products, as if what they are multiplied by were finite. A product of it is the sum of the parts' products,
    where these are at most three quarters of it.

    ```mlir
    %z = graph.pad %x {low = [0, 0], high = [0, 20], ...} : tensor<8x12xf32> -> tensor<8x32xf32>
    %y = graph.matmul %z, %t {spec = "bk,kj->bj"}
    // =>
    %s = graph.slice %t [0:12, :]
    %y = graph.matmul %x, %s {spec = "bk,kj->bj"}
    ```
  }];
}

def ExpandGradients : Pass<"expand-gradients", "::dl::graph::StepOp"> {
  let summary = "Writes out graph.gradients, in reverse over SSA";
  let description = [{
    Asks DifferentiableOpInterface of each op between the parameters and the loss.
    What a value that is used many times gets (by an unrolled loop) is added by few ops: parts
    beside each other are one graph.cat, products and sums that differ in their operands alone one.
    A parameter that the loss does not depend on is an error. What is made for gradients within the step,
    which may be differentiated again, reads copies that have no stationary detach. Afterwards
    there is no graph.gradients, no graph.custom_gradient and no graph.detach, nor the graph.copy that keeps a value whose gradient is asked for from being folded away.

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
    has a LoopNest, or is an alias.

    ```mlir
    %y = graph.log_softmax %x {dim = 1}
    // =>
    %m = graph.amax %x ...                       // x - m - log(sum(exp(x - m)))
    ```
  }];
}

def PlaceSettings : Pass<"place-settings", "::mlir::ModuleOp"> {
  let summary = "Says where steps read their settings";
  let description = [{
    Settings lie behind the step's scalars, f64, in the order in which the steps
    name them; graph.settings is their table. Afterwards there is no
    graph.setting.

    ```mlir
    graph.step @train(%s: tensor<8xi64> scalars)
      %lr = graph.setting {setting = #graph.setting<"optim.lr" = 0.1>}
    // =>
    graph.settings [#graph.setting<"optim.lr" = 0.1>]
    graph.step @train(%s: tensor<9xi64> scalars)
      %lr = graph.read_setting %s {position = 8}
    ```
  }];
}

def VerifyBackward : Pass<"verify-backward", "::dl::graph::StepOp"> {
  let summary = "Proves that a step is ready for layout and fusion";
  let description = [{
    Every op has a LoopNest, or is an alias (graph.reshape, graph.gradient) or the return.

    ```mlir
    %y = graph.softmax %x {dim = 1}
    // error: 'graph.softmax' may not remain after the backward phase
    ```
  }];
}

def OpenBorder : Pass<"open-border", "::dl::graph::StepOp"> {
  let summary = "Lets kernels reach across the border of micro-batch and update";
  let description = [{
    Without graph.gradient an update may be computed behind the product that makes its gradient.
    That is right where nothing comes between: in a step of one micro-batch whose gradients no
    communication adds up and no norm over all of them scales. A kernel that needs all gradients
    waits for them by what it reads; a communication is an op of its own, across which nothing fuses.

    ```mlir
    %0 = graph.matmul %dy, %x {spec = "km,kn->mn"}
    %g = graph.gradient %0 {of = "w"}
    %w1 = graph.sub %w, %g
    // =>
    %0 = graph.matmul %dy, %x {spec = "km,kn->mn"}
    %w1 = graph.sub %w, %0
    ```
  }];
}

#endif
