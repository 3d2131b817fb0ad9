#ifndef DL_PARTITION_PASSES
#define DL_PARTITION_PASSES

include "dialects/plan/MachineOption.td"

def ShardSteps : Pass<"shard-steps", "::mlir::ModuleOp"> {
  let summary = "Decides how each tensor lies on the mesh, and where that changes";
  let description = [{
    Goes through each step in its order. Batches are divided along the mesh's data axis, states as
    ZeRO and the user say. An op is divided as its operands are, by its sharding rule: where they
    disagree a parameter decides that the user has placed, else the one that is divided more finely, for
    the other is cut without an exchange, else the larger one; the gradient of such a parameter comes as
    it lies. Whoever needs an operand in another way reads a graph.reshard of it. A dim that is several
    ones, [B*T], is divided as they are, in digits, also where its parts are no blocks.

    Sums along an axis that divides what is summed are partial: they stay so through what is linear in
    them, and are added up in front of everything else: what is divided along the same axis, and would
    have to be gathered; all readers, if one of them needs the sum; gradients at the border of
    micro-batch and update; and in parts where they will meet what is divided along the same axis. An
    operand that is divided where parts of results add up, but costs no work, is gathered if that moves
    less (a lookup in a small table). The shapes are still those of the whole, and so is the meaning.

    ```mlir
    graph.mesh [#graph.axis<"dp" = 2>] data "dp"
    graph.step @train(%x: tensor<8x3xf32> input 0, ...)
      %0 = graph.matmul %dy, %x {spec = "km,kn->mn"}
      %g = graph.gradient %0 {of = "w"}
    // =>
      %0 = graph.matmul %dy, %x {spec = "km,kn->mn", graph.factors = ... k along dp}
      %1 = graph.reshard %0 {from = #graph.sharding<[[], []], sum ["dp"], max []>, to = ...}
      %g = graph.gradient %1 {of = "w"}
    ```
  }];
  let dependentDialects = ["::dl::graph::GraphDialect"];
  let options = [Option<"splitFrom", "split-from", "int64_t", "partition::kLeastToDivide",
                        "Elements from which on a state or a sum is worth being divided">];
}

def AssignStages : Pass<"assign-stages", "::mlir::ModuleOp"> {
  let summary = "Decides which stage of the pipeline computes what";
  let description = [{
    Layers are divided along the mesh's `stages` axis: as `cut` says, else so that
    stages have about equal numbers of parameters. A rank has one stage, or several
    where the schedule wants that (dialects/graph/PipelineOrder.h). An op is computed at the stage of
    its module, forward and backward; what belongs to none, where its largest operand
    is. What only reads the batch or numbers is computed wherever it is needed. A value
    that a stage on another rank needs gets a graph.transfer; metrics and error flags are known
    at all stages.

    ```mlir
    graph.mesh [#graph.axis<"pp" = 2>] stages "pp" cut [["a"], ["b"]]
    %0 = graph.matmul %x, %a.weight
    %1 = graph.matmul %0, %b.weight
    // =>
    %0 = graph.matmul %x, %a.weight {graph.stage = 0}
    %t = graph.transfer %0 {from = 0, to = 1}
    %1 = graph.matmul %t, %b.weight {graph.stage = 1}
    ```
  }];
  let dependentDialects = ["::dl::graph::GraphDialect"];
}

def VerifyShardings : Pass<"verify-shardings", "::mlir::ModuleOp"> {
  let summary = "Proves that every op finds its operands where it needs them";
  let description = [{
    Recomputes from `graph.factors` alone how each operand of each op has to lie, and compares it
    with how the op before it leaves it. Nothing that leaves a step is partial, but accumulators.

    ```mlir
    %0 = graph.sum %x {graph.factors = ... dims along dp}
    %1 = graph.exp %0  // error: operand 0 is the sum along ["dp"] of what ranks have
    ```
  }];
}

def PartitionSteps : Pass<"partition-steps", "::mlir::ModuleOp"> {
  let summary = "Makes the program of each class of ranks";
  let description = [{
    Ranks whose parts have equal shapes are a class and run one program: a module of its own within
    this one, with local shapes. Ops become their local ones, by the sharding rules; graph.reshard
    becomes communication and local ops around it: a partial sum is an exchange of parts, a sum over
    them in the order of ranks and, where all need it, a gather. What differs between ranks of a
    class is how numbers of launches grow with the rank's coordinates, `graph.rank_steps`.

    ```mlir
    %1 = graph.reshard %0 {from = #graph.sharding<[[]], sum ["dp"], max []>,
                           to = #graph.sharding<[["dp"]], sum [], max []>} : tensor<8xf32>
    // =>
    %a = graph.all_to_all %0 over ["dp"] sends [4, 4] receives [4, 4] : tensor<8xf32> -> tensor<8xf32>
    %b = graph.reshape %a {shape = array<i64: 2, 4>}
    %1 = graph.sum %b {dims = array<i64: 0>}
    ```
  }];
  let dependentDialects = ["::dl::graph::GraphDialect"];
}

def CombineCommunications : Pass<"combine-communications", "::mlir::ModuleOp"> {
  let summary = "Puts small communications of one group into buckets";
  let description = [{
    However few bytes an exchange moves, its beginning and its end cost tens of microseconds. Gathers
    and exchanges of parts over the same axes that do not depend on one another wait for the next
    one, until they have `bucket_bytes` of the machine together; what follows from them moves behind
    it. All classes of ranks take the same decision, in the order of the communications' numbers.

    ```mlir
    %a = graph.all_gather %x over ["dp"] rows [1, 1] order 1
    %b = graph.sum %a
    %c = graph.all_gather %y over ["dp"] rows [1, 1] order 3
    // =>
    %a, %c = graph.bucket %x, %y over ["dp"] sends [...] receives [...] order 3
    %b = graph.sum %a
    ```
  }];
  let dependentDialects = ["::dl::graph::GraphDialect"];
  let options = [MachineOption<"what a bucket holds">];
}

#endif
