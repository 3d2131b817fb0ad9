#ifndef DL_GRAPH_OPS_LOSS
#define DL_GRAPH_OPS_LOSS

include "dialects/graph/Graph.td"

def Graph_NllLossOp : Graph_InferredOp<"nll_loss",
    !listconcat(Graph_Composite, Graph_OwnRule)> {
  let summary = "Minus the log-probability [N,C,...] of each target [N,...].";
  let description = [{
    Targets equal to `ignore_index` do not count; `reduction` is "mean" (over the
    targets that count), "sum" or "none".
  }];
  let arguments = (ins Graph_Tensor:$logprob, Graph_Tensor:$target,
                       DefaultValuedAttr<I64Attr, "-100">:$ignore_index,
                       DefaultValuedAttr<StrAttr, "\"mean\"">:$reduction);
  let results = (outs Graph_Tensor:$result);
}

def Graph_IndexCheckOp : Graph_InferredOp<"index_check",
    !listconcat(Graph_Nest, Graph_OwnSharding, Graph_Constants)> {
  let summary = "Not 0 if any index is outside of [0, bound) and is not `ignore_index`.";
  let description = [{
    1 then, or, where `start` is given (one number, a constant of the launch): 2^31 - 1
    minus `start` and the first such index's place along dim 0. The runtime's messages
    name that item.
  }];
  let arguments = (ins Graph_Tensor:$target, I64Attr:$bound,
                       DefaultValuedAttr<I64Attr, "-100">:$ignore_index,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$start);
  let results = (outs Graph_Tensor:$result);
  let hasCanonicalizer = 1;
}

#endif
