// A gradient that no update uses, as that of a discriminator while the
// generator learns, needs no accumulator.
// RUN: dl-opt %s --split-step | FileCheck %s

// CHECK-NOT: @accumulate.d
module {
graph.program "net.dl" dtype f32 accumulate 4
graph.state @w {type = tensor<3xf32>, role = "parameter"}
graph.state @d {type = tensor<3xf32>, role = "parameter"}
// CHECK: graph.step @train(
// CHECK-SAME: -> (tensor<3xf32> state @accumulate.w)
graph.step @train(%x: tensor<3xf32> input 0, %s: tensor<8xi64> scalars, %w: tensor<3xf32> state @w, %d: tensor<3xf32> state @d)
    -> (tensor<3xf32> state @w)
    of "train" training batch 16 {
  %0 = graph.mul %w, %d : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %1 = graph.sum %0 {dims = array<i64: 0>} : (tensor<3xf32>) -> tensor<f32>
  %g:2 = graph.gradients %1, %w, %d : (tensor<f32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  %w1 = graph.sgd %w, %g#0 {lr = 0.1} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  graph.return %w1 : tensor<3xf32>
}
// CHECK-LABEL: graph.step @train.update(
// CHECK-NOT: @accumulate.d
}
