// RUN: dl-opt %s --print-loop-nests --print-sharding-rules --print-gradients --evaluate --no-output | FileCheck %s

// A sum over all that comes before; what follows it is zero.
// CHECK-LABEL: graph.cumsum
// CHECK-NEXT: extents [2, 3 | 3] combine sum up to d1
// CHECK-NEXT: access (d0, d1, d2) -> (d0, d2)
// CHECK-LABEL: graph.cumsum
// CHECK-NEXT: extents [2, 3 | 2] combine sum from d0
// CHECK-NEXT: access (d0, d1, d2) -> (d2, d1)
// CHECK-LABEL: graph.argsort
// CHECK-NEXT: extents [2, 3 | 3] combine order
// CHECK-NEXT: access (d0, d1, d2) -> (d0, d2)

// CHECK: graph.cumsum ([i, k]) -> ([i, j]) i=2 j=3:blocked(index in payload) k=3:blocked(index in payload) through 0: sum
// CHECK: graph.cumsum ([k, j]) -> ([i, j]) i=2:blocked(index in payload) j=3 k=2:blocked(index in payload) through 0: sum
// CHECK: graph.argsort ([i, k]) -> ([i, j]) i=2 j=3:blocked(index merge) k=3:blocked(index merge){{$}}

// An element is part of the sums from its own on.
// CHECK-LABEL: graph.step @gradient.cumsum
// CHECK: graph.cumsum %arg1 {dim = 1 : i64, reverse = true}
// CHECK-LABEL: graph.step @gradient.cumsum
// CHECK: graph.cumsum %arg1 {dim = 0 : i64}

// CHECK: @f #0 f64 [2,3] [0.25, 0.75, 1.5, 1, 2.25, 3.75]
// CHECK: @f #1 f64 [2,3] [1.25, 1.75, 2.25, 1, 1.25, 1.5]
// CHECK: @f #2 i64 [2,3] [2, 1, 0, 2, 1, 0]
graph.step @f(%x: tensor<2x3xf64>) -> (tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xi64>) {
  %0 = graph.cumsum %x {dim = 1} : (tensor<2x3xf64>) -> tensor<2x3xf64>
  %1 = graph.cumsum %x {dim = 0, reverse = true} : (tensor<2x3xf64>) -> tensor<2x3xf64>
  %2 = graph.argsort %x {dim = 1, descending = true} : (tensor<2x3xf64>) -> tensor<2x3xi64>
  graph.return %0, %1, %2 : tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xi64>
}
