#ifndef DL_GRAPH_OPS_MATMUL
#define DL_GRAPH_OPS_MATMUL

include "dialects/graph/Graph.td"

def Graph_MatmulOp : Graph_InferredOp<"matmul", Graph_SmoothNest> {
  let summary = "[M,K] x [K,N], or the same for each of a leading batch dim.";
  let description = "With `transpose_a` the first operand is [K,M], with `transpose_b` the second is [N,K].";
  let arguments = (ins Graph_Tensor:$a, Graph_Tensor:$b,
                       DefaultValuedAttr<BoolAttr, "false">:$transpose_a,
                       DefaultValuedAttr<BoolAttr, "false">:$transpose_b);
  let results = (outs Graph_Tensor:$result);
}

def Graph_LinearOp : Graph_InferredOp<"linear",
    !listconcat(Graph_Composite, Graph_OwnRule)> {
  let summary = "[...,K] times the transpose of a weight [N,K].";
  let arguments = (ins Graph_Tensor:$x, Graph_Tensor:$weight);
  let results = (outs Graph_Tensor:$result);
}

#endif
