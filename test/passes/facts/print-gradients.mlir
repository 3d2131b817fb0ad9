// RUN: dl-opt %s --print-gradients --no-output | FileCheck %s

// CHECK-LABEL: func.func @gradient.neg(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>) -> tensor<2xf32>
// CHECK: [[DX:%.*]] = graph.neg %arg1
// CHECK: return [[DX]]
func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = graph.neg %x : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
