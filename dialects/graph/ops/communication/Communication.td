#ifndef DL_GRAPH_OPS_COMMUNICATION
#define DL_GRAPH_OPS_COMMUNICATION

include "dialects/graph/Graph.td"

def Graph_AxisAttr : AttrDef<GraphDialect, "Axis"> {
  let mnemonic = "axis";
  let summary = "An axis of the mesh of ranks.";
  let parameters = (ins StringRefParameter<>:$name, "int64_t":$size);
  let assemblyFormat = "`<` $name `=` $size `>`";
}

def Graph_ShardingAttr : AttrDef<GraphDialect, "Sharding"> {
  let mnemonic = "sharding";
  let summary = "How a tensor lies on the mesh.";
  let description = [{
    For each dim the axes along which it is split, the slowest first, and the axes
    along which each rank has a part of a sum, or of a maximum. Along all others
    it is the same on each rank. `#graph.sharding<[["dp"], []], sum ["tp"]>` is
    split by rows along dp, and the sum over tp of what the ranks have.

    A dim that was several ones and is divided as they were, [B*T] by T alone, has
    its digits instead, each with its size and its axes: `[[[8], [256, "cp"]], []]`.
  }];
  let parameters = (ins "::mlir::ArrayAttr":$dims, "::mlir::ArrayAttr":$sum,
                        "::mlir::ArrayAttr":$max);
  let assemblyFormat = "`<` $dims `,` `sum` $sum `,` `max` $max `>`";
}

def Graph_MeshOp : Op<GraphDialect, "mesh"> {
  let summary = "The ranks that run the module together.";
  let description = [{
    Rank numbers count along `axes`, the first one the slowest. `data` is the axis
    along which the items of a batch are divided. `zero` is what is divided along
    it as well (Rajbhandari et al., "ZeRO", 2020): 1 the slots of optimizers, 2
    gradients, too, 3 parameters, too. Along `replicas` the items are divided, and
    nothing else is (hybrid sharding, Zhao et al., "PyTorch FSDP", 2023).

    Along `stages` the layers of the model are divided: `cut` are the patterns of
    modules of each stage, or one pattern of blocks that are dealt out evenly, or
    nothing. A training step works on `micro_batches` parts of its batch, one after
    the other, in the order of `schedule`: gpipe, 1f1b, interleaved, zb-h1 or zb-v,
    of which interleaved and zb-v have several stages on each rank
    (dialects/graph/PipelineOrder.h).

    ```mlir
    graph.mesh [#graph.axis<"dp" = 2>, #graph.axis<"tp" = 4>] data "dp" zero 1
    ```
  }];
  let arguments = (ins TypedArrayAttrBase<Graph_AxisAttr, "axes, the slowest first">:$axes,
                       DefaultValuedAttr<StrAttr, "\"\"">:$data,
                       DefaultValuedAttr<StrArrayAttr, "{}">:$replicas,
                       DefaultValuedAttr<I64Attr, "0">:$zero,
                       DefaultValuedAttr<StrAttr, "\"pp\"">:$stages,
                       DefaultValuedAttr<I64Attr, "1">:$micro_batches,
                       DefaultValuedAttr<StrAttr, "\"1f1b\"">:$schedule,
                       DefaultValuedAttr<I64Attr, "1">:$stages_per_rank,
                       DefaultValuedAttr<ArrayAttr, "{}">:$cut);
  let assemblyFormat = [{
    $axes (`data` $data^)? (`replicas` $replicas^)? (`zero` $zero^)? (`stages` $stages^)? (`micro` $micro_batches^)?
    (`schedule` $schedule^)? (`per_rank` $stages_per_rank^)? (`cut` $cut^)? attr-dict
  }];
  let hasVerifier = 1;
}

