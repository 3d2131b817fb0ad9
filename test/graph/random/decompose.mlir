// RUN: dl-opt %s --decompose | FileCheck %s

// One draw for each channel, wherever the part lies in the whole.
// CHECK-LABEL: @channels
// CHECK: [[ONES:%.*]] = graph.full {type = tensor<2x3x1x1xf32>, value = 1.000000e+00 : f64}
// CHECK: [[MASK:%.*]] = graph.dropout [[ONES]], %arg1 {channelwise = true, extents = array<i64: 8, 3, 1, 1>, key = 5 : i64, offset = array<i64: 4, 0, 0, 0>, p = 5.000000e-01 : f64}
// CHECK: graph.mul %arg0, [[MASK]]
graph.step @channels(%x: tensor<2x3x4x2xf32>, %s: tensor<8xi64>) -> tensor<2x3x4x2xf32> {
  %0 = graph.dropout %x, %s {p = 0.5, key = 5, channelwise = true, offset = array<i64: 4, 0, 0, 0>, extents = array<i64: 8, 3, 4, 2>} : (tensor<2x3x4x2xf32>, tensor<8xi64>) -> tensor<2x3x4x2xf32>
  graph.return %0 : tensor<2x3x4x2xf32>
}

// CHECK-LABEL: @elements
// CHECK-NEXT: graph.dropout
// CHECK-NEXT: return
graph.step @elements(%x: tensor<2x3xf32>, %s: tensor<8xi64>) -> tensor<2x3xf32> {
  %0 = graph.dropout %x, %s {p = 0.5, key = 5} : (tensor<2x3xf32>, tensor<8xi64>) -> tensor<2x3xf32>
  graph.return %0 : tensor<2x3xf32>
}
