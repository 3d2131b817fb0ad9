// RUN: dl-opt %s --print-loop-nests --evaluate --no-output | FileCheck %s

// One dim of x is read where the index says, whatever the map shows there.
// CHECK-LABEL: graph.gather
// CHECK-NEXT: extents [3, 2] combine none
// CHECK-NEXT: access (d0, d1) -> (d0 mod 5, d1) dim 0 by operand 1
// CHECK-NEXT: access (d0, d1) -> (d0, 0)
// CHECK-LABEL: graph.gather
// CHECK-NEXT: extents [2, 2] combine none
// CHECK-NEXT: access (d0, d1) -> (d0, (d0 + d1) mod 5) dim 1 by operand 1
// CHECK-NEXT: access (d0, d1) -> (d0, d1)
// CHECK-LABEL: graph.scatter_add
// CHECK-NEXT: extents [2, 2 | 3] combine sum scatter to d0
// CHECK-NEXT: access (d0, d1, d2) -> (d2, 0)
// CHECK-NEXT: access (d0, d1, d2) -> (d2, d1)
// CHECK-LABEL: graph.scatter_amax
// CHECK-NEXT: extents [3, 2 | 3] combine max value scatter to d0
// CHECK-LABEL: graph.update_slice
// CHECK-NEXT: extents [3, 2] combine none replaced at an index of d0
// CHECK-NEXT: access (d0, d1) -> ()
// CHECK-NEXT: access (d0, d1) -> (0, d1)
// CHECK-NEXT: access (d0, d1) -> (d0, d1)

// CHECK: @f #0 f64 [3,2] [0.25, 0.5, 0.75, 1, 0.25, 0.5]
// CHECK: @f #1 f64 [2,2] [0.25, 0.5, 0.75, 1]
// CHECK: @f #2 f64 [2,2] [0.5, 1, 0.75, 1]
// CHECK: @f #3 f64 [3,2] [0.25, 0.5, 0.75, 1, -inf, -inf]
// CHECK: @f #4 f64 [3,2] [0.25, 0.5, 0.5, 1, 0.25, 0.5]
graph.step @f(%x: tensor<2x2xf64>) -> (tensor<3x2xf64>, tensor<2x2xf64>, tensor<2x2xf64>, tensor<3x2xf64>, tensor<3x2xf64>) {
  %n = graph.iota {dim = 0, type = tensor<3x1xi64>} : () -> tensor<3x1xi64>
  %one = graph.full {value = 1.0, type = tensor<i64>} : () -> tensor<i64>
  %b = graph.eq %n, %one : (tensor<3x1xi64>, tensor<i64>) -> tensor<3x1xi1>
  %i = graph.cast %b {to = i64} : (tensor<3x1xi1>) -> tensor<3x1xi64>
  %j = graph.iota {dim = 1, type = tensor<2x2xi64>} : () -> tensor<2x2xi64>
  %0 = graph.gather %x, %i {dim = 0} : (tensor<2x2xf64>, tensor<3x1xi64>) -> tensor<3x2xf64>
  %1 = graph.gather %x, %j {dim = 1} : (tensor<2x2xf64>, tensor<2x2xi64>) -> tensor<2x2xf64>
  %2 = graph.scatter_add %i, %0 {dim = 0, size = 2} : (tensor<3x1xi64>, tensor<3x2xf64>) -> tensor<2x2xf64>
  %3 = graph.scatter_amax %i, %0 {dim = 0, size = 3} : (tensor<3x1xi64>, tensor<3x2xf64>) -> tensor<3x2xf64>
  %row = graph.slice %2 {offsets = array<i64: 0, 0>, sizes = array<i64: 1, 2>, strides = array<i64: 1, 1>} : (tensor<2x2xf64>) -> tensor<1x2xf64>
  %4 = graph.update_slice %one, %row, %0 {dim = 0} : (tensor<i64>, tensor<1x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
  graph.return %0, %1, %2, %3, %4 : tensor<3x2xf64>, tensor<2x2xf64>, tensor<2x2xf64>, tensor<3x2xf64>, tensor<3x2xf64>
}
