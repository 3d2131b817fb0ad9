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

def Graph_OutputGradientOp : Graph_InferredOp<"output_gradient"> {
  let summary = "Stands for the gradient of an output of a graph.custom_gradient.";
  let arguments = (ins Graph_Tensor:$output);
  let results = (outs Graph_Tensor:$result);
}

def Graph_CustomGradientOp : Graph_InferredOp<"custom_gradient", Graph_Gradient> {
  let summary = "Values whose gradient the program says itself.";
  let description = [{
    The operands are `num_outputs` outputs, their graph.output_gradient, inputs, and the gradients of these.
    The results are the outputs; what flows back to the inputs is computed as their gradients are of what
    stands for the gradients of the outputs. Ops in between that are for gradients alone go away with
    the op.

    ```mlir
    %y = graph.sign %x
    %dy = graph.output_gradient %y
    %dx = graph.mul %dy, %mask
    %r = graph.custom_gradient %y, %dy, %x, %dx {num_outputs = 1}  // straight through, where the mask is 1
    ```
  }];
  let arguments = (ins Variadic<Graph_Tensor>:$values, I64Attr:$num_outputs);
  let results = (outs Variadic<Graph_Tensor>:$results);
  let extraClassDeclaration = [{
    ::mlir::OperandRange getOutputs();
    ::mlir::OperandRange getOutputGradients();
    ::mlir::OperandRange getInputs();
    ::mlir::OperandRange getInputGradients();
  }];
}

#endif
