#ifndef DL_GRAPH_OPS_REDUCE
#define DL_GRAPH_OPS_REDUCE

include "dialects/graph/Graph.td"

class Graph_DimsReduction<string mnemonic, list<Trait> traits = []>
    : Graph_InferredOp<mnemonic, !listconcat(Graph_SmoothNest, traits)> {
  let arguments = (ins Graph_Tensor:$x, DenseI64ArrayAttr:$dims,
                       DefaultValuedAttr<BoolAttr, "false">:$keepdim);
  let results = (outs Graph_Tensor:$result);
}

def Graph_SumOp : Graph_DimsReduction<"sum", Graph_JointSum> {
  let summary = "The sum over `dims` (sorted, from 0).";
}

def Graph_AmaxOp : Graph_DimsReduction<"amax"> {
  let summary = "The maximum over `dims`; equal maxima share the gradient.";
}

def Graph_MaxOp : Graph_InferredOp<"max", Graph_SmoothNest> {
  let summary = "The maximum along `dim` and where it is first; the gradient goes there.";
  let arguments = (ins Graph_Tensor:$x, I64Attr:$dim,
                       DefaultValuedAttr<BoolAttr, "false">:$keepdim);
  let results = (outs Graph_Tensor:$values, Graph_Tensor:$indices);
}

def Graph_ArgmaxOp : Graph_InferredOp<"argmax", Graph_Nest> {
  let summary = "Where the maximum along `dim` is first.";
  let arguments = (ins Graph_Tensor:$x, I64Attr:$dim,
                       DefaultValuedAttr<BoolAttr, "false">:$keepdim);
  let results = (outs Graph_Tensor:$result);
}

#endif
