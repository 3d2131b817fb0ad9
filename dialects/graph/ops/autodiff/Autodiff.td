#ifndef DL_GRAPH_OPS_AUTODIFF
#define DL_GRAPH_OPS_AUTODIFF

include "dialects/graph/Graph.td"

def Graph_GradientsOp : Graph_InferredOp<"gradients"> {
  let summary = "The gradients of a loss; expand-gradients writes them out.";
  let arguments = (ins Graph_Tensor:$loss, Variadic<Graph_Tensor>:$params);
  let results = (outs Variadic<Graph_Tensor>:$grads);
}

def Graph_DetachOp : Graph_InferredOp<"detach",
    !listconcat(Graph_Reference, Graph_OwnRule)> {
  let summary = "The same values; no gradient flows back.";
  let arguments = (ins Graph_Tensor:$x);
  let results = (outs Graph_Tensor:$result);
}

#endif
