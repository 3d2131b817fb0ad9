// RUN: dl-opt %s --partition-steps --split-input-file | FileCheck %s

// Seven rows are four and three: two classes of ranks. A sum is an exchange of parts, a
// sum over them and a gather.
graph.mesh [#graph.axis<"dp" = 2>] data "dp"
graph.state @w {type = tensor<7xf32>, role = "parameter"}
graph.step @sum(%x: tensor<7x7xf32> input 0, %w: tensor<7xf32> state @w) -> (tensor<7xf32> state @w)
    of "sum" batch 7 dataset 0 attributes {graph.batch_axes = ["dp"]} {
  %s = graph.sum %x {dims = array<i64: 0>, graph.factors = #graph.sharding<[[], ["dp"]], sum [], max []>} : (tensor<7x7xf32>) -> tensor<7xf32>
  %p = graph.reshard %s {from = #graph.sharding<[[]], sum ["dp"], max []>, to = #graph.sharding<[["dp"]], sum [], max []>} : (tensor<7xf32>) -> tensor<7xf32>
  %a = graph.reshard %p {from = #graph.sharding<[["dp"]], sum [], max []>, to = #graph.sharding<[[]], sum [], max []>} : (tensor<7xf32>) -> tensor<7xf32>
  graph.return %a : tensor<7xf32>
}
// CHECK: module attributes {graph.ranks = array<i64: 0>}
// CHECK: graph.step @sum(%{{.*}}: tensor<4x7xf32> input 0
// CHECK: %[[S:.*]] = graph.sum %{{.*}} : (tensor<4x7xf32>) -> tensor<7xf32>
// CHECK: %[[X:.*]] = graph.all_to_all %[[S]] over ["dp"] sends [4, 3] receives [4, 4] order {{[0-9]+}} : tensor<7xf32> -> tensor<8xf32>
// CHECK: %[[R:.*]] = graph.reshape %[[X]] {shape = array<i64: 2, 4>}
// CHECK: %[[P:.*]] = graph.sum %[[R]] {dims = array<i64: 0>}
// CHECK: graph.all_gather %[[P]] over ["dp"] rows [4, 3] order {{[0-9]+}} : (tensor<4xf32>) -> tensor<7xf32>
// CHECK: module attributes {graph.ranks = array<i64: 1>}
// CHECK: graph.step @sum(%{{.*}}: tensor<3x7xf32> input 0
// CHECK: graph.all_to_all %{{.*}} over ["dp"] sends [4, 3] receives [3, 3] order {{[0-9]+}} : tensor<7xf32> -> tensor<6xf32>
// CHECK: graph.all_gather %{{.*}} over ["dp"] rows [4, 3] order {{[0-9]+}} : (tensor<3xf32>) -> tensor<7xf32>

// -----

// Of two ranks each adds what the other one has to its own.
graph.mesh [#graph.axis<"dp" = 2>] data "dp"
graph.step @both(%x: tensor<4x7xf32> input 0) -> (tensor<7xf32>, tensor<f32>)
    of "both" batch 4 dataset 0 attributes {graph.batch_axes = ["dp"]} {
  %s = graph.sum %x {dims = array<i64: 0>, graph.factors = #graph.sharding<[[], ["dp"]], sum [], max []>} : (tensor<4x7xf32>) -> tensor<7xf32>
  %a = graph.reshard %s {from = #graph.sharding<[[]], sum ["dp"], max []>, to = #graph.sharding<[[]], sum [], max []>} : (tensor<7xf32>) -> tensor<7xf32>
  %m = graph.amax %x {dims = array<i64: 0, 1>, graph.factors = #graph.sharding<[["dp"], []], sum [], max []>} : (tensor<4x7xf32>) -> tensor<f32>
  %b = graph.reshard %m {from = #graph.sharding<[], sum [], max ["dp"]>, to = #graph.sharding<[], sum [], max []>} : (tensor<f32>) -> tensor<f32>
  graph.return %a, %b : tensor<7xf32>, tensor<f32>
}
// CHECK-LABEL: @both
// CHECK: %[[S:.*]] = graph.sum
// CHECK: %[[O:.*]] = graph.all_to_all %[[S]] over ["dp"] relative sends [0, 7] receives [0, 7] order {{[0-9]+}} : tensor<7xf32> -> tensor<7xf32>
// CHECK: graph.add %[[S]], %[[O]]
// CHECK: %[[M:.*]] = graph.reshape %[[N:.*]] {shape = array<i64: 1>}
// CHECK: %[[P:.*]] = graph.all_to_all %[[M]] over ["dp"] relative sends [0, 1] receives [0, 1]
// CHECK: %[[Q:.*]] = graph.reshape %[[P]] {shape = array<i64>}
// CHECK: graph.maximum %[[N]], %[[Q]]

// -----

// An axis that divides another dim from here on: each sends the other its half of that dim, which stands behind its own.
// Of five rows parts are not equal: they are gathered, and cut.
graph.mesh [#graph.axis<"cp" = 2>] data "dp"
graph.step @heads(%x: tensor<4x6x2xf32> input 0, %odd: tensor<5x6xf32> input 1) -> (tensor<4x6x2xf32>, tensor<5x6xf32>) of "heads" batch 1 dataset 0 {
  %a = graph.reshard %x {from = #graph.sharding<[[], [], []], sum [], max []>, to = #graph.sharding<[["cp"], [], []], sum [], max []>} : (tensor<4x6x2xf32>) -> tensor<4x6x2xf32>
  %b = graph.reshard %a {from = #graph.sharding<[["cp"], [], []], sum [], max []>, to = #graph.sharding<[[], ["cp"], []], sum [], max []>} : (tensor<4x6x2xf32>) -> tensor<4x6x2xf32>
  %c = graph.reshard %b {from = #graph.sharding<[[], ["cp"], []], sum [], max []>, to = #graph.sharding<[[], [], []], sum [], max []>} : (tensor<4x6x2xf32>) -> tensor<4x6x2xf32>
  %d = graph.reshard %odd {from = #graph.sharding<[[], []], sum [], max []>, to = #graph.sharding<[["cp"], []], sum [], max []>} : (tensor<5x6xf32>) -> tensor<5x6xf32>
  %e = graph.reshard %d {from = #graph.sharding<[["cp"], []], sum [], max []>, to = #graph.sharding<[[], ["cp"]], sum [], max []>} : (tensor<5x6xf32>) -> tensor<5x6xf32>
  %f = graph.reshard %e {from = #graph.sharding<[[], ["cp"]], sum [], max []>, to = #graph.sharding<[[], []], sum [], max []>} : (tensor<5x6xf32>) -> tensor<5x6xf32>
  graph.return %c, %f : tensor<4x6x2xf32>, tensor<5x6xf32>
}
// CHECK-LABEL: @heads
// CHECK: %[[A:.*]] = graph.slice %{{.*}} -> tensor<2x6x2xf32>
// CHECK: %[[ROWS:.*]] = graph.transpose %[[A]] {permutation = array<i64: 1, 0, 2>}
// CHECK: %[[SENT:.*]] = graph.all_to_all %[[ROWS]] over ["cp"] sends [3, 3] receives [3, 3] order {{[0-9]+}} : tensor<6x2x2xf32> -> tensor<6x2x2xf32>
// CHECK: %[[APART:.*]] = graph.reshape %[[SENT]] {shape = array<i64: 2, 3, 2, 2>}
// CHECK: %[[BACK:.*]] = graph.transpose %[[APART]] {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x3x2x2xf32>) -> tensor<2x2x3x2xf32>
// CHECK: graph.reshape %[[BACK]] {shape = array<i64: 4, 3, 2>}
// CHECK: graph.all_gather
// CHECK: graph.all_gather %{{.*}} over ["cp"] rows [3, 2]
// CHECK: graph.slice %{{.*}} -> tensor<5x3xf32>

// -----

// What ranks of a class differ in are numbers of launches.
graph.mesh [#graph.axis<"dp" = 2>, #graph.axis<"tp" = 3>] data "dp"
graph.step @slice(%x: tensor<6xf32>) -> (tensor<6xf32>) {
  %s = graph.reshard %x {from = #graph.sharding<[[]], sum [], max []>, to = #graph.sharding<[["dp", "tp"]], sum [], max []>} : (tensor<6xf32>) -> tensor<6xf32>
  %a = graph.reshard %s {from = #graph.sharding<[["dp", "tp"]], sum [], max []>, to = #graph.sharding<[["dp"]], sum [], max []>} : (tensor<6xf32>) -> tensor<6xf32>
  %b = graph.reshard %a {from = #graph.sharding<[["dp"]], sum [], max []>, to = #graph.sharding<[[]], sum [], max []>} : (tensor<6xf32>) -> tensor<6xf32>
  graph.return %b : tensor<6xf32>
}
// CHECK: module attributes {graph.ranks = array<i64: 0, 1, 2, 3, 4, 5>}
// CHECK: graph.slice %{{.*}} {graph.rank_steps = {offsets = array<i64: 3, 1>}, offsets = array<i64: 0>, sizes = array<i64: 1>, strides = array<i64: 1>}
// CHECK: graph.all_gather %{{.*}} over ["tp"] rows [1, 1, 1] order {{[0-9]+}} : (tensor<1xf32>) -> tensor<3xf32>
// CHECK: graph.all_gather %{{.*}} over ["dp"] rows [3, 3] order {{[0-9]+}} : (tensor<3xf32>) -> tensor<6xf32>
// CHECK-NOT: graph.ranks
