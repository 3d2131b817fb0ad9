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

def Graph_LinearRecurrenceOp
    : Graph_InferredOp<"linear_recurrence", Graph_SmoothNest> {
  let summary = "h[t] = a[t] * h[t-1] + b[t] along `dim`.";
  let description = [{
    Before the first element, with `reverse` behind the last one, h is zero.
  }];
  let arguments = (ins Graph_Tensor:$a, Graph_Tensor:$b, I64Attr:$dim,
                       DefaultValuedAttr<BoolAttr, "false">:$reverse);
  let results = (outs Graph_Tensor:$result);
}

def Graph_ArgcummaxOp : Graph_InferredOp<"argcummax", Graph_Nest> {
  let summary = "The positions, i64, of the greatest of the first 1, 2, 3, ... elements along `dim`.";
  let description = [{
    Of equal elements the last one's. A NaN is greater than all numbers.
  }];
  let arguments = (ins Graph_Tensor:$x, I64Attr:$dim);
  let results = (outs Graph_Tensor:$result);
}

def Graph_ArgsortOp : Graph_InferredOp<"argsort", Graph_Nest> {
  let summary = "The positions, i64, that put x in order along `dim`.";
  let description = [{
    Stable: equal elements stay in their order. A NaN is greater than all numbers.
    Only the first `count` ones of that order, if it is not -1.
  }];
  let arguments = (ins Graph_Tensor:$x, I64Attr:$dim,
                       DefaultValuedAttr<BoolAttr, "false">:$descending,
                       DefaultValuedAttr<I64Attr, "-1">:$count);
  let results = (outs Graph_Tensor:$result);
}

#endif
