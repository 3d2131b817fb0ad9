// RUN: dl-opt %s --print-loop-nests --no-output | FileCheck %s

// CHECK: graph.sum
// CHECK-NEXT: extents [2 | 3] combine sum
// CHECK-NEXT: access (d0, d1) -> (d0, d1)
graph.step @f(%x: tensor<2x3xf32>) -> tensor<2xf32> {
  %0 = graph.sum %x {dims = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
  graph.return %0 : tensor<2xf32>
}
