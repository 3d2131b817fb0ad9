#ifndef DL_GRAPH_OPS_PAYLOAD
#define DL_GRAPH_OPS_PAYLOAD

include "dialects/graph/Graph.td"

def Graph_ScalarOp : Graph_Op<"scalar"> {
  let summary = "Payload: one of the step's scalars.";
  let description = [{
    Stands in the body of a loop nest for an element of the op's `scalars` operand.
  }];
  let arguments = (ins EnumProp<Graph_StepScalar>:$which);
  let results = (outs I64:$value);
  let assemblyFormat = "$which attr-dict";
}

def Graph_LaunchConstantOp : Graph_Op<"launch_constant"> {
  let summary = "Payload: a constant of the launch.";
  let description = [{ A number of the op that only says which or where: see LaunchConstants.h. }];
  let arguments = (ins I64Attr:$number);
  let results = (outs I64:$value);
  let assemblyFormat = "$number attr-dict";
}

def Graph_PhiloxOp : Graph_Op<"philox"> {
  let summary = "Payload: the random words of one element.";
  let description = [{
    Philox4x32-10 with the counters (lo(n), hi(n), lo(step), lo(micro)) for n = 0, 1, ... and the
    key (lo(seed) ^ lo(key), hi(seed) ^ hi(key)) makes a sequence of words: word w is word w % 4
    of counter w / 4. Where an element draws one word, element `index` has word `index`; where it
    draws two, words 2 `index` and 2 `index` + 1. So four, or two, neighbours share a counter.
  }];
  let arguments = (ins I64:$index, I64:$seed, I64:$step, I64:$micro, I64:$key);
  let results = (outs Variadic<I32>:$words);
  let assemblyFormat = "operands attr-dict `:` type($words)";
  let hasVerifier = true;
}

#endif
