// Indices that the graph itself tells.
// RUN: dl-opt %s --canonicalize --split-input-file | FileCheck %s

// CHECK-LABEL: @positions
// CHECK-NEXT: [[ROWS:%.*]] = graph.slice %arg0 {offsets = array<i64: 0, 0>, sizes = array<i64: 4, 3>, strides = array<i64: 1, 1>}
// CHECK-NEXT: [[EACH_OTHER:%.*]] = graph.slice %arg0 {offsets = array<i64: 3, 0>, sizes = array<i64: 4, 3>, strides = array<i64: 2, 1>}
// CHECK-NEXT: return [[ROWS]], [[EACH_OTHER]]
graph.step @positions(%table: tensor<10x3xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>) {
  %0 = graph.iota {dim = 0, type = tensor<4xi64>} : () -> tensor<4xi64>
  %1 = graph.reshape %0 {shape = array<i64: 4, 1>} : (tensor<4xi64>) -> tensor<4x1xi64>
  %2 = graph.gather %table, %1 {dim = 0} : (tensor<10x3xf32>, tensor<4x1xi64>) -> tensor<4x3xf32>
  %3 = graph.full {type = tensor<i64>, value = 2.0} : () -> tensor<i64>
  %4 = graph.mul %0, %3 : (tensor<4xi64>, tensor<i64>) -> tensor<4xi64>
  %5 = graph.full {type = tensor<i64>, value = 3.0} : () -> tensor<i64>
  %6 = graph.add %5, %4 : (tensor<i64>, tensor<4xi64>) -> tensor<4xi64>
  %7 = graph.reshape %6 {shape = array<i64: 4, 1>} : (tensor<4xi64>) -> tensor<4x1xi64>
  %8 = graph.gather %table, %7 {dim = 0} : (tensor<10x3xf32>, tensor<4x1xi64>) -> tensor<4x3xf32>
  graph.return %2, %8 : tensor<4x3xf32>, tensor<4x3xf32>
}

// -----

// Backwards, beyond the table, each element its own, and data: as they are.
// CHECK-LABEL: @others
// CHECK-COUNT-4: graph.gather
graph.step @others(%table: tensor<4x4xf32>, %index: tensor<4x1xi64>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = graph.iota {dim = 0, type = tensor<4x1xi64>} : () -> tensor<4x1xi64>
  %1 = graph.full {type = tensor<i64>, value = -1.0} : () -> tensor<i64>
  %2 = graph.mul %0, %1 : (tensor<4x1xi64>, tensor<i64>) -> tensor<4x1xi64>
  %3 = graph.full {type = tensor<i64>, value = 3.0} : () -> tensor<i64>
  %4 = graph.add %2, %3 : (tensor<4x1xi64>, tensor<i64>) -> tensor<4x1xi64>
  %5 = graph.gather %table, %4 {dim = 0} : (tensor<4x4xf32>, tensor<4x1xi64>) -> tensor<4x4xf32>
  %6 = graph.full {type = tensor<i64>, value = 1.0} : () -> tensor<i64>
  %7 = graph.add %0, %6 : (tensor<4x1xi64>, tensor<i64>) -> tensor<4x1xi64>
  %8 = graph.gather %table, %7 {dim = 0} : (tensor<4x4xf32>, tensor<4x1xi64>) -> tensor<4x4xf32>
  %9 = graph.iota {dim = 0, type = tensor<4x4xi64>} : () -> tensor<4x4xi64>
  %10 = graph.gather %table, %9 {dim = 0} : (tensor<4x4xf32>, tensor<4x4xi64>) -> tensor<4x4xf32>
  %11 = graph.gather %table, %index {dim = 0} : (tensor<4x4xf32>, tensor<4x1xi64>) -> tensor<4x4xf32>
  graph.return %5, %8, %10, %11 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// One index for a whole row: it is read and checked once for all of its elements.
// CHECK-LABEL: @repeated
// CHECK-NEXT: graph.index_check %arg1
// CHECK-NEXT: graph.gather %arg0, %arg1 {dim = 0
// CHECK-NEXT: graph.scatter_add %arg1, %arg0 {dim = 0
// CHECK-NEXT: graph.scatter_amax %arg1, %arg0 {dim = 0
graph.step @repeated(%x: tensor<4x3xf32>, %index: tensor<4x1xi64>) -> (tensor<i32>, tensor<4x3xf32>, tensor<7x3xf32>, tensor<7x3xf32>) {
  %0 = graph.expand %index {shape = array<i64: 4, 3>} : (tensor<4x1xi64>) -> tensor<4x3xi64>
  %1 = graph.index_check %0 {bound = 4, ignore_index = 0} : (tensor<4x3xi64>) -> tensor<i32>
  %2 = graph.gather %x, %0 {dim = 0} : (tensor<4x3xf32>, tensor<4x3xi64>) -> tensor<4x3xf32>
  %3 = graph.scatter_add %0, %x {dim = 0, size = 7} : (tensor<4x3xi64>, tensor<4x3xf32>) -> tensor<7x3xf32>
  %4 = graph.scatter_amax %0, %x {dim = 0, size = 7} : (tensor<4x3xi64>, tensor<4x3xf32>) -> tensor<7x3xf32>
  graph.return %1, %2, %3, %4 : tensor<i32>, tensor<4x3xf32>, tensor<7x3xf32>, tensor<7x3xf32>
}

// -----

// One for all elements along the dim itself stays repeated there.
// CHECK-LABEL: @along
// CHECK-NEXT: [[ALONG:%.*]] = graph.expand %arg1 {shape = array<i64: 4, 1>}
// CHECK-NEXT: graph.scatter_add [[ALONG]], %arg0 {dim = 0
graph.step @along(%x: tensor<4x3xf32>, %index: tensor<1x1xi64>) -> tensor<7x3xf32> {
  %0 = graph.expand %index {shape = array<i64: 4, 3>} : (tensor<1x1xi64>) -> tensor<4x3xi64>
  %1 = graph.scatter_add %0, %x {dim = 0, size = 7} : (tensor<4x3xi64>, tensor<4x3xf32>) -> tensor<7x3xf32>
  graph.return %1 : tensor<7x3xf32>
}
