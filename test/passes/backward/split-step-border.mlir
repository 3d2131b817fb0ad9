// With one micro-batch an update the border is drawn, and nothing is cut.
// RUN: dl-opt %s --split-step | FileCheck %s

// CHECK-NOT: accumulator
graph.program "gan.dl" dtype f32 accumulate 1
graph.state @w {type = tensor<3xf32>, role = "parameter"}

// The second loss depends on the weight that the first gradient made; the one
// that nothing reads crosses nothing.
// CHECK-LABEL: graph.step @train(
// CHECK-NOT: micro
// CHECK: [[L:%.*]] = graph.sum
// CHECK-NEXT: [[A:%.*]]:2 = graph.gradients [[L]], [[W:%.*]], [[X:%.*]] :
// CHECK-NEXT: [[G:%.*]] = graph.gradient [[A]]#0 {of = "w"}
// CHECK-NEXT: [[W1:%.*]] = graph.sgd [[W]], [[G]]
// CHECK-NEXT: [[L1:%.*]] = graph.sum [[W1]]
// CHECK-NEXT: [[B:%.*]] = graph.gradients [[L1]], [[W1]]
// CHECK-NEXT: [[H:%.*]] = graph.gradient [[B]] {of = ""}
// CHECK-NEXT: [[W2:%.*]] = graph.sgd [[W1]], [[H]]
// CHECK-NEXT: graph.return [[G]], [[W2]]
// CHECK-NOT: graph.step
graph.step @train(%x: tensor<3xf32> input 0, %w: tensor<3xf32> state @w)
    -> (tensor<3xf32> metric "gradient", tensor<3xf32> state @w) of "train" training batch 3 {
  %0 = graph.mul %w, %x : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %1 = graph.sum %0 {dims = array<i64: 0>} : (tensor<3xf32>) -> tensor<f32>
  %g:2 = graph.gradients %1, %w, %x : (tensor<f32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  %w1 = graph.sgd %w, %g#0 {lr = 0.1} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %2 = graph.sum %w1 {dims = array<i64: 0>} : (tensor<3xf32>) -> tensor<f32>
  %h = graph.gradients %2, %w1 : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  %w2 = graph.sgd %w1, %h {lr = 0.1} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  graph.return %g#0, %w2 : tensor<3xf32>, tensor<3xf32>
}
