// RUN: dl-opt %s --shard-steps --verify-shardings --split-input-file | FileCheck %s

// 12 columns are 2 halves of 6: each rank has 3 of each, nothing is exchanged for that, and what lies on the other side of a product lies alike.
graph.mesh [#graph.axis<"tp" = 2>] data "dp"
// CHECK: graph.state @w {{.*}}sharding = #graph.sharding<{{\[\[}}], {{\[\[}}2], [6, "tp"]]], sum [], max []>
graph.state @w {type = tensor<4x12xf32>, role = "parameter", sharding = #graph.sharding<[[], ["tp"]], sum [], max []>}
// CHECK: graph.state @v {{.*}}sharding = #graph.sharding<{{\[\[}}"tp"], []], sum [], max []>
graph.state @v {type = tensor<6x4xf32>, role = "parameter", sharding = #graph.sharding<[["tp"], []], sum [], max []>}
// CHECK-LABEL: graph.step @halves
graph.step @halves(%x: tensor<8x4xf32> input 0, %w: tensor<4x12xf32> state @w, %v: tensor<6x4xf32> state @v) -> (tensor<8x4xf32> metric "y", tensor<8x12xf32> metric "p", tensor<8x12xf32> metric "c")
    of "eval" batch 8 dataset 0 {
  // CHECK: %[[Y:.*]] = graph.matmul {{.*}}#graph.sharding<{{\[\[}}], {{\[\[}}2], [6, "tp"]], []], sum [], max []>
  %y = graph.matmul %x, %w {spec = "mk,kn->mn"} : (tensor<8x4xf32>, tensor<4x12xf32>) -> tensor<8x12xf32>
  // CHECK-NEXT: %[[APART:.*]] = graph.reshape %[[Y]]
  // CHECK-NEXT: %[[A:.*]] = graph.slice %[[APART]] {graph.factors = #graph.sharding<{{\[\[}}], [], ["tp"]], sum [], max []>, offsets = array<i64: 0, 0, 0>, sizes = array<i64: 8, 1, 6>
  // CHECK-NEXT: graph.reshape %[[A]]
  %a = graph.slice %y {offsets = array<i64: 0, 0>, sizes = array<i64: 8, 6>, strides = array<i64: 1, 1>} : (tensor<8x12xf32>) -> tensor<8x6xf32>
  // CHECK: graph.slice {{.*}} offsets = array<i64: 0, 1, 0>, sizes = array<i64: 8, 1, 6>
  %b = graph.slice %y {offsets = array<i64: 0, 6>, sizes = array<i64: 8, 6>, strides = array<i64: 1, 1>} : (tensor<8x12xf32>) -> tensor<8x6xf32>
  %m = graph.mul %a, %b : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
  // CHECK-NOT: graph.reshard
  // CHECK: graph.pad {{.*}}high = array<i64: 0, 1, 0>, interior = array<i64: 0, 0, 0>, low = array<i64: 0, 0, 0>
  %p = graph.pad %a {low = array<i64: 0, 0>, high = array<i64: 0, 6>, interior = array<i64: 0, 0>, value = 0.0 : f64} : (tensor<8x6xf32>) -> tensor<8x12xf32>
  // CHECK: graph.cat {{.*}}dim = 1
  // CHECK-SAME: -> tensor<8x2x6xf32>
  %c = graph.cat %b, %a {dim = 1 : i64} : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x12xf32>
  // Whose dims are those of y:
  %py = graph.mul %p, %y : (tensor<8x12xf32>, tensor<8x12xf32>) -> tensor<8x12xf32>
  %cy = graph.mul %c, %y : (tensor<8x12xf32>, tensor<8x12xf32>) -> tensor<8x12xf32>
  %z = graph.matmul %m, %v {spec = "mk,kn->mn"} : (tensor<8x6xf32>, tensor<6x4xf32>) -> tensor<8x4xf32>
  graph.return %z, %py, %cy : tensor<8x4xf32>, tensor<8x12xf32>, tensor<8x12xf32>
}

// -----

// Sections of 5 do not divide among 2 ranks: blocks, as it is said. One row that is taken besides does not end those of others.
graph.mesh [#graph.axis<"tp" = 2>] data "dp"
// CHECK: graph.state @odd {{.*}}sharding = #graph.sharding<{{\[\[}}"tp"], []], sum [], max []>
graph.state @odd {type = tensor<10x4xf32>, role = "parameter", sharding = #graph.sharding<[["tp"], []], sum [], max []>}
// CHECK: graph.state @one {{.*}}sharding = #graph.sharding<{{\[\[\[}}2], [4, "tp"]], []], sum [], max []>
graph.state @one {type = tensor<8x4xf32>, role = "parameter", sharding = #graph.sharding<[["tp"], []], sum [], max []>}
// CHECK-LABEL: graph.step @blocks
graph.step @blocks(%odd: tensor<10x4xf32> state @odd, %one: tensor<8x4xf32> state @one) 
    -> (tensor<5x4xf32> metric "a", tensor<4x4xf32> metric "b", tensor<1x4xf32> metric "c", tensor<4x4xf32> metric "d", tensor<4x4xf32> metric "e") of "eval" {
  %a = graph.slice %odd {offsets = array<i64: 5, 0>, sizes = array<i64: 5, 4>, strides = array<i64: 1, 1>} : (tensor<10x4xf32>) -> tensor<5x4xf32>
  %b = graph.slice %one {offsets = array<i64: 4, 0>, sizes = array<i64: 4, 4>, strides = array<i64: 1, 1>} : (tensor<8x4xf32>) -> tensor<4x4xf32>
  %c = graph.slice %one {offsets = array<i64: 3, 0>, sizes = array<i64: 1, 4>, strides = array<i64: 1, 1>} : (tensor<8x4xf32>) -> tensor<1x4xf32>
  // CHECK: graph.slice %{{.*}} {offsets = array<i64: 1, 0>, sizes = array<i64: 4, 4>, strides = array<i64: 1, 1>}
  %d = graph.slice %one {offsets = array<i64: 1, 0>, sizes = array<i64: 4, 4>, strides = array<i64: 1, 1>} : (tensor<8x4xf32>) -> tensor<4x4xf32>
  // CHECK: graph.slice %{{.*}} {offsets = array<i64: 0, 0>, sizes = array<i64: 4, 4>, strides = array<i64: 2, 1>}
  %e = graph.slice %one {offsets = array<i64: 0, 0>, sizes = array<i64: 4, 4>, strides = array<i64: 2, 1>} : (tensor<8x4xf32>) -> tensor<4x4xf32>
  graph.return %a, %b, %c, %d, %e : tensor<5x4xf32>, tensor<4x4xf32>, tensor<1x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// Heads are those of three: of a view [3 * 4, 2], rows 4 to 8 are the second one's, 2 of them each rank's; so are those of a view [3, 4, 2].
graph.mesh [#graph.axis<"tp" = 2>] data "dp"
// CHECK: graph.state @qkv {{.*}}sharding = #graph.sharding<{{\[\[\[}}3], [8, "tp"]]], sum [], max []>
graph.state @qkv {type = tensor<24xf32>, role = "parameter", sharding = #graph.sharding<[["tp"]], sum [], max []>}
// CHECK: graph.state @five {{.*}}sharding = #graph.sharding<{{\[\[\[}}3], [8, "tp"]]], sum [], max []>
graph.state @five {type = tensor<24xf32>, role = "parameter", sharding = #graph.sharding<[["tp"]], sum [], max []>}
// CHECK-LABEL: graph.step @heads
graph.step @heads(%qkv: tensor<24xf32> state @qkv, %five: tensor<24xf32> state @five) -> (tensor<f32> metric "a", tensor<f32> metric "b") of "eval" {
  %heads = graph.reshape %qkv {shape = array<i64: 12, 2>} : (tensor<24xf32>) -> tensor<12x2xf32>
  // CHECK: graph.slice {{.*}}graph.factors = #graph.sharding<{{\[\[}}], ["tp"], []], sum [], max []>, offsets = array<i64: 1, 0, 0>, sizes = array<i64: 1, 4, 2>
  %k = graph.slice %heads {offsets = array<i64: 4, 0>, sizes = array<i64: 4, 2>, strides = array<i64: 1, 1>} : (tensor<12x2xf32>) -> tensor<4x2xf32>
  %a = graph.sum %k {dims = array<i64: 0, 1>} : (tensor<4x2xf32>) -> tensor<f32>
  %apart = graph.reshape %five {shape = array<i64: 3, 4, 2>} : (tensor<24xf32>) -> tensor<3x4x2xf32>
  // CHECK: graph.slice {{.*}}graph.factors = #graph.sharding<{{\[\[}}], ["tp"], []], sum [], max []>, offsets = array<i64: 1, 0, 0>, sizes = array<i64: 1, 4, 2>
  %five_k = graph.slice %apart {offsets = array<i64: 1, 0, 0>, sizes = array<i64: 1, 4, 2>, strides = array<i64: 1, 1, 1>} : (tensor<3x4x2xf32>) -> tensor<1x4x2xf32>
  %b = graph.sum %five_k {dims = array<i64: 0, 1, 2>} : (tensor<1x4x2xf32>) -> tensor<f32>
  // CHECK-COUNT-2: graph.reshard
  // CHECK-NOT: graph.reshard
  graph.return %a, %b : tensor<f32>, tensor<f32>
}

// -----

// Of E and 2 E the latter is two of three sections, and is taken apart again. What an evaluation looks at says nothing.
graph.mesh [#graph.axis<"tp" = 2>] data "dp"
// CHECK: graph.state @qkv {{.*}}sharding = #graph.sharding<{{\[\[\[}}3], [4, "tp"]]], sum [], max []>
graph.state @qkv {type = tensor<12xf32>, role = "parameter", sharding = #graph.sharding<[["tp"]], sum [], max []>}
// What stands behind three that are put together, too.
// CHECK: graph.state @behind {{.*}}sharding = #graph.sharding<{{\[\[\[}}3], [4, "tp"]]], sum [], max []>
graph.state @behind {type = tensor<12xf32>, role = "parameter", sharding = #graph.sharding<[["tp"]], sum [], max []>}
// CHECK-LABEL: graph.step @again
graph.step @again(%x: tensor<4xf32> input 0, %qkv: tensor<12xf32> state @qkv, %behind: tensor<12xf32> state @behind) -> (tensor<12xf32> metric "a") of "train" training batch 4 dataset 0 {
  // CHECK-NOT: graph.reshard %{{.*}}to = #graph.sharding<{{\[\[}}]], sum [], max []>} : (tensor<8xf32>)
  %q = graph.slice %qkv {offsets = array<i64: 0>, sizes = array<i64: 4>, strides = array<i64: 1>} : (tensor<12xf32>) -> tensor<4xf32>
  %kv = graph.slice %qkv {offsets = array<i64: 4>, sizes = array<i64: 8>, strides = array<i64: 1>} : (tensor<12xf32>) -> tensor<8xf32>
  // CHECK: graph.exp {{.*}}#graph.sharding<{{\[\[\[}}2], [4, "tp"]]], sum [], max []>
  %e = graph.exp %kv : (tensor<8xf32>) -> tensor<8xf32>
  %k = graph.slice %e {offsets = array<i64: 0>, sizes = array<i64: 4>, strides = array<i64: 1>} : (tensor<8xf32>) -> tensor<4xf32>
  %v = graph.slice %e {offsets = array<i64: 4>, sizes = array<i64: 4>, strides = array<i64: 1>} : (tensor<8xf32>) -> tensor<4xf32>
  %all = graph.cat %q, %v, %k {dim = 0 : i64} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<12xf32>
  // CHECK: graph.mul {{.*}}#graph.sharding<{{\[\[\[}}3], [4, "tp"]]], sum [], max []>
  %a = graph.mul %all, %behind : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
  graph.return %a : tensor<12xf32>
}
graph.step @eval(%qkv: tensor<12xf32> state @qkv) -> (tensor<2xf32> metric "a") of "eval" {
  %a = graph.slice %qkv {offsets = array<i64: 0>, sizes = array<i64: 2>, strides = array<i64: 1>} : (tensor<12xf32>) -> tensor<2xf32>
  graph.return %a : tensor<2xf32>
}

// -----

// Parts of a batch that are put together and viewed as such stay divided.
graph.mesh [#graph.axis<"dp" = 2>] data "dp"
// CHECK-LABEL: graph.step @parts
graph.step @parts(%x: tensor<4x6xf32> input 0) -> (tensor<4x12xf32> metric "a") of "eval" batch 4 dataset 0 {
  %e = graph.exp %x : (tensor<4x6xf32>) -> tensor<4x6xf32>
  // CHECK: graph.cat {{.*}}dim = 0
  // CHECK-SAME: graph.factors = #graph.sharding<{{\[\[}}], ["dp"], []], sum [], max []>
  // CHECK-SAME: -> tensor<2x4x6xf32>
  %c = graph.cat %e, %x {dim = 0 : i64} : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %v = graph.reshape %c {shape = array<i64: 2, 4, 6>} : (tensor<8x6xf32>) -> tensor<2x4x6xf32>
  %t = graph.transpose %v {permutation = array<i64: 1, 0, 2>} : (tensor<2x4x6xf32>) -> tensor<4x2x6xf32>
  %a = graph.reshape %t {shape = array<i64: 4, 12>} : (tensor<4x2x6xf32>) -> tensor<4x12xf32>
  graph.return %a : tensor<4x12xf32>
}
