// RUN: dl-opt %s --print-loop-nests --print-sharding-rules --print-gradients --evaluate --no-output | FileCheck %s

// Along a dim, from its beginning or from its end.
// CHECK-LABEL: graph.cumsum
// CHECK-NEXT: extents [2, 3 | 3] combine scan sum up to d1
// CHECK-NEXT: access (d0, d1, d2) -> (d0, d2)
// CHECK-LABEL: graph.cumsum
// CHECK-NEXT: extents [2, 3 | 2] combine scan sum from d0
// CHECK-NEXT: access (d0, d1, d2) -> (d2, d1)
// CHECK-LABEL: graph.argsort
// CHECK-NEXT: extents [2, 3 | 3] combine order
// CHECK-NEXT: access (d0, d1, d2) -> (d0, d2)
// CHECK-LABEL: graph.argsort
// CHECK-NEXT: extents [2, 2 | 3] combine order
// CHECK-NEXT: access (d0, d1, d2) -> (d0, d2)
// CHECK-LABEL: graph.linear_recurrence
// CHECK-NEXT: extents [2, 3 | 3] combine scan linear up to d1
// CHECK-NEXT: access (d0, d1, d2) -> (d0, d2)
// CHECK-NEXT: access (d0, d1, d2) -> (d0, d2)
// CHECK-LABEL: graph.argcummax
// CHECK-NEXT: extents [2, 3 | 3] combine scan argmax up to d1
// CHECK-NEXT: access (d0, d1, d2) -> (d0, d2)

// What is a sum of parts may be summed up in parts, of a recurrence what it adds.
// CHECK: graph.cumsum ([i, k]) -> ([i, j]) i=2 j=3:blocked(index merge) k=3:blocked(index merge) through 0: sum
// CHECK: graph.cumsum ([k, j]) -> ([i, j]) i=2:blocked(index merge) j=3 k=2:blocked(index merge) through 0: sum
// CHECK: graph.argsort ([i, k]) -> ([i, j]) i=2 j=3:blocked(index merge) k=3:blocked(index merge){{$}}
// CHECK: graph.argsort ([i, k]) -> ([i, j]) i=2 j=2:blocked(index merge) k=3:blocked(index merge){{$}}
// CHECK: graph.linear_recurrence ([i, k], [i, k]) -> ([i, j]) i=2 j=3:blocked(index merge) k=3:blocked(index merge) through 1: sum
// CHECK: graph.argcummax ([i, k]) -> ([i, j]) i=2 j=3:blocked(index merge) k=3:blocked(index merge){{$}}

// An element is part of the sums from its own on.
// CHECK-LABEL: graph.step @gradient.cumsum
// CHECK: graph.cumsum %arg1 {dim = 1 : i64, reverse = true}
// CHECK-LABEL: graph.step @gradient.cumsum
// CHECK: graph.cumsum %arg1 {dim = 0 : i64}
// The factors moved by one, the other way; a factor's own gradient has the element before it.
// CHECK-LABEL: graph.step @gradient.linear_recurrence
// CHECK: [[H:%.*]] = graph.linear_recurrence %arg0, %arg1 {dim = 1 : i64}
// CHECK: [[PART:%.*]] = graph.slice %arg0 {offsets = array<i64: 0, 1>
// CHECK: [[NEXT:%.*]] = graph.pad [[PART]] {high = array<i64: 0, 1>
// CHECK: [[D:%.*]] = graph.linear_recurrence [[NEXT]], %arg2 {dim = 1 : i64, reverse = true}
// CHECK: [[FIRST:%.*]] = graph.slice [[H]] {offsets = array<i64: 0, 0>
// CHECK: [[BEFORE:%.*]] = graph.pad [[FIRST]] {high = array<i64: 0, 0>, interior = array<i64: 0, 0>, low = array<i64: 0, 1>
// CHECK: [[DA:%.*]] = graph.mul [[D]], [[BEFORE]]
// CHECK: return [[DA]], [[D]]

// CHECK: @f #0 f64 [2,3] [0.25, 0.75, 1.5, 1, 2.25, 3.75]
// CHECK: @f #1 f64 [2,3] [1.25, 1.75, 2.25, 1, 1.25, 1.5]
// CHECK: @f #2 i64 [2,3] [2, 1, 0, 2, 1, 0]
// CHECK: @f #3 i64 [2,2] [2, 1, 2, 1]
// CHECK: @f #4 f64 [2,3] [0.25, 0.875, 2.15625, 1, 3.5, 9]
// CHECK: @f #5 i64 [2,3] [0, 1, 2, 0, 1, 2]
graph.step @f(%x: tensor<2x3xf64>) -> (tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xi64>, tensor<2x2xi64>, tensor<2x3xf64>, tensor<2x3xi64>) {
  %0 = graph.cumsum %x {dim = 1} : (tensor<2x3xf64>) -> tensor<2x3xf64>
  %1 = graph.cumsum %x {dim = 0, reverse = true} : (tensor<2x3xf64>) -> tensor<2x3xf64>
  %2 = graph.argsort %x {dim = 1, descending = true} : (tensor<2x3xf64>) -> tensor<2x3xi64>
  %3 = graph.argsort %x {dim = 1, descending = true, count = 2} : (tensor<2x3xf64>) -> tensor<2x2xi64>
  %4 = graph.linear_recurrence %x, %0 {dim = 1} : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
  %5 = graph.argcummax %x {dim = 1} : (tensor<2x3xf64>) -> tensor<2x3xi64>
  graph.return %0, %1, %2, %3, %4, %5 : tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xi64>, tensor<2x2xi64>, tensor<2x3xf64>, tensor<2x3xi64>
}
