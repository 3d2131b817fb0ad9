// RUN: dl-opt %s --shard-steps=split-from=4 --verify-shardings --split-input-file | FileCheck %s

// Batches are divided, gradients are summed at the border of the update.
graph.mesh [#graph.axis<"dp" = 4>] data "dp"
graph.state @w {type = tensor<4x3xf32>, role = "parameter"}
graph.state @b {type = tensor<3xf32>, role = "parameter"}
// CHECK-LABEL: graph.step @train
graph.step @train(%x: tensor<8x4xf32> input 0, %w: tensor<4x3xf32> state @w, %b: tensor<3xf32> state @b)
    -> (tensor<f32> metric "loss", tensor<4x3xf32> state @w, tensor<3xf32> state @b)
    of "train" training batch 8 dataset 0 {
  // CHECK: %[[Y:.*]] = graph.matmul {{.*}}graph.factors = #graph.sharding<{{\[\[}}"dp"], [], []], sum [], max []>
  %y = graph.matmul %x, %w {spec = "mk,kn->mn"} : (tensor<8x4xf32>, tensor<4x3xf32>) -> tensor<8x3xf32>
  // CHECK: %[[LOSS:.*]] = graph.sum %[[Y]] {{.*}}graph.factors = #graph.sharding<{{\[\[}}"dp"], []], sum [], max []>
  %loss = graph.sum %y {dims = array<i64: 0, 1>} : (tensor<8x3xf32>) -> tensor<f32>
  // CHECK: %[[DW:.*]] = graph.matmul
  %dw = graph.matmul %x, %y {spec = "km,kn->mn"} : (tensor<8x4xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
  // A sum of four elements and more is exchanged in parts, which are gathered then.
  // CHECK: %[[PARTS:.*]] = graph.reshard %[[DW]] {from = #graph.sharding<{{\[\[}}], []], sum ["dp"], max []>, to = #graph.sharding<{{\[\[}}"dp"], []], sum [], max []>}
  // CHECK: %[[ALL:.*]] = graph.reshard %[[PARTS]]
  // CHECK: graph.gradient %[[ALL]] {of = "w"}
  %gw = graph.gradient %dw {of = "w"} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %db = graph.sum %y {dims = array<i64: 0>} : (tensor<8x3xf32>) -> tensor<3xf32>
  // CHECK: %[[SUM:.*]] = graph.reshard {{.*}}from = #graph.sharding<{{\[\[}}]], sum ["dp"], max []>, to = #graph.sharding<{{\[\[}}]], sum [], max []>
  // CHECK: graph.gradient %[[SUM]] {of = "b"}
  %gb = graph.gradient %db {of = "b"} : (tensor<3xf32>) -> tensor<3xf32>
  %nw = graph.sub %w, %gw : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  %nb = graph.sub %b, %gb : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  // Nothing else waits for a metric.
  // CHECK: graph.reshard %[[LOSS]] {from = #graph.sharding<[], sum ["dp"], max []>, to = #graph.sharding<[], sum [], max []>}
  // CHECK-NEXT: graph.return
  graph.return %loss, %nw, %nb : tensor<f32>, tensor<4x3xf32>, tensor<3xf32>
}

// -----

// Each of two sends its sum once; by way of parts it would send as much in two exchanges.
graph.mesh [#graph.axis<"dp" = 2>] data "dp"
graph.state @w {type = tensor<4x3xf32>, role = "parameter"}
// CHECK-LABEL: graph.step @of_two
graph.step @of_two(%x: tensor<8x4xf32> input 0, %y: tensor<8x3xf32> input 1, %w: tensor<4x3xf32> state @w)
    -> (tensor<4x3xf32> state @w) of "train" training batch 8 dataset 0 {
  // CHECK: %[[DW:.*]] = graph.matmul
  %dw = graph.matmul %x, %y {spec = "km,kn->mn"} : (tensor<8x4xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
  // CHECK: %[[ALL:.*]] = graph.reshard %[[DW]] {from = #graph.sharding<{{\[\[}}], []], sum ["dp"], max []>, to = #graph.sharding<{{\[\[}}], []], sum [], max []>}
  // CHECK: graph.gradient %[[ALL]] {of = "w"}
  %gw = graph.gradient %dw {of = "w"} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %nw = graph.sub %w, %gw : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  graph.return %nw : tensor<4x3xf32>
}

// -----

// Stage 1 of ZeRO: a slot lies in parts, and so is all computed that updates it; the
// parameter is gathered.
graph.mesh [#graph.axis<"dp" = 2>] data "dp" zero 1
// CHECK: graph.state @w
// CHECK-NOT: sharding
graph.state @w {type = tensor<4x3xf32>, role = "parameter"}
// CHECK: graph.state @m {{.*}}sharding = #graph.sharding<{{\[\[}}"dp"], []], sum [], max []>
graph.state @m {type = tensor<4x3xf32>, role = "slot", of = "w"}
// CHECK-LABEL: graph.step @train
graph.step @train(%x: tensor<8x4xf32> input 0, %w: tensor<4x3xf32> state @w, %m: tensor<4x3xf32> state @m)
    -> (tensor<4x3xf32> state @w, tensor<4x3xf32> state @m) of "train" training batch 8 dataset 0 {
  // CHECK: %[[PART:.*]] = graph.reshard %{{.*}} {from = #graph.sharding<{{\[\[}}], []], sum [], max []>, to = #graph.sharding<{{\[\[}}"dp"], []], sum [], max []>}
  %y = graph.matmul %x, %w {spec = "mk,kn->mn"} : (tensor<8x4xf32>, tensor<4x3xf32>) -> tensor<8x3xf32>
  %dw = graph.matmul %x, %y {spec = "km,kn->mn"} : (tensor<8x4xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
  // CHECK: %[[G:.*]] = graph.gradient {{.*}}graph.factors = #graph.sharding<{{\[\[}}"dp"], []]
  %g = graph.gradient %dw {of = "w"} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  // CHECK: %[[M:.*]] = graph.add %{{.*}}, %[[G]] {graph.factors
  %nm = graph.add %m, %g : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  // CHECK: %[[NEW:.*]] = graph.sub %[[PART]], %[[M]] {graph.factors
  %nw = graph.sub %w, %nm : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  // CHECK: %[[WHOLE:.*]] = graph.reshard %[[NEW]]
  // CHECK: graph.return %[[WHOLE]], %[[M]]
  graph.return %nw, %nm : tensor<4x3xf32>, tensor<4x3xf32>
}

// -----

// What is linear in a partial sum is computed on it; elsewhere it is added up first.
graph.mesh [#graph.axis<"dp" = 2>] data "dp"
// CHECK-LABEL: graph.step @linear
graph.step @linear(%x: tensor<6xf32> input 0) -> (tensor<f32> metric "e") of "linear" batch 6 dataset 0 {
  %s = graph.sum %x {dims = array<i64: 0>} : (tensor<6xf32>) -> tensor<f32>
  // CHECK: %[[N:.*]] = graph.neg %{{.*}} {graph.factors = #graph.sharding<[], sum ["dp"], max []>}
  %n = graph.neg %s : (tensor<f32>) -> tensor<f32>
  // CHECK: %[[R:.*]] = graph.reshard %[[N]]
  // CHECK: graph.exp %[[R]] :
  %e = graph.exp %n : (tensor<f32>) -> tensor<f32>
  graph.return %e : tensor<f32>
}

// -----

// What the user says of an activation, and of its gradient; the axis "xp" is not there.
graph.mesh [#graph.axis<"dp" = 2>, #graph.axis<"tp" = 2>] data "dp"
// CHECK-LABEL: graph.step @hint
graph.step @hint(%x: tensor<8x6xf32> input 0) -> (tensor<8x6xf32> metric "y") of "hint" batch 8 dataset 0 {
  // CHECK: %[[R:.*]] = graph.reshard %{{.*}} {from = #graph.sharding<{{\[\[}}"dp"], []], sum [], max []>, to = #graph.sharding<{{\[\[}}], ["tp"]], sum [], max []>}
  // CHECK-NOT: graph.shard
  // CHECK: graph.exp %[[R]] {graph.factors
  %h = graph.shard %x {axes = "xp,tp"} : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %y = graph.exp %h : (tensor<8x6xf32>) -> tensor<8x6xf32>
  graph.return %y : tensor<8x6xf32>
}

// -----

// Stage 3 of ZeRO: the parameter is gathered where the forward needs it, and again where the backward does.
graph.mesh [#graph.axis<"dp" = 2>] data "dp" zero 3
graph.state @w {type = tensor<4x4xf32>, role = "parameter"}
// CHECK-LABEL: graph.step @gathered
// CHECK-SAME: %[[X:.*]]: tensor<8x4xf32> input 0, %[[W:.*]]: tensor<4x4xf32> state @w
graph.step @gathered(%x: tensor<8x4xf32> input 0, %w: tensor<4x4xf32> state @w)
    -> (tensor<8x4xf32> metric "y") of "train" training batch 8 dataset 0 {
  // CHECK-NEXT: graph.exp
  %e = graph.exp %x : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK-NEXT: %[[F:.*]] = graph.reshard %[[W]]
  // CHECK-NEXT: %[[H:.*]] = graph.matmul %{{.*}}, %[[F]]
  %h = graph.matmul %e, %w {spec = "mk,kn->mn"} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.reshard %[[W]]
  // CHECK-NEXT: graph.matmul %[[H]], %[[B]]
  %d = graph.matmul %h, %w {spec = "mk,nk->mn"} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32> loc(#backward)
  graph.return %d : tensor<8x4xf32>
}
#backward = loc(fused<"backward">["m.dl":1:1])

// -----

// What an optimizer makes of old values alone, decay and moments, stays in parts: nobody needs these in whole.
graph.mesh [#graph.axis<"dp" = 2>] data "dp" zero 3
graph.state @w {type = tensor<4x4xf32>, role = "parameter"}
graph.state @m {type = tensor<4x4xf32>, role = "slot", of = "w"}
// CHECK-LABEL: graph.step @kept_in_parts
// CHECK-NOT: graph.reshard
graph.step @kept_in_parts(%w: tensor<4x4xf32> state @w, %m: tensor<4x4xf32> state @m, %lr: tensor<f32> input 0)
    -> (tensor<4x4xf32> state @w, tensor<4x4xf32> state @m) of "train" training batch 1 dataset 0 {
  // CHECK: graph.mul %{{.*}} {graph.factors = #graph.sharding<{{\[\[}}"dp"], []]
  %d = graph.mul %w, %lr : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32> loc(#update)
  // CHECK: graph.mul %{{.*}} {graph.factors = #graph.sharding<{{\[\[}}"dp"], []]
  %n = graph.mul %m, %lr : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  graph.return %d, %n : tensor<4x4xf32>, tensor<4x4xf32>
}
#update = loc(fused<"update">["m.dl":2:1])

// -----

// Of the rows that micro-batches join a rank has [time][tp], which is no block of them: ranks of tp meet first.
graph.mesh [#graph.axis<"tp" = 2>] micro 2
// CHECK-LABEL: graph.step @micro_batches_meet
graph.step @micro_batches_meet(%x: tensor<2x6x5xf32> input 0) -> (tensor<12x5xf32> metric "y")
    of "train" training batch 2 dataset 0 {
  %h = graph.shard %x {axes = ",tp,"} : (tensor<2x6x5xf32>) -> tensor<2x6x5xf32>
  %y = graph.reshape %h {shape = array<i64: 12, 5>} : (tensor<2x6x5xf32>) -> tensor<12x5xf32>
  // CHECK: %[[T:.*]] = graph.reshard %{{.*}} {from = #graph.sharding<{{\[\[}}"micro-batches", "tp"], []], sum [], max []>, to = #graph.sharding<{{\[\[}}"micro-batches"], []], sum [], max []>}
  // CHECK: %[[Y:.*]] = graph.reshard %[[T]] {from = #graph.sharding<{{\[\[}}"micro-batches"], []], sum [], max []>, to = #graph.sharding<{{\[\[}}], []], sum [], max []>}
  // CHECK: graph.return %[[Y]]
  graph.return %y : tensor<12x5xf32>
}

// -----

// What a rank can make its own part of is not cut from the whole.
graph.mesh [#graph.axis<"dp" = 2>] data "dp" micro 2
graph.state @s {type = tensor<6xf32>, role = "parameter"}
// CHECK-LABEL: graph.step @made_in_parts
// CHECK-SAME: %[[S:[^:]*]]: tensor<6xf32> state @s
graph.step @made_in_parts(%x: tensor<8x6xf32> input 0, %s: tensor<6xf32> state @s) -> (tensor<8x6xf32> metric "y")
    of "train" training batch 8 dataset 0 {
  // CHECK: %[[F:.*]] = graph.full {graph.factors = #graph.sharding<{{\[\[}}"dp", "micro-batches"], []], sum [], max []>
  %f = graph.full {value = 2.0, type = tensor<8x6xf32>} : () -> tensor<8x6xf32>
  // CHECK: %[[E:.*]] = graph.expand %[[S]] {graph.factors = #graph.sharding<{{\[\[}}"dp", "micro-batches"], []], sum [], max []>
  %e = graph.expand %s {shape = array<i64: 8, 6>} : (tensor<6xf32>) -> tensor<8x6xf32>
  // CHECK-NOT: graph.reshard
  // CHECK: graph.mul %{{.*}}, %[[F]]
  %a = graph.mul %x, %f : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
  // CHECK: graph.add %{{.*}}, %[[E]]
  %y = graph.add %a, %e : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
  graph.return %y : tensor<8x6xf32>
}

// -----

// Rows between layers that are divided along tp, and parameters along tp: those decide. The first product gathers its rows, the
// partial sums of the second one are scattered to the rows that they will be added to, in front of the bias, and a gradient comes
// as its parameter lies.
graph.mesh [#graph.axis<"tp" = 2>] data "dp"
graph.state @up {type = tensor<16x32xf32>, role = "parameter", sharding = #graph.sharding<[[], ["tp"]], sum [], max []>}
graph.state @down {type = tensor<32x16xf32>, role = "parameter", sharding = #graph.sharding<[["tp"], []], sum [], max []>}
graph.state @b {type = tensor<16xf32>, role = "parameter"}
// CHECK-LABEL: graph.step @sequence
graph.step @sequence(%x: tensor<4x8x16xf32> input 0, %u: tensor<16x32xf32> state @up, %d: tensor<32x16xf32> state @down, %b: tensor<16xf32> state @b)
    -> (tensor<32x16xf32> state @down) of "train" training batch 4 dataset 0 {
  // CHECK: %[[ROWS:.*]] = graph.reshard %arg0 {{.*}}to = #graph.sharding<{{\[\[}}], ["tp"], []], sum [], max []>
  %s = graph.shard %x {axes = ",tp,"} : (tensor<4x8x16xf32>) -> tensor<4x8x16xf32>
  %e = graph.exp %s : (tensor<4x8x16xf32>) -> tensor<4x8x16xf32>
  // CHECK: %[[E:.*]] = graph.exp %[[ROWS]]
  // CHECK: %[[WHOLE:.*]] = graph.reshard %[[E]] {{.*}}to = #graph.sharding<{{\[\[}}], [], []], sum [], max []>
  // CHECK: %[[H:.*]] = graph.matmul %[[WHOLE]], %arg1
  %h = graph.matmul %e, %u {spec = "btk,kn->btn"} : (tensor<4x8x16xf32>, tensor<16x32xf32>) -> tensor<4x8x32xf32>
  // CHECK: %[[Y:.*]] = graph.matmul %[[H]], %arg2
  // CHECK: %[[PART:.*]] = graph.reshard %[[Y]] {from = #graph.sharding<{{\[\[}}], [], []], sum ["tp"], max []>, to = #graph.sharding<{{\[\[}}], ["tp"], []], sum [], max []>}
  // CHECK: %[[Z:.*]] = graph.add %[[PART]], %arg3
  // CHECK: %[[R:.*]] = graph.add %[[ROWS]], %[[Z]]
  %y = graph.matmul %h, %d {spec = "btk,kn->btn"} : (tensor<4x8x32xf32>, tensor<32x16xf32>) -> tensor<4x8x16xf32>
  %z = graph.add %y, %b : (tensor<4x8x16xf32>, tensor<16xf32>) -> tensor<4x8x16xf32>
  %r = graph.add %s, %z : (tensor<4x8x16xf32>, tensor<4x8x16xf32>) -> tensor<4x8x16xf32>
  // CHECK: %[[G:.*]] = graph.reshard %[[R]] {{.*}}to = #graph.sharding<{{\[\[}}], [], []], sum [], max []>
  // CHECK: %[[DW:.*]] = graph.matmul %[[H]], %[[G]] {{.*}}
  // CHECK: graph.gradient %[[DW]] {{.*}}#graph.sharding<{{\[\[}}"tp"], []]
  %dw = graph.matmul %h, %r {spec = "btk,btn->kn"} : (tensor<4x8x32xf32>, tensor<4x8x16xf32>) -> tensor<32x16xf32>
  %g = graph.gradient %dw {of = "down"} : (tensor<32x16xf32>) -> tensor<32x16xf32>
  %n = graph.sub %d, %g : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
  graph.return %n : tensor<32x16xf32>
}

// -----

// A dim that was several ones is divided as they were: rows [6,4] of which a rank
// has some of either are no block of 24, and still nothing is gathered. What meets
// them and is divided less is cut like that.
graph.mesh [#graph.axis<"dp" = 2>, #graph.axis<"cp" = 2>] data "dp"
// CHECK-LABEL: graph.step @digits
// CHECK-NOT: from = #graph.sharding<{{\[\[}}"dp"{{.*}}to = #graph.sharding<{{\[\[}}]
// CHECK: %[[ROWS:.*]] = graph.reshape {{.*}}graph.factors = #graph.sharding<{{\[\[}}"dp"], ["cp"], []], sum [], max []>, shape = array<i64: 24, 5>
// CHECK: %[[APART:.*]] = graph.reshape {{.*}}shape = array<i64: 6, 4, 1>
// CHECK: %[[CUT:.*]] = graph.reshard %[[APART]] {from = #graph.sharding<{{\[\[}}"dp"], [], []], sum [], max []>, to = #graph.sharding<{{\[\[}}"dp"], ["cp"], []], sum [], max []>}
// CHECK: %[[TARGETS:.*]] = graph.reshape %[[CUT]] {{.*}}shape = array<i64: 24, 1>
// CHECK: graph.gather %[[ROWS]], %[[TARGETS]] {{.*}}graph.factors = #graph.sharding<{{\[\[\[}}6, "dp"], [4, "cp"]], []], sum [], max []>
// CHECK: graph.sum {{.*}}graph.factors = #graph.sharding<{{\[\[\[}}6, "dp"], [4, "cp"]]], sum [], max []>
graph.step @digits(%x: tensor<6x4x5xf32> input 0, %t: tensor<6x4xi64> input 1) -> (tensor<f32> metric "loss")
    of "train" training batch 6 dataset 0 {
  %h = graph.shard %x {axes = "dp,cp,"} : (tensor<6x4x5xf32>) -> tensor<6x4x5xf32>
  %rows = graph.reshape %h {shape = array<i64: 24, 5>} : (tensor<6x4x5xf32>) -> tensor<24x5xf32>
  %targets = graph.reshape %t {shape = array<i64: 24, 1>} : (tensor<6x4xi64>) -> tensor<24x1xi64>
  %chosen = graph.gather %rows, %targets {dim = 1} : (tensor<24x5xf32>, tensor<24x1xi64>) -> tensor<24x1xf32>
  %loss = graph.sum %chosen {dims = array<i64: 0, 1>} : (tensor<24x1xf32>) -> tensor<f32>
  graph.return %loss : tensor<f32>
}

// -----

// Who draws has to know where its part begins, so that it has to be a block.
graph.mesh [#graph.axis<"dp" = 2>] data "dp"
// CHECK-LABEL: graph.step @draws
// CHECK: %[[WHOLE:.*]] = graph.reshard {{.*}}from = #graph.sharding<{{\[\[}}"dp"], []], sum [], max []>, to = #graph.sharding<{{\[\[}}], []], sum [], max []>
// CHECK: %[[ROW:.*]] = graph.reshape %[[WHOLE]] {shape = array<i64: 28>}
// CHECK: graph.dropout %[[ROW]]
graph.step @draws(%x: tensor<7x4xf32> input 0, %s: tensor<8xi64> scalars) -> (tensor<f32> metric "loss")
    of "train" training batch 7 dataset 0 {
  %rows = graph.reshape %x {shape = array<i64: 28>} : (tensor<7x4xf32>) -> tensor<28xf32>
  %kept = graph.dropout %rows, %s {key = 1, p = 5.000000e-01 : f64} : (tensor<28xf32>, tensor<8xi64>) -> tensor<28xf32>
  %loss = graph.sum %kept {dims = array<i64: 0>} : (tensor<28xf32>) -> tensor<f32>
  graph.return %loss : tensor<f32>
}

// -----

// Of rows that several axes divide, those stay divided that are blocks: only along cp there is something to gather.
graph.mesh [#graph.axis<"dp" = 2>, #graph.axis<"cp" = 2>] data "dp"
// CHECK-LABEL: graph.step @draws_of_blocks
// CHECK: graph.reshard {{.*}}from = #graph.sharding<{{\[\[}}"dp"], ["cp"]], sum [], max []>, to = #graph.sharding<{{\[\[}}"dp"], []], sum [], max []>
// CHECK: graph.dropout {{.*}}graph.factors = #graph.sharding<{{\[\[}}"dp"], []], sum [], max []>
graph.step @draws_of_blocks(%x: tensor<6x4xf32> input 0, %s: tensor<8xi64> scalars) -> (tensor<f32> metric "loss")
    of "train" training batch 6 dataset 0 {
  %h = graph.shard %x {axes = "dp,cp"} : (tensor<6x4xf32>) -> tensor<6x4xf32>
  %rows = graph.reshape %h {shape = array<i64: 24>} : (tensor<6x4xf32>) -> tensor<24xf32>
  %kept = graph.dropout %rows, %s {key = 1, p = 5.000000e-01 : f64} : (tensor<24xf32>, tensor<8xi64>) -> tensor<24xf32>
  %loss = graph.sum %kept {dims = array<i64: 0>} : (tensor<24xf32>) -> tensor<f32>
  graph.return %loss : tensor<f32>
}

// -----

// A lookup in a divided table that is larger than what is found: parts add up.
graph.mesh [#graph.axis<"tp" = 2>]
graph.state @w {type = tensor<64x4xf32>, role = "parameter", sharding = #graph.sharding<[["tp"], []], sum [], max []>}
// CHECK-LABEL: graph.step @table
// CHECK: %[[PARTS:.*]] = graph.gather {{.*}}graph.factors = #graph.sharding<{{\[\[}}], ["tp"], []], sum [], max []>
// CHECK: %[[FOUND:.*]] = graph.reshard %[[PARTS]] {from = #graph.sharding<{{\[\[}}], []], sum ["tp"], max []>
// CHECK: graph.mul %[[FOUND]], %[[FOUND]]
// CHECK: graph.scatter_add {{.*}}, %[[FOUND]] {{.*}}graph.factors = #graph.sharding<{{\[\[}}"tp"], [], []], sum [], max []>
graph.step @table(%i: tensor<5x1xi64> input 0, %w: tensor<64x4xf32> state @w) -> (tensor<f32> metric "loss", tensor<64x4xf32> state @w)
    of "train" training batch 5 dataset 0 {
  %found = graph.gather %w, %i {dim = 0} : (tensor<64x4xf32>, tensor<5x1xi64>) -> tensor<5x4xf32>
  %square = graph.mul %found, %found : (tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<5x4xf32>
  %loss = graph.sum %square {dims = array<i64: 0, 1>} : (tensor<5x4xf32>) -> tensor<f32>
  %dw = graph.scatter_add %i, %found {dim = 0, size = 64} : (tensor<5x1xi64>, tensor<5x4xf32>) -> tensor<64x4xf32>
  %gw = graph.gradient %dw {of = "w"} : (tensor<64x4xf32>) -> tensor<64x4xf32>
  %nw = graph.sub %w, %gw : (tensor<64x4xf32>, tensor<64x4xf32>) -> tensor<64x4xf32>
  graph.return %loss, %nw : tensor<f32>, tensor<64x4xf32>
}

// -----

// A small table is gathered: that moves less.
graph.mesh [#graph.axis<"tp" = 2>]
graph.state @w {type = tensor<8x4xf32>, role = "parameter", sharding = #graph.sharding<[["tp"], []], sum [], max []>}
// CHECK-LABEL: graph.step @small_table
// CHECK: %[[ALL:.*]] = graph.reshard
// CHECK: graph.gather %[[ALL]], %{{.*}} {dim = 0 : i64} :
graph.step @small_table(%i: tensor<5x1xi64> input 0, %w: tensor<8x4xf32> state @w) -> (tensor<f32> metric "loss")
    of "test" batch 5 dataset 0 {
  %found = graph.gather %w, %i {dim = 0} : (tensor<8x4xf32>, tensor<5x1xi64>) -> tensor<5x4xf32>
  %loss = graph.sum %found {dims = array<i64: 0, 1>} : (tensor<5x4xf32>) -> tensor<f32>
  graph.return %loss : tensor<f32>
}

// -----

// A partial sum meets a weight that is divided along its axis: it is added up, for
// the weight would have to be gathered; and so it is for the other reader, too.
graph.mesh [#graph.axis<"tp" = 2>]
graph.state @a {type = tensor<6x4xf32>, role = "parameter", sharding = #graph.sharding<[["tp"], []], sum [], max []>}
graph.state @b {type = tensor<4x6xf32>, role = "parameter", sharding = #graph.sharding<[[], ["tp"]], sum [], max []>}
// CHECK-LABEL: graph.step @meets
// CHECK: %[[Y:.*]] = graph.matmul {{.*}}graph.factors = #graph.sharding<{{\[\[}}], [], ["tp"]], sum [], max []>
// CHECK: %[[SUM:.*]] = graph.reshard %[[Y]] {from = #graph.sharding<{{\[\[}}], []], sum ["tp"], max []>
// CHECK: graph.neg %[[SUM]] :
// CHECK: graph.matmul %[[SUM]], {{.*}}graph.factors = #graph.sharding<{{\[\[}}], ["tp"], []], sum [], max []>
graph.step @meets(%x: tensor<5x6xf32> input 0, %a: tensor<6x4xf32> state @a, %b: tensor<4x6xf32> state @b) -> (tensor<f32> metric "u", tensor<f32> metric "v")
    of "test" batch 5 dataset 0 {
  %y = graph.matmul %x, %a {spec = "mk,kn->mn"} : (tensor<5x6xf32>, tensor<6x4xf32>) -> tensor<5x4xf32>
  %n = graph.neg %y : (tensor<5x4xf32>) -> tensor<5x4xf32>
  %z = graph.matmul %y, %b {spec = "mk,kn->mn"} : (tensor<5x4xf32>, tensor<4x6xf32>) -> tensor<5x6xf32>
  %u = graph.sum %n {dims = array<i64: 0, 1>} : (tensor<5x4xf32>) -> tensor<f32>
  %v = graph.sum %z {dims = array<i64: 0, 1>} : (tensor<5x6xf32>) -> tensor<f32>
  graph.return %u, %v : tensor<f32>, tensor<f32>
}

// -----

// Rows become heads, and the gradient of what is made of heads goes back to rows: as %a lay. That of a value that was
// whole stays divided.
graph.mesh [#graph.axis<"cp" = 2>] data "dp"
// CHECK-LABEL: graph.step @gradients_go_back
graph.step @gradients_go_back(%x: tensor<4x6xf32> input 0) -> (tensor<4x6xf32> metric "y", tensor<4x6xf32> metric "g") of "eval" batch 4 dataset 0 {
  %a = graph.shard %x {axes = "cp,", number = 1 : i64} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  // CHECK: graph.reshard {{.*}}from = #graph.sharding<{{\[\[}}"cp"], []], sum [], max []>, to = #graph.sharding<{{\[\[}}], ["cp"]], sum [], max []>
  %b = graph.shard %a {axes = ",cp", number = 2 : i64} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %y = graph.exp %b : (tensor<4x6xf32>) -> tensor<4x6xf32>
  // CHECK: %[[SIN:.*]] = graph.sin {{.*}}graph.factors = #graph.sharding<{{\[\[}}], ["cp"]], sum [], max []>
  %g = graph.sin %y : (tensor<4x6xf32>) -> tensor<4x6xf32>
  // CHECK: %[[ROWS:.*]] = graph.reshard %[[SIN]] {from = #graph.sharding<{{\[\[}}], ["cp"]], sum [], max []>, to = #graph.sharding<{{\[\[}}"cp"], []], sum [], max []>
  %c = graph.shard %g {axes = ",cp", back = 2 : i64} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  // CHECK: graph.cos %[[ROWS]] {graph.factors = #graph.sharding<{{\[\[}}"cp"], []], sum [], max []>
  %d = graph.cos %c : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %e = graph.shard %d {axes = "cp,", back = 1 : i64} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  // CHECK: graph.neg {{.*}}graph.factors = #graph.sharding<{{\[\[}}"cp"], []], sum [], max []>
  %f = graph.neg %e : (tensor<4x6xf32>) -> tensor<4x6xf32>
  graph.return %y, %f : tensor<4x6xf32>, tensor<4x6xf32>
}

// -----

// Two sums over ranks that are added up are one: (x + a) + (b + bias). What stands between them comes behind it.
graph.mesh [#graph.axis<"tp" = 2>] data "dp"
graph.state @a {type = tensor<6x4xf32>, role = "parameter", sharding = #graph.sharding<[["tp"], []], sum [], max []>}
graph.state @b {type = tensor<6x4xf32>, role = "parameter", sharding = #graph.sharding<[["tp"], []], sum [], max []>}
graph.state @bias {type = tensor<4xf32>, role = "parameter"}
// CHECK-LABEL: graph.step @side_by_side
graph.step @side_by_side(%x: tensor<3x4xf32> input 0, %y: tensor<3x6xf32> input 1, %a: tensor<6x4xf32> state @a, %b: tensor<6x4xf32> state @b, %bias: tensor<4xf32> state @bias)
    -> (tensor<3x4xf32> metric "s") of "eval" batch 3 dataset 0 {
  // CHECK: %[[A:.*]] = graph.matmul
  %ya = graph.matmul %y, %a {spec = "mk,kn->mn"} : (tensor<3x6xf32>, tensor<6x4xf32>) -> tensor<3x4xf32>
  %xa = graph.add %x, %ya : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  // CHECK: %[[B:.*]] = graph.matmul
  %yb = graph.matmul %y, %b {spec = "mk,kn->mn"} : (tensor<3x6xf32>, tensor<6x4xf32>) -> tensor<3x4xf32>
  // CHECK-NEXT: %[[P:.*]] = graph.add %[[A]], %[[B]] {{.*}}sum ["tp"]
  // CHECK-NEXT: %[[S:.*]] = graph.reshard %[[P]] {from = #graph.sharding<{{\[\[}}], []], sum ["tp"], max []>, to = #graph.sharding<{{\[\[}}], []], sum [], max []>}
  // CHECK-NEXT: %[[XA:.*]] = graph.add %arg0, %[[S]]
  // CHECK-NEXT: graph.add %[[XA]], %arg4
  // CHECK-NEXT: graph.return
  %bb = graph.add %yb, %bias : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  %s = graph.add %xa, %bb : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  graph.return %s : tensor<3x4xf32>
}
