#ifndef DL_GRAPH_OPS_POOLING
#define DL_GRAPH_OPS_POOLING

include "dialects/graph/Graph.td"

def Graph_MaxPool2dOp : Graph_InferredOp<"max_pool2d", Graph_SmoothNest> {
  let summary = "The maximum of each window of [B,C,H,W] and where it is.";
  let description = [{
    `indices` is the row-major position within the window, ui8, or i32 where a
    window has more than 256 elements. Padding is never a maximum.
  }];
  let arguments = (ins Graph_Tensor:$x, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$stride,
                       DenseI64ArrayAttr:$padding);
  let results = (outs Graph_Tensor:$values, Graph_Tensor:$indices);
}

def Graph_MaxPool2dGradOp : Graph_InferredOp<"max_pool2d_grad",
    !listconcat(Graph_SmoothNest, Graph_LocalAttributes)> {
  let summary = "Adds each window's gradient to the element that was its maximum.";
  let arguments = (ins Graph_Tensor:$dy, Graph_Tensor:$indices, DenseI64ArrayAttr:$kernel,
                       DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$padding,
                       DenseI64ArrayAttr:$input_shape);
  let results = (outs Graph_Tensor:$result);
}

// Windows that are not whole at the far end count only with `ceil_mode`; what is
// padding or behind the input adds nothing. Averages divide afterwards.

def Graph_SumPool2dOp : Graph_InferredOp<"sum_pool2d",
    !listconcat(Graph_SmoothNest, Graph_LocalAttributes)> {
  let summary = "The sum of each window of [B,C,H,W].";
  let arguments = (ins Graph_Tensor:$x, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$stride,
                       DenseI64ArrayAttr:$padding, DefaultValuedAttr<BoolAttr, "false">:$ceil_mode);
  let results = (outs Graph_Tensor:$result);
}

def Graph_SumPool2dGradOp : Graph_InferredOp<"sum_pool2d_grad",
    !listconcat(Graph_SmoothNest, Graph_LocalAttributes)> {
  let summary = "Adds each window's gradient to all of its elements.";
  let arguments = (ins Graph_Tensor:$dy, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$stride,
                       DenseI64ArrayAttr:$padding, DenseI64ArrayAttr:$input_shape,
                       DefaultValuedAttr<BoolAttr, "false">:$ceil_mode);
  let results = (outs Graph_Tensor:$result);
}

#endif
