#ifndef DL_GRAPH_OPS_OPTIMIZER
#define DL_GRAPH_OPS_OPTIMIZER

include "dialects/graph/Graph.td"

def Graph_SgdOp : Graph_InferredOp<"sgd"> {
  let summary = "One update of stochastic gradient descent, as torch.optim.SGD.";
  let description = [{
    Takes and gives a momentum buffer exactly where `momentum` is not zero. The
    first buffer is the gradient itself, whatever `dampening` says.
  }];
  let arguments = (ins Graph_Tensor:$param, Graph_Tensor:$grad,
                       Optional<Graph_Tensor>:$momentum_buffer, F64Attr:$lr,
                       DefaultValuedAttr<F64Attr, "0.0">:$momentum,
                       DefaultValuedAttr<F64Attr, "0.0">:$dampening,
                       DefaultValuedAttr<F64Attr, "0.0">:$weight_decay,
                       DefaultValuedAttr<BoolAttr, "false">:$nesterov);
  let results = (outs Graph_Tensor:$new_param, Optional<Graph_Tensor>:$new_buffer);
}

#endif
