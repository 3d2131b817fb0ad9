#ifndef DL_GRAPH_OPS_SOFTMAX
#define DL_GRAPH_OPS_SOFTMAX

include "dialects/graph/Graph.td"

class Graph_Softmax<string mnemonic> : Graph_InferredOp<mnemonic,
    !listconcat(Graph_Composite, Graph_OwnRule)> {
  let arguments = (ins Graph_Tensor:$x, I64Attr:$dim);
  let results = (outs Graph_Tensor:$result);
}

def Graph_SoftmaxOp : Graph_Softmax<"softmax"> {
  let summary = "exp(x) over its sum along `dim`.";
}

def Graph_LogSoftmaxOp : Graph_Softmax<"log_softmax"> {
  let summary = "The logarithm of softmax.";
}

#endif
