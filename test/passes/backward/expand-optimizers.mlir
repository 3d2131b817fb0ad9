// RUN: dl-opt %s --expand-optimizers | FileCheck %s

// CHECK-LABEL: @momentum
// CHECK: [[MU:%.*]] = graph.full {type = tensor<f32>, value = 9.000000e-01 : f64}
// CHECK: [[KEPT:%.*]] = graph.mul %arg2, [[MU]]
// CHECK: [[BUFFER:%.*]] = graph.add [[KEPT]], %arg1
// CHECK: [[LR:%.*]] = graph.full {type = tensor<f32>, value = 1.000000e-01 : f64}
// CHECK: [[DELTA:%.*]] = graph.mul [[BUFFER]], [[LR]]
// CHECK: [[P:%.*]] = graph.sub %arg0, [[DELTA]]
// CHECK: return [[P]], [[BUFFER]]
func.func @momentum(%p: tensor<4xf32>, %g: tensor<4xf32>, %m: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0:2 = graph.sgd %p, %g, %m {lr = 0.1, momentum = 0.9} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// The first buffer is the gradient, whatever the dampening.
// CHECK-LABEL: @dampening
// CHECK: [[STEP:%.*]] = graph.slice %arg0 {offsets = array<i64: 1>
// CHECK: [[FIRST:%.*]] = graph.eq [[STEP]]
// CHECK: graph.select [[FIRST]], %arg2
func.func @dampening(%s: tensor<8xi64> {graph.scalars}, %p: tensor<4xf32>, %g: tensor<4xf32>, %m: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0:2 = graph.sgd %p, %g, %m {lr = 0.1, momentum = 0.9, dampening = 0.5} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}
