#ifndef DL_LAYOUT_PASSES
#define DL_LAYOUT_PASSES

include "mlir/Pass/PassBase.td"

def ComposeViews : Pass<"compose-views", "::dl::graph::StepOp"> {
  let summary = "Takes parts of views from the whole";
  let description = [{
    A time of one of several chunks is a part of a part, and that of a transposed sequence a part of a transposed
    value. Taken from the whole, parts differ in their offsets alone, and one kernel takes all of them. (Before the backward
    that would hide which parts make up a whole.) A part that is stored in any case, since it is seen in another shape,
    is read itself.

    ```mlir
    %t = graph.transpose %x {permutation = array<i64: 1, 0, 2>}
    %p = graph.slice %t ...
    // =>
    %s = graph.slice %x ...
    %p = graph.transpose %s {permutation = array<i64: 1, 0, 2>}
    ```
  }];
  let dependentDialects = ["::dl::graph::GraphDialect"];
}

def AssignLayouts : Pass<"assign-layouts", "::mlir::ModuleOp"> {
  let summary = "Chooses the storage order of states over all steps that use them";
  let description = [{
    Vectors of a contraction run along the innermost dim of its result. A parameter that has that
    dim is best stored with it innermost: then no step ever transposes or packs it. Where all uses
    agree, the parameter, its optimizer slots and its accumulator are stored in that order; logical
    shapes, checkpoints and messages do not change. A parameter that another contraction reads along
    its old innermost dim (the input gradient of a Linear) keeps its order, and so do all where
    ranks of a mesh exchange parts of them, row by row.

    Where at least 8 products of few rows each read a matrix across its order, as the times of a recurrent
    layer do, they read a copy in theirs, which is made once.

    ```mlir
    graph.state @"fc1.weight" {type = tensor<128x784xf32>, role = "parameter"}
    ... graph.matmul %x, %fc1.weight {spec = "mk,nk->mn"} // the only contraction that reads it
    // =>
    graph.state @"fc1.weight" {..., layout = array<i64: 1, 0>} // stored as [784][128]
    ```
  }];
  // Payloads are built to be looked at.
  let dependentDialects = ["::dl::graph::GraphDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
}

def PlanesOutermost : Pass<"planes-outermost", "::mlir::ModuleOp"> {
  let summary = "Stores parameters that are read plane by plane so";
  let description = [{
    Real and imaginary parts of complex weights lie next to each other, as PyTorch has them, and products read
    the ones apart from the others. Where all that reads a parameter takes one element of its last, short dim, that dim
    is stored outermost: each part is a plane then, whose elements are neighbours, as are those of
    the gradients that an update reads. Logical shapes, checkpoints and messages do not change.

    ```mlir
    graph.state @weights {type = tensor<32x32x12x12x2xf32>, role = "parameter"}
    ... graph.slice %weights {... sizes = array<i64: 32, 32, 12, 12, 1>}
    // =>
    graph.state @weights {..., layout = array<i64: 4, 0, 1, 2, 3>}
    ```
  }];
  let dependentDialects = ["::dl::graph::GraphDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
}

def BatchesOutermost : Pass<"batches-outermost", "::mlir::ModuleOp"> {
  let summary = "Has products read batches from copies in which they are outermost";
  let description = [{
    A product of many matrices whose elements lie between each other, "bikc,bjkc->bijc" of triangles or
    channels, has no rows in memory that vectors or tiles could run along. Where it computes long enough its operands are copied
    with the batches in front, once for all products that want them so, and its result is
    copied back.

    ```mlir
    %y = graph.matmul %a, %b {spec = "bikc,bjkc->bijc"}
    // =>
    %p = graph.copy %a {graph.orders = [array<i64: 0, 3, 1, 2>]}
    %q = graph.copy %b {graph.orders = [array<i64: 0, 3, 1, 2>]}
    %r = graph.matmul %p, %q {graph.orders = [array<i64: 0, 3, 1, 2>], spec = "bikc,bjkc->bijc"}
    %y = graph.copy %r
    ```
  }];
  let dependentDialects = ["::dl::graph::GraphDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
}

def BatchInnermost : Pass<"batch-innermost", "::mlir::ModuleOp"> {
  let summary = "Stores the images of a batch next to each other around convolutions";
  let description = [{
    With 16 images or more, vectors of a convolution run best along the images: every load is whole
    and aligned, whatever the width and the stride of the image, windows need no shuffles, and the
    zeros around an image are left out instead of multiplied. So [B,C,H,W] is stored as C,H,W,B from
    the first convolution to the last, through all that works image by image in between; a matrix
    product that follows reads its rows where they are. Inputs are copied to that order once.
    Where products of tokens, [B,T,K] times a matrix, are most of the work on values that get one order
    together, as in a transformer on patches, these stay rows, and a convolution beside them is copied.

    ```mlir
    %y = graph.conv2d %x, %w          // tensor<64x10x24x24xf32>
    // =>
    %y = graph.conv2d %x, %w {graph.orders = [array<i64: 1, 2, 3, 0>]}
    ```
    The order is that of cuda-convnet (A. Krizhevsky, 2012).
  }];
  let dependentDialects = ["::dl::graph::GraphDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
}

def ChannelsInnermost : Pass<"channels-innermost", "::mlir::ModuleOp"> {
  let summary = "Stores the channels of images next to each other around convolutions";
  let description = [{
    A tile of a convolution on a GPU takes, for each tap of the filter, neighbouring channels of one
    pixel: 16 bytes at once, whatever the padding and the stride, for one division of an index and
    one comparison. So [B,C,H,W] is stored as B,H,W,C between convolutions, through all that works
    channel by channel, and filters as O,kH,kW,I; logical shapes, checkpoints and messages do not
    change. With less than 16 channels, or no multiple of 4, rows stay as they are, and so do values
    that are also seen in another shape, that ranks exchange, or that are a step's own operands:
    nothing is copied, and a convolution reads such a value number by number.

    On a CPU filters become panels of vectors and pixels the rows of a product, where batch-innermost leaves
    the images alone (`few-images`): steps whose batches have fewer than 16 of them. A step with a filter
    for each channel stays as it is, for there vectors run along pixels; so do convolutions of
    one dim, or of three, whose filters are no rows of channels. All steps follow those that train. (On a mesh filters stay row by row and are packed by gathers.)

    ```mlir
    %y = graph.conv2d %x, %w          // tensor<64x32x24x24xf32>
    // =>
    %y = graph.conv2d %x, %w {graph.orders = [array<i64: 0, 2, 3, 1>]}
    ```
    The order is NHWC, which cuDNN wants for tensor cores, too.
  }];
  let options = [Option<"fewImages", "few-images", "bool", "false",
                        "For CPUs: only around convolutions of fewer images than batch-innermost takes">];
  let dependentDialects = ["::dl::graph::GraphDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
}

#endif
