// RUN: dl-opt %s --print-loop-nests --evaluate --no-output | FileCheck %s

// CHECK-LABEL: graph.transpose
// CHECK-NEXT: extents [3, 2] combine none
// CHECK-NEXT: access (d0, d1) -> (d1, d0)
// CHECK-LABEL: graph.expand
// CHECK-NEXT: extents [2, 2, 3] combine none
// CHECK-NEXT: access (d0, d1, d2) -> (d1, d2)
// CHECK-LABEL: graph.pad
// CHECK-NEXT: extents [4, 5] combine none
// CHECK-NEXT: access (d0, d1) -> ((d0 - 1) floordiv 2, d1 - 1) where (d0 - 1) mod 2 == 0 outside 9
// CHECK-LABEL: graph.slice
// CHECK-NEXT: extents [2, 2] combine none
// CHECK-NEXT: access (d0, d1) -> (d0, d1 * 2)

// CHECK: @f #0 f64 [3,2] [0.25, 1, 0.5, 1.25, 0.75, 1.5]
// CHECK: @f #1 f64 [2,2,3] [0.25, 0.5, 0.75, 1, 1.25, 1.5, 0.25, 0.5, 0.75, 1, 1.25, 1.5]
// CHECK: @f #2 f64 [4,5] [9, 9, 9, 9, 9, 9, 0.25, 0.5, 0.75, 9, 9, 9, 9, 9, 9, 9, 1, 1.25, 1.5, 9]
// CHECK: @f #3 f64 [2,2] [0.25, 0.75, 1, 1.5]
graph.step @f(%x: tensor<2x3xf64>) -> (tensor<3x2xf64>, tensor<2x2x3xf64>, tensor<4x5xf64>, tensor<2x2xf64>) {
  %0 = graph.transpose %x {permutation = array<i64: 1, 0>} : (tensor<2x3xf64>) -> tensor<3x2xf64>
  %1 = graph.expand %x {shape = array<i64: 2, 2, 3>} : (tensor<2x3xf64>) -> tensor<2x2x3xf64>
  %2 = graph.pad %x {low = array<i64: 1, 1>, high = array<i64: 0, 1>, interior = array<i64: 1, 0>, value = 9.0} : (tensor<2x3xf64>) -> tensor<4x5xf64>
  %3 = graph.slice %x {offsets = array<i64: 0, 0>, sizes = array<i64: 2, 2>, strides = array<i64: 1, 2>} : (tensor<2x3xf64>) -> tensor<2x2xf64>
  graph.return %0, %1, %2, %3 : tensor<3x2xf64>, tensor<2x2x3xf64>, tensor<4x5xf64>, tensor<2x2xf64>
}
