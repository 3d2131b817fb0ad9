#ifndef DL_GRAPH_OPS_CONVOLUTION
#define DL_GRAPH_OPS_CONVOLUTION

include "dialects/graph/Graph.td"

// Loop nests exist for the simple forms that decompose leaves:
//   conv2d, conv2d_weight_grad     padding 0
//   conv2d_input_grad              stride 1, padding = dilation * (kernel - 1)
// in one group, or one channel a group (depthwise), or with the groups as a dim of
// their own: [B,G,C,H,W] and [G,O,C,KH,KW].

class Graph_Convolution<string mnemonic> : Graph_InferredOp<mnemonic,
    !listconcat(Graph_SmoothNest, Graph_Decomposed, Graph_OwnSharding)> {
  let results = (outs Graph_Tensor:$result);
}

defvar Graph_Dilation = DefaultValuedAttr<DenseI64ArrayAttr, "{1, 1}">;
defvar Graph_Groups = DefaultValuedAttr<I64Attr, "1">;

def Graph_Conv2dOp : Graph_Convolution<"conv2d"> {
  let summary = "Cross-correlation of [B,C,H,W] with [O,C/groups,KH,KW].";
  let arguments = (ins Graph_Tensor:$x, Graph_Tensor:$weight, DenseI64ArrayAttr:$stride,
                       DenseI64ArrayAttr:$padding, Graph_Dilation:$dilation,
                       Graph_Groups:$groups);
}

def Graph_Conv2dInputGradOp : Graph_Convolution<"conv2d_input_grad"> {
  let summary = "The gradient of conv2d's input, of shape `input_shape`.";
  let arguments = (ins Graph_Tensor:$dy, Graph_Tensor:$weight, DenseI64ArrayAttr:$stride,
                       DenseI64ArrayAttr:$padding, DenseI64ArrayAttr:$input_shape,
                       Graph_Dilation:$dilation, Graph_Groups:$groups);
}

def Graph_Conv2dWeightGradOp : Graph_Convolution<"conv2d_weight_grad"> {
  let summary = "The gradient of conv2d's weight; `kernel` is [KH,KW].";
  let arguments = (ins Graph_Tensor:$x, Graph_Tensor:$dy, DenseI64ArrayAttr:$stride,
                       DenseI64ArrayAttr:$padding, DenseI64ArrayAttr:$kernel,
                       Graph_Dilation:$dilation, Graph_Groups:$groups);
}

#endif
