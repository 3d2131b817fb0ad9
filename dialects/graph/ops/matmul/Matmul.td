#ifndef DL_GRAPH_OPS_MATMUL
#define DL_GRAPH_OPS_MATMUL

include "dialects/graph/Graph.td"

def Graph_MatmulOp : Graph_InferredOp<"matmul", !listconcat(Graph_SmoothNest, Graph_JointSum,
                                                                  Graph_SplitSum, Graph_Transpose)> {
  let summary = "A contraction: products of the elements of two tensors, summed.";
  let description = [{
    `spec` names the dims of both operands and of the result by letters, in any
    order. A letter that all three have is a batch dim, one of an operand and
    the result a row or a column, one of both operands is summed, and one that
    only one of the three has is a dim of one element.

        "mk,kn->mn"        matrices             "btc,oc->bto"      a linear layer
        "bmk,bkn->bmn"     a batch of them      "bthd,bshd->bhts"  scores of attention

    Sums run in the order in which the first operand has the dims. Gradients are
    contractions again. `full_precision`: see FullPrecision.h.
  }];
  let arguments = (ins Graph_Tensor:$a, Graph_Tensor:$b, StrAttr:$spec,
                       DefaultValuedAttr<BoolAttr, "false">:$full_precision);
  let results = (outs Graph_Tensor:$result);
}

#endif
