#ifndef DL_GRAPH_OPS_CREATION
#define DL_GRAPH_OPS_CREATION

include "dialects/graph/Graph.td"

def Graph_FullOp : Graph_InferredOp<"full", Graph_Nest> {
  let summary = "Every element is `value`, rounded to the element type.";
  let arguments = (ins F64Attr:$value, TypeAttr:$type);
  let results = (outs Graph_Tensor:$result);
}

def Graph_IotaOp : Graph_InferredOp<"iota", Graph_Nest> {
  let summary = "Every element is its index along `dim`, from 0.";
  let arguments = (ins I64Attr:$dim, TypeAttr:$type);
  let results = (outs Graph_Tensor:$result);
}

#endif
