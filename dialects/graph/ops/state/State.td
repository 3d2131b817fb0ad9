#ifndef DL_GRAPH_OPS_STATE
#define DL_GRAPH_OPS_STATE

include "dialects/graph/Graph.td"
include "dialects/graph/ops/communication/Communication.td"

def Graph_StateOp : Op<GraphDialect, "state", [Symbol]> {
  let summary = "A tensor that lives from step to step.";
  let description = [{
    A graph.step takes its value as an argument `state @name` and returns the new
    one as a result `state @name`.

    `role` is "parameter", "slot" (of an optimizer), "buffer", "accumulator", "cache"
    (of earlier positions, for the steps that generate) or "prepared" (what one of these reads of weights); `of` names the parameter that a slot or an accumulator belongs to. `init` is
    {kind, a, b : f64, key : i64}, and low, high : f64 where the kind has them; the
    kinds are those of the plan (runtime/plan/plan.fbs).
    `layout` is the order of the logical dims in memory, outermost first.

    On a mesh of ranks `sharding` says how it lies between steps; in the module of
    a class of ranks `type` is that of the part, `whole` that of the tensor.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttr:$type, StrAttr:$role,
                       OptionalAttr<StrAttr>:$of, OptionalAttr<StrArrayAttr>:$aliases,
                       OptionalAttr<DictionaryAttr>:$init,
                       OptionalAttr<DenseI64ArrayAttr>:$layout,
                       OptionalAttr<Graph_ShardingAttr>:$sharding, OptionalAttr<TypeAttr>:$whole);
  let assemblyFormat = "$sym_name attr-dict";
  let hasVerifier = 1;
}

def Graph_SettingOp : Graph_InferredOp<"setting", Graph_Reference> {
  let summary = "A setting, f64 [].";
  let description = "place-settings says where among the step's values it lies.";
  let arguments = (ins Graph_SettingAttr:$setting);
  let results = (outs Graph_Tensor:$result);
}

def Graph_SettingsOp : Op<GraphDialect, "settings"> {
  let summary = "All settings of the steps of a module, in the order in memory.";
  let arguments = (ins TypedArrayAttrBase<Graph_SettingAttr, "settings">:$settings);
  let assemblyFormat = "$settings attr-dict";
}

def Graph_PlateauOp : Op<GraphDialect, "plateau"> {
  let summary = "Settings that change by a metric of an evaluation.";
  let description = [{
    PyTorch's ReduceLROnPlateau: `settings` are learning rates, by their paths.
    dlrun applies it after each evaluation.
  }];
  let arguments = (ins StrAttr:$metric, StrArrayAttr:$settings, UnitAttr:$max, F64Attr:$factor,
                       I64Attr:$patience, F64Attr:$threshold, UnitAttr:$absolute,
                       I64Attr:$cooldown, F64Attr:$min_lr, F64Attr:$eps);
  let assemblyFormat = "$metric $settings attr-dict";
}

def Graph_ReadSettingOp
    : Graph_InferredOp<"read_setting", !listconcat(Graph_Nest, Graph_Constants)> {
  let summary = "A setting from the step's values, f64 [].";
  let description = [{
    Settings lie behind the step's scalars, as the bits of an f64; `position` counts
    from the first scalar, and is a constant of the launch.
  }];
  let arguments = (ins Graph_Tensor:$scalars, I64Attr:$position);
  let results = (outs Graph_Tensor:$result);
}

#endif
