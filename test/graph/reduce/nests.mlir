// RUN: dl-opt %s --print-loop-nests --evaluate --no-output | FileCheck %s

// CHECK-LABEL: graph.sum
// CHECK-NEXT: extents [3 | 2, 4] combine sum
// CHECK-NEXT: access (d0, d1, d2) -> (d1, d0, d2)
// CHECK-LABEL: graph.amax
// CHECK-NEXT: extents [2, 1, 4 | 3] combine max value{{$}}
// CHECK-NEXT: access (d0, d1, d2, d3) -> (d0, d3, d2)
// CHECK-LABEL: graph.max
// CHECK-NEXT: extents [2, 3 | 4] combine max value index
// CHECK-LABEL: graph.argmax
// CHECK-NEXT: extents [3, 4 | 2] combine max index

// CHECK: @f #0 f64 [3] [17, 25, 33]
// CHECK: @f #1 f64 [2,1,4] [2.25, 2.5, 2.75, 3, 5.25, 5.5, 5.75, 6]
// CHECK: @f #2 f64 [2,3] [1, 2, 3, 4, 5, 6]
// CHECK: @f #3 i64 [2,3] [3, 3, 3, 3, 3, 3]
// CHECK: @f #4 i64 [3,4] [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]
graph.step @f(%x: tensor<2x3x4xf64>) -> (tensor<3xf64>, tensor<2x1x4xf64>, tensor<2x3xf64>, tensor<2x3xi64>, tensor<3x4xi64>) {
  %0 = graph.sum %x {dims = array<i64: 0, 2>} : (tensor<2x3x4xf64>) -> tensor<3xf64>
  %1 = graph.amax %x {dims = array<i64: 1>, keepdim = true} : (tensor<2x3x4xf64>) -> tensor<2x1x4xf64>
  %2:2 = graph.max %x {dim = 2} : (tensor<2x3x4xf64>) -> (tensor<2x3xf64>, tensor<2x3xi64>)
  %3 = graph.argmax %x {dim = 0} : (tensor<2x3x4xf64>) -> tensor<3x4xi64>
  graph.return %0, %1, %2#0, %2#1, %3 : tensor<3xf64>, tensor<2x1x4xf64>, tensor<2x3xf64>, tensor<2x3xi64>, tensor<3x4xi64>
}
