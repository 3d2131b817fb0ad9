#ifndef DL_GRAPH_OPS_KERNEL
#define DL_GRAPH_OPS_KERNEL

include "dialects/graph/Graph.td"

def Graph_KernelOp : Graph_Op<"kernel", [IsolatedFromAbove, SingleBlock]> {
  let summary = "Ops that run as one kernel.";
  let description = [{
    The block's arguments are the operands; graph.yield gives the results.
    `inplace` holds for each result the operand whose buffer it may share, or -1.
    `constants` are the numbers that only this launch has, see LaunchConstants.h:
    kernels that differ in nothing else have one name and one code. Where ranks
    run it, `constant_steps` say of each constant how it grows with the rank's
    coordinate along each axis of the mesh.
    `bf16_operands` are those that are f32 in memory, have numbers of bf16 alone,
    and are read by a product.
  }];
  let arguments = (ins Variadic<Graph_Tensor>:$inputs, StrAttr:$name,
                       OptionalAttr<StrAttr>:$strategy, OptionalAttr<I64Attr>:$tiles,
                       OptionalAttr<I64Attr>:$scratch,
                       OptionalAttr<ArrayAttr>:$operand_layouts,
                       OptionalAttr<ArrayAttr>:$result_layouts,
                       OptionalAttr<DenseI64ArrayAttr>:$inplace,
                       OptionalAttr<DenseI64ArrayAttr>:$bf16_operands,
                       OptionalAttr<DenseI64ArrayAttr>:$constants,
                       OptionalAttr<DenseI64ArrayAttr>:$constant_steps);
  let results = (outs Variadic<Graph_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat =
      "$inputs attr-dict `:` functional-type($inputs, $outputs) $body";
  let hasRegionVerifier = 1;
}

def Graph_YieldOp : Graph_Op<"yield", [Terminator, HasParent<"KernelOp">]> {
  let summary = "The results of a kernel.";
  let arguments = (ins Variadic<Graph_Tensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif
