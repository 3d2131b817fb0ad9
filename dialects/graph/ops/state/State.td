#ifndef DL_GRAPH_OPS_STATE
#define DL_GRAPH_OPS_STATE

include "dialects/graph/Graph.td"

def Graph_StateOp : Op<GraphDialect, "state", [Symbol]> {
  let summary = "A tensor that lives from step to step.";
  let description = [{
    A graph.step takes its value as an argument `state @name` and returns the new
    one as a result `state @name`.

    `role` is "parameter", "slot" (of an optimizer), "buffer" or "accumulator";
    `of` names the parameter that a slot or an accumulator belongs to. `init` is
    {kind = "zero"|"constant"|"uniform"|"normal", a, b : f64, key : i64}.
    `layout` is the order of the logical dims in memory, outermost first.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttr:$type, StrAttr:$role,
                       OptionalAttr<StrAttr>:$of, OptionalAttr<StrArrayAttr>:$aliases,
                       OptionalAttr<DictionaryAttr>:$init,
                       OptionalAttr<DenseI64ArrayAttr>:$layout);
  let assemblyFormat = "$sym_name attr-dict";
  let hasVerifier = 1;
}

#endif
