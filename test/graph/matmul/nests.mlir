// RUN: dl-opt %s --print-loop-nests --print-costs --evaluate --no-output | FileCheck %s

// CHECK-LABEL: graph.matmul
// CHECK-NEXT: extents [2, 4 | 3] combine sum contraction
// CHECK-NEXT: access (d0, d1, d2) -> (d0, d2)
// CHECK-NEXT: access (d0, d1, d2) -> (d2, d1)
// CHECK-NEXT: arith.mulf
// CHECK-LABEL: graph.matmul
// CHECK-NEXT: extents [5, 3, 2 | 4] combine sum contraction
// CHECK-NEXT: access (d0, d1, d2, d3) -> (d0, d3, d1)
// CHECK-NEXT: access (d0, d1, d2, d3) -> (d0, d2, d3)
// CHECK: graph.matmul flops 48
// CHECK: graph.matmul flops 240
// CHECK: @f #0 f64 [2,4] [4.625, 5, 5.375, 5.75, 10.8125, 11.75, 12.6875, 13.625]
func.func @f(%a: tensor<2x3xf64>, %b: tensor<3x4xf64>, %c: tensor<5x4x3xf64>, %d: tensor<5x2x4xf64>) -> tensor<2x4xf64> {
  %0 = graph.matmul %a, %b : (tensor<2x3xf64>, tensor<3x4xf64>) -> tensor<2x4xf64>
  %1 = graph.matmul %c, %d {transpose_a = true, transpose_b = true} : (tensor<5x4x3xf64>, tensor<5x2x4xf64>) -> tensor<5x3x2xf64>
  return %0 : tensor<2x4xf64>
}
