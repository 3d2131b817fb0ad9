// RUN: dl-opt %s --print-loop-nests --evaluate --no-output | FileCheck %s

// CHECK-LABEL: graph.max_pool2d
// CHECK-NEXT: extents [1, 1, 2, 2 | 2, 2] combine max value index
// CHECK-NEXT: access (d0, d1, d2, d3, d4, d5) -> (d0, d1, d2 * 2 + d4, d3 * 2 + d5)

// Padding is never a maximum.
// CHECK-LABEL: graph.max_pool2d
// CHECK-NEXT: extents [1, 1, 2, 2 | 3, 3] combine max value index
// CHECK-NEXT: access (d0, d1, d2, d3, d4, d5) -> (d0, d1, d2 * 2 + d4 - 1, d3 * 2 + d5 - 1) outside -INF

// Windows that do not overlap: one window for each element, no sum.
// CHECK-LABEL: graph.max_pool2d_grad
// CHECK-NEXT: extents [1, 1, 4, 4] combine none
// CHECK-NEXT: access (d0, d1, d2, d3) -> (d0, d1, d2 floordiv 2, d3 floordiv 2) outside 0

// CHECK-LABEL: graph.max_pool2d_grad
// CHECK-NEXT: extents [1, 1, 4, 4 | 2, 2] combine sum
// CHECK-NEXT: access (d0, d1, d2, d3, d4, d5) -> (d0, d1, (d2 + 1) floordiv 2 - d4, (d3 + 1) floordiv 2 - d5) outside 0

// CHECK: @f #0 f64 [1,1,2,2] [1.5, 2, 3.5, 4]
// CHECK: @f #1 u8 [1,1,2,2] [3, 3, 3, 3]
// CHECK: @f #2 f64 [1,1,4,4] [0, 0, 0, 0, 0, 1.5, 0, 2, 0, 0, 0, 0, 0, 3.5, 0, 4]
graph.step @f(%x: tensor<1x1x4x4xf64>) -> (tensor<1x1x2x2xf64>, tensor<1x1x2x2xui8>, tensor<1x1x4x4xf64>) {
  %0:2 = graph.max_pool2d %x {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<1x1x4x4xf64>) -> (tensor<1x1x2x2xf64>, tensor<1x1x2x2xui8>)
  %1:2 = graph.max_pool2d %x {kernel = array<i64: 3, 3>, stride = array<i64: 2, 2>, padding = array<i64: 1, 1>} : (tensor<1x1x4x4xf64>) -> (tensor<1x1x2x2xf64>, tensor<1x1x2x2xui8>)
  %2 = graph.max_pool2d_grad %0#0, %0#1 {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>, input_shape = array<i64: 1, 1, 4, 4>} : (tensor<1x1x2x2xf64>, tensor<1x1x2x2xui8>) -> tensor<1x1x4x4xf64>
  %3 = graph.max_pool2d_grad %1#0, %1#1 {kernel = array<i64: 3, 3>, stride = array<i64: 2, 2>, padding = array<i64: 1, 1>, input_shape = array<i64: 1, 1, 4, 4>} : (tensor<1x1x2x2xf64>, tensor<1x1x2x2xui8>) -> tensor<1x1x4x4xf64>
  graph.return %0#0, %0#1, %2 : tensor<1x1x2x2xf64>, tensor<1x1x2x2xui8>, tensor<1x1x4x4xf64>
}
