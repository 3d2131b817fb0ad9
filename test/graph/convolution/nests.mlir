// RUN: dl-opt %s --print-loop-nests --print-costs --no-output | FileCheck %s

// CHECK-LABEL: graph.conv2d
// CHECK-NEXT: extents [2, 4, 3, 3 | 3, 3, 2] combine sum contraction
// CHECK-NEXT: access (d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 * 2 + d5, d3 * 2 + d6)
// CHECK-NEXT: access (d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)
// CHECK-NEXT: arith.mulf

// The weight is read backwards.
// CHECK-LABEL: graph.conv2d_input_grad
// CHECK-NEXT: extents [2, 3, 6, 5 | 4, 3, 2] combine sum contraction
// CHECK-NEXT: access (d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5, d3 + d6)
// CHECK-NEXT: access (d0, d1, d2, d3, d4, d5, d6) -> (d4, d1, -d5 + 2, -d6 + 1)

// CHECK-LABEL: graph.conv2d_weight_grad
// CHECK-NEXT: extents [4, 3, 3, 2 | 2, 4, 4] combine sum contraction
// CHECK-NEXT: access (d0, d1, d2, d3, d4, d5, d6) -> (d4, d1, d2 + d5, d3 + d6)
// CHECK-NEXT: access (d0, d1, d2, d3, d4, d5, d6) -> (d4, d0, d5, d6)

// CHECK: graph.conv2d flops 2592
// A gradient that reads its padding counts it: as many as its nest has points, twice.
// CHECK: graph.conv2d_input_grad flops 8640
graph.step @f(%x: tensor<2x3x7x6xf32>, %w: tensor<4x3x3x2xf32>, %p: tensor<2x4x8x6xf32>, %q: tensor<2x3x6x5xf32>, %dy: tensor<2x4x4x4xf32>) {
  %0 = graph.conv2d %x, %w {stride = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<2x3x7x6xf32>, tensor<4x3x3x2xf32>) -> tensor<2x4x3x3xf32>
  %1 = graph.conv2d_input_grad %p, %w {stride = array<i64: 1, 1>, padding = array<i64: 2, 1>, input_shape = array<i64: 2, 3, 6, 5>} : (tensor<2x4x8x6xf32>, tensor<4x3x3x2xf32>) -> tensor<2x3x6x5xf32>
  %2 = graph.conv2d_weight_grad %q, %dy {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, kernel = array<i64: 3, 2>} : (tensor<2x3x6x5xf32>, tensor<2x4x4x4xf32>) -> tensor<4x3x3x2xf32>
  graph.return
}
