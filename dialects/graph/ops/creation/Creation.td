#ifndef DL_GRAPH_OPS_CREATION
#define DL_GRAPH_OPS_CREATION

include "dialects/graph/Graph.td"

def Graph_FullOp : Graph_InferredOp<"full",
    !listconcat(Graph_Nest, Graph_LocalAttributes)> {
  let summary = "Every element is `value`, rounded to the element type.";
  let arguments = (ins F64Attr:$value, TypeAttr:$type);
  let results = (outs Graph_Tensor:$result);
}

def Graph_IotaOp : Graph_InferredOp<"iota",
    !listconcat(Graph_Nest, Graph_OwnSharding)> {
  let summary = "Every element is its index along `dim`, counted from `start`.";
  let arguments = (ins I64Attr:$dim, TypeAttr:$type,
                       DefaultValuedAttr<I64Attr, "0">:$start);
  let results = (outs Graph_Tensor:$result);
}

#endif
