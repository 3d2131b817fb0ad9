// What full batches leave over runs item by item, if the rules of the ops allow it.
// RUN: dl-opt %s --separate-items | FileCheck %s

module {
graph.program "net.dl" dtype f32 accumulate 1
// CHECK: graph.state @items.test.0 {{.*}}role = "accumulator"{{.*}}type = tensor<f32>
graph.state @w {type = tensor<3xf32>, role = "parameter"}

// The mean: the number that goes with the batch follows from the items.
// CHECK: graph.step @eval.test(
// CHECK-NOT: batch_power
// CHECK: graph.step @eval.test.item(%[[X:.*]]: tensor<1x3xf32> input 0, %[[W:.*]]: tensor<3xf32> state @w, %[[BEFORE:.*]]: tensor<f32> state @items.test.0, %[[S:.*]]: tensor<8xi64> scalars)
// CHECK-SAME: -> (tensor<f32> state @items.test.0) of "test" batch 1 dataset 0 attributes {graph.for_item}
// CHECK: %[[OWN:.*]] = graph.sum
// CHECK: %[[PLACE:.*]] = graph.slice %[[S]] {offsets = array<i64: 5>
// CHECK: graph.add %[[BEFORE]], %[[OWN]]
// CHECK: graph.select
// CHECK: graph.step @eval.test.update(%[[SUM:.*]]: tensor<f32> state @items.test.0, %[[T:.*]]: tensor<8xi64> scalars) -> (tensor<f32> metric "loss") update of "test"
// CHECK: graph.slice %[[T]] {offsets = array<i64: 3>
// CHECK: graph.div
// CHECK: graph.mul %[[SUM]]
graph.step @eval.test(%x: tensor<4x3xf32> input 0, %s: tensor<8xi64> scalars, %w: tensor<3xf32> state @w)
    -> (tensor<f32> metric "loss") of "test" batch 4 dataset 0 attributes {graph.batch_marked} {
  %0 = graph.mul %x, %w : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  %1 = graph.sum %0 {dims = array<i64: 0, 1>} : (tensor<4x3xf32>) -> tensor<f32>
  %2 = graph.full {value = 0.25, type = tensor<f32>, graph.batch_power = -1 : i64} : () -> tensor<f32>
  %3 = graph.mul %1, %2 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  graph.return %3 : tensor<f32>
}

// A prediction's rows.
// CHECK: graph.step @predict.out.item(%{{.*}}: tensor<1x3xf32> input 0) -> (tensor<1xf32> metric "out")
// CHECK-NOT: predict.out.update
graph.step @predict.out(%x: tensor<4x3xf32> input 0, %s: tensor<8xi64> scalars)
    -> (tensor<4xf32> metric "out") of "out" batch 4 dataset 0 attributes {graph.batch_marked, graph.predicts} {
  %0 = graph.sum %x {dims = array<i64: 1>} : (tensor<4x3xf32>) -> tensor<4xf32>
  graph.return %0 : tensor<4xf32>
}

// Batch statistics.
// CHECK: graph.step @eval.norm({{.*}}graph.mixes = "`sub` at {{.*}} needs all items of a batch to compute each of them"
// CHECK-NOT: eval.norm.item
graph.step @eval.norm(%x: tensor<4xf32> input 0, %s: tensor<8xi64> scalars)
    -> (tensor<f32> metric "loss") of "norm" batch 4 dataset 0 attributes {graph.batch_marked} {
  %0 = graph.sum %x {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  %1 = graph.sub %x, %0 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = graph.sum %1 {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  graph.return %2 : tensor<f32>
}

// Each item with each other.
// CHECK: graph.step @eval.pairs({{.*}}graph.mixes = "`matmul` at {{.*}} brings items of a batch together"
graph.step @eval.pairs(%x: tensor<4x3xf32> input 0, %s: tensor<8xi64> scalars)
    -> (tensor<f32> metric "loss") of "pairs" batch 4 dataset 0 attributes {graph.batch_marked} {
  %0 = graph.matmul %x, %x {spec = "mk,nk->mn"} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x4xf32>
  %1 = graph.sum %0 {dims = array<i64: 0, 1>} : (tensor<4x4xf32>) -> tensor<f32>
  graph.return %1 : tensor<f32>
}

// Where an item stands.
// CHECK: graph.step @eval.places({{.*}}graph.mixes = "`iota` at {{.*}} depends on the places of items in their batch"
graph.step @eval.places(%x: tensor<4xf32> input 0, %s: tensor<8xi64> scalars)
    -> (tensor<f32> metric "loss") of "places" batch 4 dataset 0 attributes {graph.batch_marked} {
  %0 = graph.iota {dim = 0 : i64, type = tensor<4xf32>, graph.batch_dim = 0 : i64} : () -> tensor<4xf32>
  %1 = graph.mul %x, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.sum %1 {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  graph.return %2 : tensor<f32>
}

// A sum that is repeated for each item.
// CHECK: graph.step @eval.again({{.*}}graph.mixes = "`expand` at {{.*}} needs all items of a batch to compute each of them"
graph.step @eval.again(%x: tensor<4xf32> input 0, %s: tensor<8xi64> scalars)
    -> (tensor<f32> metric "loss") of "again" batch 4 dataset 0 attributes {graph.batch_marked} {
  %0 = graph.sum %x {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  %1 = graph.expand %0 {shape = array<i64: 4>, graph.batch_dim = 0 : i64} : (tensor<f32>) -> tensor<4xf32>
  %2 = graph.sum %1 {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  graph.return %2 : tensor<f32>
}

// A gradient by what items share.
// CHECK: graph.step @eval.slope({{.*}}graph.mixes = "`gradients` at {{.*}} is of all items of a batch together"
// CHECK-NOT: eval.slope.item
graph.step @eval.slope(%x: tensor<4x3xf32> input 0, %w: tensor<3xf32> state @w, %s: tensor<8xi64> scalars)
    -> (tensor<f32> metric "slope") of "slope" batch 4 dataset 0 attributes {graph.batch_marked} {
  %0 = graph.mul %x, %w : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  %1 = graph.sum %0 {dims = array<i64: 0, 1>} : (tensor<4x3xf32>) -> tensor<f32>
  %2 = graph.gradients %1, %w {within_step = true} : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  %3 = graph.sum %2 {dims = array<i64: 0>} : (tensor<3xf32>) -> tensor<f32>
  graph.return %3 : tensor<f32>
}
}
