// RUN: dl-opt %s --split-step | FileCheck %s

module {
graph.program "net.dl" dtype f32 accumulate 4
// CHECK: graph.state @w
// CHECK-NEXT: graph.state @accumulate.w {init = {kind = "zero"}, of = "w", role = "accumulator", type = tensor<3xf32>}
graph.state @w {type = tensor<3xf32>, role = "parameter"}

// The loss and what leads to it stay; gradients are added.
// CHECK-LABEL: graph.step @train(
// CHECK-SAME: [[X:%[^:]*]]: tensor<3xf32> input 0, [[S:%[^:]*]]: tensor<8xi64> scalars, [[W:%[^:]*]]: tensor<3xf32> state @w, [[ACC:%[^:]*]]: tensor<3xf32> state @accumulate.w)
// CHECK-SAME: -> (tensor<f32> metric "loss", tensor<3xf32> state @accumulate.w)
// CHECK: [[LOSS:%.*]] = graph.sum
// CHECK: [[MADE:%.*]] = graph.gradients
// CHECK: [[G:%.*]] = graph.gradient [[MADE]] {of = "w"}
// CHECK: [[N:%.*]] = graph.full {type = tensor<f32>, value = 1.600000e+01 : f64}
// CHECK: [[WEIGHTED:%.*]] = graph.mul [[G]], [[N]]
// CHECK: [[MICRO:%.*]] = graph.slice [[S]] {offsets = array<i64: 2>
// CHECK: [[FIRST:%.*]] = graph.eq [[MICRO]]
// CHECK: [[SUM:%.*]] = graph.add [[ACC]], [[WEIGHTED]]
// CHECK: [[NEW:%.*]] = graph.select [[FIRST]], [[WEIGHTED]], [[SUM]]
// CHECK: return [[LOSS]], [[NEW]]

// The update sees the mean over the group, also as a metric.
// CHECK-LABEL: graph.step @train.update(
// CHECK-SAME: [[S:%[^:]*]]: tensor<8xi64> scalars, [[ACC:%[^:]*]]: tensor<3xf32> state @accumulate.w, [[W:%[^:]*]]: tensor<3xf32> state @w)
// CHECK-SAME: -> (tensor<3xf32> metric "grad", tensor<3xf32> state @w)
// CHECK-SAME: update of "train" training {
// CHECK: [[ITEMS:%.*]] = graph.slice [[S]] {offsets = array<i64: 3>
// CHECK: [[COUNT:%.*]] = graph.cast [[ITEMS]]
// CHECK: [[MEAN:%.*]] = graph.div [[ACC]], [[COUNT]]
// CHECK: [[UPDATED:%.*]] = graph.sgd [[W]], [[MEAN]]
// CHECK: return [[MEAN]], [[UPDATED]]
graph.step @train(%x: tensor<3xf32> input 0, %s: tensor<8xi64> scalars, %w: tensor<3xf32> state @w)
    -> (tensor<f32> metric "loss", tensor<3xf32> metric "grad", tensor<3xf32> state @w)
    of "train" training batch 16 {
  %0 = graph.mul %w, %x : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %1 = graph.sum %0 {dims = array<i64: 0>} : (tensor<3xf32>) -> tensor<f32>
  %g = graph.gradients %1, %w : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  %w1 = graph.sgd %w, %g {lr = 0.1} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  graph.return %1, %g, %w1 : tensor<f32>, tensor<3xf32>, tensor<3xf32>
}

// Evaluation has no update.
// CHECK-LABEL: graph.step @eval.test
// CHECK-NOT: graph.update
graph.step @eval.test(%x: tensor<3xf32> input 0, %w: tensor<3xf32> state @w) -> (tensor<3xf32> metric "y")
    of "eval.test" batch 16 {
  %0 = graph.mul %w, %x : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  graph.return %0 : tensor<3xf32>
}
}
