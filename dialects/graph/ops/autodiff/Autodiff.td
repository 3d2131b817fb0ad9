#ifndef DL_GRAPH_OPS_AUTODIFF
#define DL_GRAPH_OPS_AUTODIFF

include "dialects/graph/Graph.td"

def Graph_GradientsOp : Graph_InferredOp<"gradients"> {
  let summary = "The gradients of a loss; expand-gradients writes them out.";
  let description = [{
    `within_step`: they are part of what the step computes, and not what
    optimizers take.
  }];
  let arguments = (ins Graph_Tensor:$loss, Variadic<Graph_Tensor>:$params,
                       DefaultValuedAttr<BoolAttr, "false">:$within_step);
  let results = (outs Variadic<Graph_Tensor>:$grads);
}

def Graph_GradientOp : Graph_InferredOp<"gradient",
    !listconcat(Graph_Reference, Graph_Gradient, Graph_OwnRule, Graph_Alias)> {
  let summary = "A gradient at the border of micro-batch and update.";
  let description = [{
    The same values. What does not depend on such an op belongs to the micro-batch,
    the rest to the update; `of` is the parameter, or empty. Kernels end here until
    open-border: a reduction over devices may come between.
  }];
  let arguments = (ins Graph_Tensor:$x, StrAttr:$of);
  let results = (outs Graph_Tensor:$result);
}

def Graph_DetachOp : Graph_InferredOp<"detach",
    !listconcat(Graph_Reference, Graph_OwnRule)> {
  let summary = "The same values; no gradient flows back.";
  let description = [{
    `stationary`: a constant to the gradient of what it is a part of, and none in
    what that gradient is made of: gradients of gradients take the op as if it
    were not there.
  }];
  let arguments = (ins Graph_Tensor:$x, DefaultValuedAttr<BoolAttr, "false">:$stationary);
  let results = (outs Graph_Tensor:$result);
}

#endif
