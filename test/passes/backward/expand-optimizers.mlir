// RUN: dl-opt %s --expand-optimizers | FileCheck %s

// CHECK-LABEL: @momentum
// CHECK: [[MU:%.*]] = graph.full {type = tensor<f32>, value = 9.000000e-01 : f64}
// CHECK: [[KEPT:%.*]] = graph.mul %arg2, [[MU]]
// CHECK: [[BUFFER:%.*]] = graph.add [[KEPT]], %arg1
// CHECK: [[LR:%.*]] = graph.full {type = tensor<f32>, value = 1.000000e-01 : f64}
// CHECK: [[DELTA:%.*]] = graph.mul [[BUFFER]], [[LR]]
// CHECK: [[P:%.*]] = graph.sub %arg0, [[DELTA]]
// CHECK: return [[P]], [[BUFFER]]
graph.step @momentum(%p: tensor<4xf32>, %g: tensor<4xf32>, %m: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0:2 = graph.sgd %p, %g, %m {lr = 0.1, momentum = 0.9} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  graph.return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// The first buffer is the gradient, whatever the dampening.
// CHECK-LABEL: @dampening
// CHECK: [[STEP:%.*]] = graph.slice %arg0 {offsets = array<i64: 1>
// CHECK: [[FIRST:%.*]] = graph.eq [[STEP]]
// CHECK: graph.select [[FIRST]], %arg2
graph.step @dampening(%s: tensor<8xi64> scalars, %p: tensor<4xf32>, %g: tensor<4xf32>, %m: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0:2 = graph.sgd %p, %g, %m {lr = 0.1, momentum = 0.9, dampening = 0.5} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  graph.return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// The corrections are f64 and made once, from the number of the step plus one;
// rounded, they meet the elements.
// CHECK-LABEL: @adamw
// CHECK: [[STEP:%.*]] = graph.slice %arg0 {offsets = array<i64: 1>
// CHECK: [[DONE:%.*]] = graph.cast [[STEP]] {to = f64}
// CHECK: [[T:%.*]] = graph.add [[DONE]], {{.*}} -> tensor<1xf64>
// CHECK: graph.full {type = tensor<f64>, value = 9.000000e-01 : f64}
// CHECK: graph.pow {{.*}}, [[T]] : (tensor<f64>, tensor<1xf64>) -> tensor<1xf64>
// CHECK: graph.pow {{.*}}, [[T]]
// CHECK: [[SIZE:%.*]] = graph.div
// CHECK: [[ROOT:%.*]] = graph.rsqrt
// CHECK: [[SIZE32:%.*]] = graph.cast [[SIZE]] {to = f32}
// CHECK: [[ROOT32:%.*]] = graph.cast [[ROOT]] {to = f32}
// The parameter shrinks first: 1 - 0.5 * 0.5.
// CHECK: [[SHRINK:%.*]] = graph.full {type = tensor<f32>, value = 7.500000e-01 : f64}
// CHECK: graph.mul %arg1, [[SHRINK]]
// CHECK: graph.mul {{.*}}, [[ROOT32]] : (tensor<4xf32>, tensor<1xf32>)
// CHECK: graph.mul {{.*}}, [[SIZE32]] : (tensor<4xf32>, tensor<1xf32>)
graph.step @adamw(%s: tensor<8xi64> scalars, %p: tensor<4xf32>, %g: tensor<4xf32>, %m: tensor<4xf32>, %v: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0:3 = graph.adam %p, %g, %m, %v {lr = 0.5, weight_decay = 0.5, decoupled = true} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  graph.return %0#0, %0#1, %0#2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// The second of two updates in a step: t = 2 * step + 2.
// CHECK-LABEL: @second_call
// CHECK: [[TWO:%.*]] = graph.full {type = tensor<f64>, value = 2.000000e+00 : f64}
// CHECK: [[DONE:%.*]] = graph.mul {{.*}}, [[TWO]]
// CHECK: [[AFTER:%.*]] = graph.full {type = tensor<f64>, value = 2.000000e+00 : f64}
// CHECK: graph.add [[DONE]], [[AFTER]]
graph.step @second_call(%s: tensor<8xi64> scalars, %p: tensor<4xf32>, %g: tensor<4xf32>, %m: tensor<4xf32>, %v: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0:3 = graph.adam %p, %g, %m, %v {lr = 0.01, calls = 2, call = 1} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  graph.return %0#0, %0#1, %0#2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
