// RUN: dl-opt %s --print-gradients --no-output | FileCheck %s

// CHECK-LABEL: graph.step @gradient.neg(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>) -> tensor<2xf32>
// CHECK: [[DX:%.*]] = graph.neg %arg1
// CHECK: return [[DX]]
graph.step @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = graph.neg %x : (tensor<2xf32>) -> tensor<2xf32>
  graph.return %0 : tensor<2xf32>
}
