// RUN: dl-opt %s --print-gradients --no-output | FileCheck %s

// CHECK-LABEL: func.func @gradient.copy(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>)
// CHECK: return %arg1
func.func @copy(%x: tensor<2xf32>) {
  %0 = graph.copy %x : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// CHECK-LABEL: func.func @gradient.transpose
// CHECK: graph.transpose %arg1 {permutation = array<i64: 1, 2, 0>}
func.func @transpose(%x: tensor<2x3x4xf32>) {
  %0 = graph.transpose %x {permutation = array<i64: 2, 0, 1>} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  return
}

// CHECK-LABEL: func.func @gradient.expand
// CHECK: graph.sum %arg1 {dims = array<i64: 0, 2>}
// CHECK: graph.reshape %{{.*}} {shape = array<i64: 3, 1>}
func.func @expand(%x: tensor<3x1xf32>) {
  %0 = graph.expand %x {shape = array<i64: 2, 3, 4>} : (tensor<3x1xf32>) -> tensor<2x3x4xf32>
  return
}

// CHECK-LABEL: func.func @gradient.pad
// CHECK: graph.slice %arg1 {offsets = array<i64: 1>, sizes = array<i64: 3>, strides = array<i64: 3>}
func.func @pad(%x: tensor<3xf32>) {
  %0 = graph.pad %x {low = array<i64: 1>, high = array<i64: 4>, interior = array<i64: 2>, value = 0.0} : (tensor<3xf32>) -> tensor<12xf32>
  return
}

// CHECK-LABEL: func.func @gradient.slice
// CHECK: graph.pad %arg1 {high = array<i64: 4>, interior = array<i64: 2>, low = array<i64: 1>, value = 0.000000e+00 : f64}
func.func @slice(%x: tensor<12xf32>) {
  %0 = graph.slice %x {offsets = array<i64: 1>, sizes = array<i64: 3>, strides = array<i64: 3>} : (tensor<12xf32>) -> tensor<3xf32>
  return
}
