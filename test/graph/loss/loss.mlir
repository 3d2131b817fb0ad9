// RUN: dl-opt %s --print-loop-nests --evaluate --decompose | FileCheck %s

// CHECK-LABEL: graph.index_check
// CHECK-NEXT: extents [ | 2] combine max value{{$}}

// Targets are 7 and 8: one is out of range, the other ignored.
// CHECK: @f #0 i32 [] [1]
// CHECK: @f #1 i32 [] [0]

// CHECK-LABEL: graph.step @f
// CHECK-LABEL: graph.step @mean
// CHECK: [[COUNTS:%.*]] = graph.ne %arg1
// CHECK: [[ONES:%.*]] = graph.cast [[COUNTS]]
// CHECK: [[COUNT:%.*]] = graph.sum [[ONES]]
// CHECK: [[CLASSES:%.*]] = graph.iota {dim = 1 : i64, type = tensor<1x10xi64>}
// CHECK: [[T:%.*]] = graph.reshape %arg1 {shape = array<i64: 2, 1>}
// CHECK: [[CHOSEN:%.*]] = graph.eq [[CLASSES]], [[T]]
// CHECK-NOT: logical_and
// CHECK: [[PICKED:%.*]] = graph.select [[CHOSEN]], %arg0
// CHECK: [[ROWS:%.*]] = graph.sum [[PICKED]] {dims = array<i64: 1>}
// CHECK: graph.sum [[ROWS]] {dims = array<i64: 0>}
// CHECK: graph.div %{{.*}}, [[COUNT]]

// An ignored class is a class: its targets are masked.
// CHECK-LABEL: graph.step @ignored_class
// CHECK: graph.logical_and
graph.step @f(%t: tensor<2xi64>) -> (tensor<i32>, tensor<i32>) {
  %six = graph.full {value = 6.0, type = tensor<i64>} : () -> tensor<i64>
  %u = graph.add %t, %six : (tensor<2xi64>, tensor<i64>) -> tensor<2xi64>
  %0 = graph.index_check %u {bound = 7} : (tensor<2xi64>) -> tensor<i32>
  %1 = graph.index_check %u {bound = 8, ignore_index = 8} : (tensor<2xi64>) -> tensor<i32>
  graph.return %0, %1 : tensor<i32>, tensor<i32>
}
graph.step @mean(%p: tensor<2x10xf64>, %t: tensor<2xi64>) -> tensor<f64> {
  %0 = graph.nll_loss %p, %t : (tensor<2x10xf64>, tensor<2xi64>) -> tensor<f64>
  graph.return %0 : tensor<f64>
}
graph.step @ignored_class(%p: tensor<2x10xf64>, %t: tensor<2xi64>) -> tensor<f64> {
  %0 = graph.nll_loss %p, %t {ignore_index = 3} : (tensor<2x10xf64>, tensor<2xi64>) -> tensor<f64>
  graph.return %0 : tensor<f64>
}
