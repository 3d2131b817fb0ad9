#ifndef DL_GRAPH_OPS_OPTIMIZER
#define DL_GRAPH_OPS_OPTIMIZER

include "dialects/graph/Graph.td"

/// Options are numbers, or settings, which each step reads: from these, what an
/// update needs is computed in f64 and rounded once, as numbers are when code is
/// made. A number of 0 is none: no weight decay is another update. What the step
/// computes (a rate that follows a schedule) is an operand behind the slots.
///
/// `maximize` turns the gradient's sign. A step of the program may update a
/// parameter `calls` times; `call` counts them from 0, and the number of the step
/// tells the rest, unless `count` gives the number of this update.
class Graph_Optimizer<string mnemonic>
    : Graph_InferredOp<mnemonic, [DeclareOpInterfaceMethods<OptimizerOpInterface>]>;

def Graph_SgdOp : Graph_Optimizer<"sgd"> {
  let summary = "One update of stochastic gradient descent, as torch.optim.SGD.";
  let description = [{
    Takes and gives a momentum buffer exactly where `momentum` is not zero. The
    first buffer is the gradient itself, whatever `dampening` says.
  }];
  let arguments = (ins Graph_Tensor:$param, Graph_Tensor:$grad,
                       Variadic<Graph_Tensor>:$others, Graph_Number:$lr,
                       DefaultValuedAttr<Graph_Number, "0.0">:$momentum,
                       DefaultValuedAttr<Graph_Number, "0.0">:$dampening,
                       DefaultValuedAttr<Graph_Number, "0.0">:$weight_decay,
                       DefaultValuedAttr<BoolAttr, "false">:$nesterov,
                       DefaultValuedAttr<BoolAttr, "false">:$maximize,
                       DefaultValuedAttr<Graph_Number, "0.0">:$count,
                       DefaultValuedAttr<I64Attr, "1">:$calls,
                       DefaultValuedAttr<I64Attr, "0">:$call);
  let results = (outs Graph_Tensor:$new_param, Optional<Graph_Tensor>:$new_buffer);
  let extraClassDeclaration = [{
    /// Null where there is none.
    ::mlir::Value getMomentumBuffer();
  }];
}

def Graph_AdamOp : Graph_Optimizer<"adam"> {
  let summary = "One update of Adam, as torch.optim.Adam and AdamW.";
  let description = [{
    `weight_decay` is added to the gradient (Adam), or, where `decoupled`, shrinks
    the parameter first (AdamW). With a `max_exp_avg_sq` it is AMSGrad. The
    number of updates comes from `count` or the step's scalars; what depends on it is
    computed in f64, for all elements once.
  }];
  let arguments = (ins Graph_Tensor:$param, Graph_Tensor:$grad,
                       Graph_Tensor:$exp_avg, Graph_Tensor:$exp_avg_sq,
                       Variadic<Graph_Tensor>:$others, Graph_Number:$lr,
                       DefaultValuedAttr<Graph_Number, "0.9">:$beta1,
                       DefaultValuedAttr<Graph_Number, "0.999">:$beta2,
                       DefaultValuedAttr<Graph_Number, "1e-8">:$eps,
                       DefaultValuedAttr<Graph_Number, "0.0">:$weight_decay,
                       DefaultValuedAttr<BoolAttr, "false">:$decoupled,
                       DefaultValuedAttr<BoolAttr, "false">:$maximize,
                       DefaultValuedAttr<Graph_Number, "0.0">:$count,
                       DefaultValuedAttr<I64Attr, "1">:$calls,
                       DefaultValuedAttr<I64Attr, "0">:$call);
  let results = (outs Graph_Tensor:$new_param, Graph_Tensor:$new_exp_avg,
                      Graph_Tensor:$new_exp_avg_sq,
                      Optional<Graph_Tensor>:$new_max_exp_avg_sq);
  let extraClassDeclaration = [{
    /// Null where there is none.
    ::mlir::Value getMaxExpAvgSq();
  }];
}

#endif
