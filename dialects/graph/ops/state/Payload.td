#ifndef DL_GRAPH_OPS_PAYLOAD
#define DL_GRAPH_OPS_PAYLOAD

include "dialects/graph/Graph.td"

def Graph_ScalarOp : Graph_Op<"scalar"> {
  let summary = "Payload: one of the step's scalars.";
  let description = [{
    Stands in the body of a loop nest for element `index` of the op's `scalars`
    operand: 0 seed, 1 step, 2 micro-batch, 3 items of the group, 4 epoch.
  }];
  let arguments = (ins I64Attr:$index);
  let results = (outs I64:$value);
  let assemblyFormat = "attr-dict";
}

def Graph_PhiloxOp : Graph_Op<"philox"> {
  let summary = "Payload: two random words of one element.";
  let description = [{
    Words 0 and 1 of Philox4x32-10 with the counter (lo(index), hi(index),
    lo(step), lo(micro)) and the key (lo(seed) ^ lo(key), hi(seed) ^ hi(key)).
  }];
  let arguments = (ins I64:$index, I64:$seed, I64:$step, I64:$micro, I64Attr:$key);
  let results = (outs I32:$word0, I32:$word1);
  let assemblyFormat = "operands attr-dict";
}

#endif
