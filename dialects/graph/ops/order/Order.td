#ifndef DL_GRAPH_OPS_ORDER
#define DL_GRAPH_OPS_ORDER

include "dialects/graph/Graph.td"

def Graph_CumsumOp : Graph_InferredOp<"cumsum", Graph_SmoothNest> {
  let summary = "The sums of the first 1, 2, 3, ... elements along `dim`.";
  let description = "With `reverse`, of the last ones, counted from the end.";
  let arguments = (ins Graph_Tensor:$x, I64Attr:$dim,
                       DefaultValuedAttr<BoolAttr, "false">:$reverse);
  let results = (outs Graph_Tensor:$result);
}

def Graph_ArgsortOp : Graph_InferredOp<"argsort", Graph_Nest> {
  let summary = "The positions, i64, that put x in order along `dim`.";
  let description = [{
    Stable: equal elements stay in their order. A NaN is greater than all numbers.
  }];
  let arguments = (ins Graph_Tensor:$x, I64Attr:$dim,
                       DefaultValuedAttr<BoolAttr, "false">:$descending);
  let results = (outs Graph_Tensor:$result);
}

#endif
