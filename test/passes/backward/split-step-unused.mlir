// A gradient that no update uses, as that of a discriminator while the
// generator learns, needs no accumulator.
// RUN: dl-opt %s --split-step | FileCheck %s

// CHECK-NOT: @accumulate.d
module attributes {graph.accumulate = 4 : i64} {
graph.state @w {type = tensor<3xf32>, role = "parameter"}
graph.state @d {type = tensor<3xf32>, role = "parameter"}
// CHECK: func.func @train(
// CHECK-SAME: -> (tensor<3xf32> {graph.state = @accumulate.w})
func.func @train(%x: tensor<3xf32> {graph.input = 0 : i64}, %s: tensor<8xi64> {graph.scalars}, %w: tensor<3xf32> {graph.state = @w}, %d: tensor<3xf32> {graph.state = @d})
    -> (tensor<3xf32> {graph.state = @w})
    attributes {graph.step = "train", graph.training, graph.batch = 16 : i64} {
  %0 = graph.mul %w, %d : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %1 = graph.sum %0 {dims = array<i64: 0>} : (tensor<3xf32>) -> tensor<f32>
  %g:2 = graph.gradients %1, %w, %d : (tensor<f32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  %w1 = graph.sgd %w, %g#0 {lr = 0.1} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %w1 : tensor<3xf32>
}
// CHECK-LABEL: func.func @train.update(
// CHECK-NOT: @accumulate.d
}
