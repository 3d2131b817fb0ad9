#ifndef DL_GRAPH_OPS_RANDOM
#define DL_GRAPH_OPS_RANDOM

include "dialects/graph/Graph.td"

// The operand `scalars` is the step's tensor<8xi64>. Bodies do not use its
// element but graph.scalar, so that a kernel reads it once.
//
// Elements are counted in the whole tensor. A part of it has the whole `extents`
// and lies at `offset`; without them a tensor is the whole one. The key and the
// offset are constants of the launch.

defvar Graph_Draw = !listconcat(Graph_Nest, Graph_OwnSharding, Graph_Constants);
defvar Graph_SmoothDraw = !listconcat(Graph_SmoothNest, Graph_OwnSharding, Graph_Constants);

def Graph_UniformOp : Graph_InferredOp<"uniform", Graph_Draw> {
  let summary = "Uniform in [0, 1), multiples of 2^-24.";
  let arguments = (ins Graph_Tensor:$scalars, I64Attr:$key, TypeAttr:$type,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$offset,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$extents);
  let results = (outs Graph_Tensor:$result);
}

def Graph_NormalOp : Graph_InferredOp<"normal", Graph_Draw> {
  let summary = "Standard normal, by Box and Muller.";
  let arguments = (ins Graph_Tensor:$scalars, I64Attr:$key, TypeAttr:$type,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$offset,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$extents);
  let results = (outs Graph_Tensor:$result);
}

def Graph_DropoutOp : Graph_InferredOp<"dropout",
    !listconcat(Graph_SmoothDraw, Graph_Decomposed)> {
  let summary = "Zeroes elements with probability `p`, scales the rest by 1/(1-p).";
  let description = [{
    With `channelwise` one draw decides for all of [n, c, ...]. The mask is a
    function of the scalars, the key and the index, so that the gradient draws it again.
    Decomposed with `channelwise`: a draw for each channel, not for each element.
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_Tensor:$scalars, F64Attr:$p, I64Attr:$key,
                       DefaultValuedAttr<BoolAttr, "false">:$channelwise,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$offset,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$extents);
  let results = (outs Graph_Tensor:$result);
}

#endif
