// RUN: dl-opt %s --assign-stages --split-input-file --verify-diagnostics
// RUN: not dl-opt %s --assign-stages --split-input-file 2> %t | FileCheck %s

// Ops are at the stage of their module; what belongs to none where its largest operand is.
// What another stage needs is transferred, metrics are known to all.
graph.mesh [#graph.axis<"pp" = 2>] data "dp" stages "pp" cut [["a"], ["b"]]
// CHECK: graph.state @a.weight {{.*}}graph.stage = 0
graph.state @a.weight {type = tensor<4x4xf32>, role = "parameter"}
// CHECK: graph.state @b.weight {{.*}}graph.stage = 1
graph.state @b.weight {type = tensor<4x4xf32>, role = "parameter"}
// CHECK: graph.state @m {{.*}}graph.stage = 1
graph.state @m {type = tensor<4x4xf32>, role = "slot", of = "b.weight"}
// CHECK-LABEL: graph.step @train
graph.step @train(%x: tensor<8x4xf32> input 0, %w: tensor<4x4xf32> state @a.weight, %v: tensor<4x4xf32> state @b.weight)
    -> (tensor<f32> metric "loss", tensor<4x4xf32> state @a.weight, tensor<4x4xf32> state @b.weight)
    of "train" training batch 8 dataset 0 {
  // What reads the batch alone is computed wherever it is needed.
  // CHECK: %[[X:.*]] = graph.exp %arg0 : (tensor<8x4xf32>)
  %e = graph.exp %x : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: %[[A:.*]] = graph.matmul %[[X]], %arg1 {graph.stage = 0
  %a = graph.matmul %e, %w {spec = "mk,kn->mn"} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32> loc("a"("m.dl":1:1))
  // CHECK: %[[TO:.*]] = graph.transfer %[[A]] {from = 0 : i64, to = 1 : i64}
  // CHECK: %[[B:.*]] = graph.matmul %[[TO]], %arg2 {graph.stage = 1
  %b = graph.matmul %a, %v {spec = "mk,kn->mn"} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32> loc("b"("m.dl":2:1))
  // CHECK: %[[BACK:.*]] = graph.transfer %[[B]] {from = 1 : i64, to = 0 : i64}
  // CHECK: %[[LOSS:.*]] = graph.sum %[[B]] {{.*}}graph.stage = 1
  // CHECK: %[[KNOWN:.*]] = graph.transfer %[[LOSS]] {from = 1 : i64, to = -1 : i64}
  %loss = graph.sum %b {dims = array<i64: 0, 1>} : (tensor<8x4xf32>) -> tensor<f32>
  // CHECK: %[[DA:.*]] = graph.matmul %[[X]], %[[BACK]] {graph.stage = 0
  %da = graph.matmul %e, %b {spec = "km,kn->mn"} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32> loc("a"("m.dl":1:1))
  // CHECK: graph.return %[[KNOWN]], %[[DA]], %arg2
  graph.return %loss, %da, %v : tensor<f32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// Blocks are dealt out evenly; what stands before or behind them goes along.
graph.mesh [#graph.axis<"pp" = 2>] data "dp" stages "pp" cut ["h.*"]
// CHECK: @first.weight {{.*}}graph.stage = 0
graph.state @first.weight {type = tensor<90xf32>, role = "parameter"}
// CHECK: @h.0.up.weight {{.*}}graph.stage = 0
graph.state @h.0.up.weight {type = tensor<4xf32>, role = "parameter"}
// CHECK: @h.1.up.weight {{.*}}graph.stage = 1
graph.state @h.1.up.weight {type = tensor<4xf32>, role = "parameter"}
// CHECK: @head.weight {{.*}}graph.stage = 1
graph.state @head.weight {type = tensor<4xf32>, role = "parameter"}

// -----

// Without a cut, so that stages have about equal numbers of parameters.
graph.mesh [#graph.axis<"pp" = 2>] data "dp" stages "pp"
// CHECK: @first.weight {{.*}}graph.stage = 0
graph.state @first.weight {type = tensor<90xf32>, role = "parameter"}
// CHECK: @second.weight {{.*}}graph.stage = 1
graph.state @second.weight {type = tensor<40xf32>, role = "parameter"}
// CHECK: @third.weight {{.*}}graph.stage = 1
graph.state @third.weight {type = tensor<40xf32>, role = "parameter"}

// -----

// Several stages on each rank. What is on the same one is not transferred: %a, of stage 0 on rank 0, for stage 2.
// And %b, of stage 1 on rank 1, is sent to rank 0 once.
graph.mesh [#graph.axis<"pp" = 2>] data "dp" stages "pp" schedule "interleaved" per_rank 2 cut [["a"], ["b"], ["c"], ["d"]]
// CHECK: @a.weight {{.*}}graph.stage = 0
graph.state @a.weight {type = tensor<8x8xf32>, role = "parameter"}
// CHECK: @b.weight {{.*}}graph.stage = 1
graph.state @b.weight {type = tensor<8x8xf32>, role = "parameter"}
// CHECK: @c.weight {{.*}}graph.stage = 2
graph.state @c.weight {type = tensor<8x8xf32>, role = "parameter"}
// CHECK: @d.weight {{.*}}graph.stage = 3
graph.state @d.weight {type = tensor<8x8xf32>, role = "parameter"}
graph.step @test(%x: tensor<8x8xf32> input 0, %aw: tensor<8x8xf32> state @a.weight, %bw: tensor<8x8xf32> state @b.weight,
                 %cw: tensor<8x8xf32> state @c.weight)
    -> (tensor<8x8xf32> state @a.weight, tensor<8x8xf32> state @b.weight, tensor<8x8xf32> state @c.weight) of "test" batch 8 dataset 0 {
  // CHECK: %[[A:.*]] = graph.matmul %arg0, %arg1 {graph.stage = 0
  // CHECK: %[[T:.*]] = graph.transfer %[[A]] {from = 0 : i64, to = 1 : i64}
  %a = graph.matmul %x, %aw {spec = "mk,kn->mn"} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> loc("a"("m.dl":1:1))
  // CHECK: %[[B:.*]] = graph.matmul %[[T]], %arg2 {graph.stage = 1
  // CHECK: %[[U:.*]] = graph.transfer %[[B]] {from = 1 : i64, to = 2 : i64}
  // CHECK-NOT: graph.transfer
  %b = graph.matmul %a, %bw {spec = "mk,kn->mn"} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> loc("b"("m.dl":2:1))
  // CHECK: %[[C:.*]] = graph.matmul %[[U]], %arg3 {graph.stage = 2
  %c = graph.matmul %b, %cw {spec = "mk,kn->mn"} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> loc("c"("m.dl":3:1))
  // CHECK: graph.add %[[C]], %[[A]] {graph.stage = 2
  %e = graph.add %c, %a : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> loc("c"("m.dl":3:5))
  // CHECK: graph.add %[[A]], %[[U]] {graph.stage = 0
  %f = graph.add %a, %b : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> loc("a"("m.dl":4:5))
  graph.return %f, %b, %e : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// Of zb-v the second stages lie in the opposite order: stage 1 and 2 are on rank 1.
graph.mesh [#graph.axis<"pp" = 2>] data "dp" stages "pp" schedule "zb-v" per_rank 2
graph.state @a.weight {type = tensor<8x8xf32>, role = "parameter"}
graph.state @b.weight {type = tensor<8x8xf32>, role = "parameter"}
graph.state @c.weight {type = tensor<8x8xf32>, role = "parameter"}
graph.state @d.weight {type = tensor<8x8xf32>, role = "parameter"}
graph.step @test(%bw: tensor<8x8xf32> state @b.weight, %cw: tensor<8x8xf32> state @c.weight)
    -> (tensor<8x8xf32> state @c.weight) of "test" batch 8 dataset 0 {
  // CHECK-NOT: graph.transfer
  // CHECK: %[[B:.*]] = graph.exp %arg0 {graph.stage = 1
  %b = graph.exp %bw : (tensor<8x8xf32>) -> tensor<8x8xf32> loc("b"("m.dl":1:1))
  // CHECK: graph.matmul %[[B]], %arg1 {graph.stage = 2
  %c = graph.matmul %b, %cw {spec = "mk,kn->mn"} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> loc("c"("m.dl":2:1))
  graph.return %c : tensor<8x8xf32>
}

// -----

// expected-error@+1 {{does not fit: 1f1b has one stage on each rank, not 2}}
graph.mesh [#graph.axis<"pp" = 2>] data "dp" stages "pp" per_rank 2
graph.state @a.weight {type = tensor<4xf32>, role = "parameter"}

// -----

// expected-error@+1 {{pipeline: 3 stages, and only 2 blocks}}
graph.mesh [#graph.axis<"pp" = 3>] data "dp" stages "pp" cut ["h.*"]
graph.state @h.0.weight {type = tensor<4xf32>, role = "parameter"}
graph.state @h.1.weight {type = tensor<4xf32>, role = "parameter"}

// -----

// expected-error@+1 {{pipeline: the module 'c' is at no stage}}
graph.mesh [#graph.axis<"pp" = 2>] data "dp" stages "pp" cut [["a"], ["b"]]
graph.state @a.weight {type = tensor<4xf32>, role = "parameter"}
graph.state @c.weight {type = tensor<4xf32>, role = "parameter"}

// -----

// expected-error@+1 {{pipeline: 1 lists of modules for 2 stages}}
graph.mesh [#graph.axis<"pp" = 2>] data "dp" stages "pp" cut [["a"]]
graph.state @a.weight {type = tensor<4xf32>, role = "parameter"}

// -----

// expected-error@+1 {{pipeline: 4 stages (2 on each of 2 ranks), and only 1 block}}
graph.mesh [#graph.axis<"pp" = 2>] data "dp" stages "pp" schedule "interleaved" per_rank 2 cut ["h"]
graph.state @h.weight {type = tensor<4xf32>, role = "parameter"}

// -----

// expected-error@+1 {{pipeline: the module 'h.0' is at stage 0 and at stage 1; lists name each once}}
graph.mesh [#graph.axis<"pp" = 2>] data "dp" stages "pp" cut [["a", "h.0"], ["h.*", "b"]]
graph.state @a.weight {type = tensor<4xf32>, role = "parameter"}
graph.state @h.0.weight {type = tensor<4xf32>, role = "parameter"}
graph.state @b.weight {type = tensor<4xf32>, role = "parameter"}
