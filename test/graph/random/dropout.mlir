// RUN: dl-opt %s --print-loop-nests --print-gradients --evaluate --no-output | FileCheck %s

// The scalars are read once, as graph.scalar; one draw for each [n, c].
// CHECK-LABEL: graph.dropout
// CHECK-NEXT: extents [2, 3, 2, 1] combine none
// CHECK-NEXT: access (d0, d1, d2, d3) -> (d0, d1, d2, d3)
// CHECK-NEXT: access (d0, d1, d2, d3) -> (0)
// CHECK: graph.scalar
// CHECK-NEXT: graph.scalar
// CHECK-NEXT: graph.scalar
// CHECK-NEXT: arith.constant
// CHECK-NEXT: graph.philox
// CHECK: arith.select

// The gradient draws the same mask again: nothing is kept.
// CHECK-LABEL: graph.step @gradient.dropout
// CHECK: [[DX:%.*]] = graph.dropout %arg2, %arg1 {channelwise = true, key = 5 : i64, p = 5.000000e-01 : f64}
// CHECK: return [[DX]] : tensor<2x3x2x1xf64>

// Whole channels are zero, the rest is doubled.
// CHECK: @f #0 f64 [2,3,2,1] [{{.*}}]
graph.step @f(%x: tensor<2x3x2x1xf64>, %s: tensor<8xi64>) -> tensor<2x3x2x1xf64> {
  %0 = graph.dropout %x, %s {p = 0.5, key = 5, channelwise = true} : (tensor<2x3x2x1xf64>, tensor<8xi64>) -> tensor<2x3x2x1xf64>
  graph.return %0 : tensor<2x3x2x1xf64>
}
