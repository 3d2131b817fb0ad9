// RUN: dl-opt %s --print-loop-nests --evaluate --no-output | FileCheck %s
// RUN: dl-opt %s --print-gradients --no-output | FileCheck %s --check-prefix=GRAD

// CHECK-LABEL: graph.sum_pool2d
// CHECK-NEXT: extents [1, 1, 2, 2 | 2, 2] combine sum
// CHECK-NEXT: access (d0, d1, d2, d3, d4, d5) -> (d0, d1, d2 * 2 + d4, d3 * 2 + d5){{$}}

// The last window of each row leaves the input: ceil_mode.
// CHECK-LABEL: graph.sum_pool2d
// CHECK-NEXT: extents [1, 1, 2, 2 | 3, 2] combine sum
// CHECK-NEXT: access (d0, d1, d2, d3, d4, d5) -> (d0, d1, d2 * 2 + d4, d3 * 3 + d5) outside 0

// CHECK-LABEL: graph.sum_pool2d_grad
// CHECK-NEXT: extents [1, 1, 4, 4] combine none
// CHECK-NEXT: access (d0, d1, d2, d3) -> (d0, d1, d2 floordiv 2, d3 floordiv 2) outside 0

// CHECK: @f #0 f64 [1,1,2,2] [4, 4, 4, 4]
// CHECK: @f #1 f64 [1,1,2,2] [6, 3, 4, 2]
// CHECK: @f #2 f64 [1,1,4,4] [4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4]

// GRAD-LABEL: graph.step @gradient.sum_pool2d(
// GRAD: graph.sum_pool2d_grad %arg1 {input_shape = array<i64: 1, 1, 4, 4>, kernel = array<i64: 2, 2>, padding = array<i64: 0, 0>, stride = array<i64: 2, 2>}
// GRAD-LABEL: graph.step @gradient.sum_pool2d(
// GRAD: graph.sum_pool2d_grad %arg1 {ceil_mode = true, input_shape
// GRAD-LABEL: graph.step @gradient.sum_pool2d_grad(
// GRAD: graph.sum_pool2d %arg1 {kernel = array<i64: 2, 2>
graph.step @f() -> (tensor<1x1x2x2xf64>, tensor<1x1x2x2xf64>, tensor<1x1x4x4xf64>) {
  %x = graph.full {value = 1.0, type = tensor<1x1x4x4xf64>} : () -> tensor<1x1x4x4xf64>
  %0 = graph.sum_pool2d %x {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<1x1x4x4xf64>) -> tensor<1x1x2x2xf64>
  %1 = graph.sum_pool2d %x {kernel = array<i64: 3, 2>, stride = array<i64: 2, 3>, padding = array<i64: 0, 0>, ceil_mode = true} : (tensor<1x1x4x4xf64>) -> tensor<1x1x2x2xf64>
  %2 = graph.sum_pool2d_grad %0 {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>, input_shape = array<i64: 1, 1, 4, 4>} : (tensor<1x1x2x2xf64>) -> tensor<1x1x4x4xf64>
  graph.return %0, %1, %2 : tensor<1x1x2x2xf64>, tensor<1x1x2x2xf64>, tensor<1x1x4x4xf64>
}
