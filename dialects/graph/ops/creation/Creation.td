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
    !listconcat(Graph_Nest, Graph_OwnSharding, Graph_Constants)> {
  let summary = "Every element is its index along `dim`, counted from `start`.";
  let description = "`start` is one number, a constant of the launch; without it, 0.";
  let arguments = (ins I64Attr:$dim, TypeAttr:$type,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$start);
  let results = (outs Graph_Tensor:$result);
}

#endif
