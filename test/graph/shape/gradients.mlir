// RUN: dl-opt %s --print-gradients --no-output | FileCheck %s

// CHECK-LABEL: graph.step @gradient.copy(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>)
// CHECK: return %arg1
graph.step @copy(%x: tensor<2xf32>) {
  %0 = graph.copy %x : (tensor<2xf32>) -> tensor<2xf32>
  graph.return
}

// CHECK-LABEL: graph.step @gradient.transpose
// CHECK: graph.transpose %arg1 {permutation = array<i64: 1, 2, 0>}
graph.step @transpose(%x: tensor<2x3x4xf32>) {
  %0 = graph.transpose %x {permutation = array<i64: 2, 0, 1>} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  graph.return
}

// CHECK-LABEL: graph.step @gradient.expand
// CHECK: graph.sum %arg1 {dims = array<i64: 0, 2>}
// CHECK: graph.reshape %{{.*}} {shape = array<i64: 3, 1>}
graph.step @expand(%x: tensor<3x1xf32>) {
  %0 = graph.expand %x {shape = array<i64: 2, 3, 4>} : (tensor<3x1xf32>) -> tensor<2x3x4xf32>
  graph.return
}

// CHECK-LABEL: graph.step @gradient.pad
// CHECK: graph.slice %arg1 {offsets = array<i64: 1>, sizes = array<i64: 3>, strides = array<i64: 3>}
graph.step @pad(%x: tensor<3xf32>) {
  %0 = graph.pad %x {low = array<i64: 1>, high = array<i64: 4>, interior = array<i64: 2>, value = 0.0} : (tensor<3xf32>) -> tensor<12xf32>
  graph.return
}

// CHECK-LABEL: graph.step @gradient.slice
// CHECK: graph.pad %arg1 {high = array<i64: 4>, interior = array<i64: 2>, low = array<i64: 1>, value = 0.000000e+00 : f64}
graph.step @slice(%x: tensor<12xf32>) {
  %0 = graph.slice %x {offsets = array<i64: 1>, sizes = array<i64: 3>, strides = array<i64: 3>} : (tensor<12xf32>) -> tensor<3xf32>
  graph.return
}
