#ifndef DL_GRAPH_OPS_PROGRAM
#define DL_GRAPH_OPS_PROGRAM

include "dialects/graph/Graph.td"

def Graph_ProgramOp : Op<GraphDialect, "program"> {
  let summary = "What holds for all steps of a module.";
  let description = [{
    Gradients are means over `accumulate` micro-batches. `dtype` is what the model
    computes in unless it says otherwise. `constants` are names of buffers that a
    state_dict has and no state is: masks.

    ```mlir
    graph.program "net.dl" dtype f32 accumulate 4
    ```
  }];
  let arguments = (ins StrAttr:$model, TypeAttr:$dtype,
                       ConfinedAttr<I64Attr, [IntPositive]>:$accumulate,
                       OptionalAttr<StrArrayAttr>:$constants);
  let assemblyFormat =
      "$model `dtype` $dtype `accumulate` $accumulate (`constants` $constants^)? attr-dict";
}

def Graph_ImageTransforms : TypedArrayAttrBase<Graph_ImageTransformAttr, "transforms of pictures">;
def Graph_Selections : TypedArrayAttrBase<Graph_SelectionAttr, "selections of items">;

def Graph_DatasetOp : Op<GraphDialect, "dataset"> {
  let summary = "Where batches come from.";
  let description = [{
    Steps name it by its number among the datasets of the module. `components` are
    the tensors of one item, raw as they lie in the file. Items of
    tokens begin `stride` tokens after one another. Pictures of a folder go through
    `transforms`; its folders within are the `classes`. Where batches have a part of
    the items, `selections` lead from theirs to those of the files. With a `sampler` an epoch is
    draws of items.

    ```mlir
    graph.dataset "mnist" root "data/mnist" paths [] train items 60000 batch 64 shuffle
        components [tensor<1x28x28xui8>, tensor<ui8>]
    ```
  }];
  let arguments = (ins StrAttr:$kind, StrAttr:$root, StrArrayAttr:$paths, UnitAttr:$train,
                       I64Attr:$items, I64Attr:$batch, UnitAttr:$shuffle, UnitAttr:$drop_last,
                       TypeArrayAttr:$components, DefaultValuedAttr<I64Attr, "0">:$stride,
                       OptionalAttr<Graph_ImageTransforms>:$transforms, OptionalAttr<StrArrayAttr>:$classes,
                       OptionalAttr<Graph_Selections>:$selections, OptionalAttr<Graph_SamplerAttr>:$sampler);
  let assemblyFormat = [{
    $kind `root` $root `paths` $paths (`train` $train^)? `items` $items `batch` $batch
    (`shuffle` $shuffle^)? (`drop_last` $drop_last^)? `components` $components (`stride` $stride^)?
    (`transforms` $transforms^)? (`classes` $classes^)? (`selections` $selections^)? (`sampler` $sampler^)? attr-dict
  }];
}

#endif