def Graph_ShardOp : Graph_InferredOp<"shard",
    !listconcat(Graph_Reference, Graph_Gradient, Graph_OwnRule)> {
  let summary = "The same tensor, divided along axes of the mesh as the user says.";
  let description = [{
    `axes` has an entry for each dim, separated by commas: the axis that divides it,
    or nothing. Its gradient is divided in the same way, and goes back: where an axis
    divides another dim from here on, it is the one of before in the gradient of `x`.
    For that, one that has a gradient has a `number` that is not 0, and that one is
    `back` of it.
    Axes that the mesh does not have divide nothing. shard-steps makes a
    graph.reshard of it.

    ```mlir
    %1 = graph.shard %0 {axes = "dp,,tp"} : (tensor<8x4x6xf32>) -> tensor<8x4x6xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, StrAttr:$axes, DefaultValuedAttr<I64Attr, "0">:$number,
                       DefaultValuedAttr<I64Attr, "0">:$back);
  let results = (outs Graph_Tensor:$result);
  let extraClassDeclaration = [{
    /// One for each dim, empty where it is not divided.
    ::llvm::SmallVector<::llvm::StringRef> getAxisOfDims();
  }];
}

def Graph_ReshardOp : Graph_InferredOp<"reshard", Graph_Reference> {
  let summary = "The same tensor, lying on the mesh in another way.";
  let description = [{
    partition-steps makes communication of it, and copies of parts.
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_ShardingAttr:$from, Graph_ShardingAttr:$to);
  let results = (outs Graph_Tensor:$result);
}

def Graph_StoredOp : Graph_InferredOp<"stored",
    !listconcat(Graph_Reference, Graph_OwnRule, Graph_Alias)> {
  let summary = "The same value, as it lies in memory: no kernel reaches across.";
  let description = [{
    Where a rank begins to read is said to a kernel with its bindings.
  }];
  let arguments = (ins Graph_Tensor:$x);
  let results = (outs Graph_Tensor:$result);
}

def Graph_TransferOp : Graph_InferredOp<"transfer", Graph_Reference> {
  let summary = "The same value, at another stage of the pipeline.";
  let description = [{
    `to` is -1 where all stages get it. partition-steps makes graph.send and
    graph.receive of it.
  }];
  let arguments = (ins Graph_Tensor:$x, I64Attr:$from, I64Attr:$to);
  let results = (outs Graph_Tensor:$result);
}

/// Not pure: what nobody reads here somebody else may wait for.
class Graph_CommunicationOp<string mnemonic, list<Trait> traits = []>
    : Op<GraphDialect, mnemonic, traits # [DeclareOpInterfaceMethods<CommunicationOpInterface, ["getSentRows", "getReceivedRows"]>]>;

def Graph_AllGatherOp : Graph_CommunicationOp<"all_gather"> {
  let summary = "The rows of all members of a group, one behind the other.";
  let description = [{
    The group of a rank are the ranks that differ from it at most along `axes`,
    numbered by their coordinates along these, the first axis the slowest. `rows`
    are how many rows each member has; one that has none takes no operand.

    ```mlir
    %y = graph.all_gather %x over ["dp"] rows [4, 3] : (tensor<4x8xf32>) -> tensor<7x8xf32>
    ```
  }];
  let arguments = (ins Optional<Graph_Tensor>:$x, StrArrayAttr:$axes, DenseI64ArrayAttr:$rows,
                       DefaultValuedAttr<I64Attr, "0">:$order);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = [{
    operands `over` $axes `rows` $rows (`order` $order^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Graph_AllToAllOp : Graph_CommunicationOp<"all_to_all"> {
  let summary = "Some rows to each member of a group, and some from each.";
  let description = [{
    Member i gets the i-th of the blocks of `sends` rows; the result has
    `receives` rows of each member, one behind the other. Members that are `relative`
    are counted from the rank itself, which is 0, round the group.

    ```mlir
    %y = graph.all_to_all %x over ["dp"] sends [4, 3] receives [4, 4] : tensor<7xf32> -> tensor<8xf32>
    // Of two, all that the other one has:
    %z = graph.all_to_all %x over ["dp"] relative sends [0, 7] receives [0, 7] : tensor<7xf32> -> tensor<7xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, StrArrayAttr:$axes, DenseI64ArrayAttr:$sends,
                       DenseI64ArrayAttr:$receives, UnitAttr:$relative,
                       DefaultValuedAttr<I64Attr, "0">:$order);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = [{
    $x `over` $axes (`relative` $relative^)? `sends` $sends `receives` $receives
    (`order` $order^)? attr-dict
    `:` type($x) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Graph_SendOp : Graph_CommunicationOp<"send"> {
  let summary = "A value to one member of a group.";
  let arguments = (ins Graph_Tensor:$x, StrArrayAttr:$axes, I64Attr:$to,
                       DefaultValuedAttr<I64Attr, "0">:$order);
  let assemblyFormat = "$x `to` $to `over` $axes (`order` $order^)? attr-dict `:` type($x)";
}

def Graph_ReceiveOp : Graph_CommunicationOp<"receive"> {
  let summary = "A value from one member of a group.";
  let arguments = (ins StrArrayAttr:$axes, I64Attr:$from, DefaultValuedAttr<I64Attr, "0">:$order);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "`from` $from `over` $axes (`order` $order^)? attr-dict `:` type($result)";
}

def Graph_BucketOp : Graph_CommunicationOp<"bucket"> {
  let summary = "Several communications of one group as one.";
  let description = [{
    What gathers and exchanges of parts move, begun and ended together (Li et al.,
    "PyTorch Distributed", 2020). For each operand and each result `sends` and
    `receives` say of one transfer after the other: the first member, how many
    members, the first row, rows of each, and whether these are the same for all of
    them (1) or one behind the other (0). Nothing is copied to lie side by side. Its
    `order` is that of the last one. As in graph.all_to_all members may be `relative`.

    ```mlir
    // Two gathers of the two members' rows:
    %y, %z = graph.bucket %a, %b over ["dp"]
        sends [array<i64: 0, 2, 0, 1, 1>, array<i64: 0, 2, 0, 4, 1>]
        receives [array<i64: 0, 2, 0, 1, 0>, array<i64: 0, 2, 0, 4, 0>]
        : (tensor<1x8xf32>, tensor<4xf32>) -> (tensor<2x8xf32>, tensor<8xf32>)
    ```
  }];
  let arguments = (ins Variadic<Graph_Tensor>:$values, StrArrayAttr:$axes,
                       TypedArrayAttrBase<DenseI64ArrayAttr, "transfers of each operand">:$sends,
                       TypedArrayAttrBase<DenseI64ArrayAttr, "transfers of each result">:$receives,
                       UnitAttr:$relative,
                       DefaultValuedAttr<I64Attr, "0">:$order);
  let results = (outs Variadic<Graph_Tensor>);
  let builders = [OpBuilder<(ins "::llvm::ArrayRef<::dl::graph::CommunicationOpInterface>":$members)>];
  let skipDefaultBuilders = 1;
  let assemblyFormat = [{
    operands `over` $axes (`relative` $relative^)? `sends` $sends `receives` $receives
    (`order` $order^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif
