// Kernels that differ in keys and offsets only are one code: the numbers are
// constants of the launch.

// RUN: dl-opt %s --form-kernels --split-input-file | FileCheck %s
// RUN: dl-opt %s --split-input-file --evaluate --no-output > %t.ops
// RUN: dl-opt %s --form-kernels --split-input-file --evaluate --no-output > %t.kernels
// RUN: diff %t.ops %t.kernels

// CHECK-LABEL: @keys
// CHECK: graph.kernel %arg0, %arg1 {constants = array<i64: 5>, name = "[[NAME:dropout_[0-9a-f]+]]"}
// CHECK: graph.dropout {{.*}} {key = 0 : i64, launch = {key = array<i64: 0>}, p
// CHECK: graph.kernel %{{.*}}, %arg1 {constants = array<i64: -9>, name = "[[NAME]]"}
graph.step @keys(%x: tensor<6x5xf32>, %s: tensor<8xi64>) -> (tensor<6x5xf32>, tensor<5x6xf32>) {
  %0 = graph.dropout %x, %s {p = 0.5, key = 5} : (tensor<6x5xf32>, tensor<8xi64>) -> tensor<6x5xf32>
  %1 = graph.reshape %0 {shape = array<i64: 6, 5>} : (tensor<6x5xf32>) -> tensor<6x5xf32>
  %2 = graph.dropout %1, %s {p = 0.5, key = -9} : (tensor<6x5xf32>, tensor<8xi64>) -> tensor<6x5xf32>
  %3 = graph.reshape %2 {shape = array<i64: 5, 6>} : (tensor<6x5xf32>) -> tensor<5x6xf32>
  graph.return %0, %3 : tensor<6x5xf32>, tensor<5x6xf32>
}

// -----

// A dim that is whole has no offset.
// CHECK-LABEL: @offsets
// CHECK: graph.kernel %arg0 {constants = array<i64: 3>, name = "[[NAME:exp_[0-9a-f]+]]"}
// CHECK: graph.slice {{.*}} {launch = {offsets = array<i64: -1, 0>}, offsets = array<i64: 0, 0>
// CHECK: graph.kernel %arg0 {constants = array<i64: 0>, name = "[[NAME]]"}
graph.step @offsets(%x: tensor<4x9xf32>) -> (tensor<4x3xf32>, tensor<12xf32>) {
  %0 = graph.slice %x {offsets = array<i64: 0, 3>, sizes = array<i64: 4, 3>, strides = array<i64: 1, 2>} : (tensor<4x9xf32>) -> tensor<4x3xf32>
  %1 = graph.exp %0 : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %2 = graph.slice %x {offsets = array<i64: 0, 0>, sizes = array<i64: 4, 3>, strides = array<i64: 1, 2>} : (tensor<4x9xf32>) -> tensor<4x3xf32>
  %3 = graph.exp %2 : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %4 = graph.reshape %3 {shape = array<i64: 12>} : (tensor<4x3xf32>) -> tensor<12xf32>
  graph.return %1, %4 : tensor<4x3xf32>, tensor<12xf32>
}

// -----

// What a kernel reads at several offsets is bound once for each.
// CHECK-LABEL: @halves
// CHECK: graph.kernel %arg0, %arg0 {constants = array<i64: 0, 2>,
// CHECK: ^bb0(%[[A:.*]]: tensor<4x5xf32>, %[[B:.*]]: tensor<4x5xf32>):
// CHECK-DAG: graph.slice %[[A]] {{.*}}offsets = array<i64: {{[01]}}, -1>
// CHECK-DAG: graph.slice %[[B]] {{.*}}offsets = array<i64: {{[01]}}, -1>
graph.step @halves(%x: tensor<4x5xf32>) -> tensor<2x5xf32> {
  %0 = graph.slice %x {offsets = array<i64: 0, 0>, sizes = array<i64: 2, 5>, strides = array<i64: 1, 1>} : (tensor<4x5xf32>) -> tensor<2x5xf32>
  %1 = graph.slice %x {offsets = array<i64: 2, 0>, sizes = array<i64: 2, 5>, strides = array<i64: 1, 1>} : (tensor<4x5xf32>) -> tensor<2x5xf32>
  %2 = graph.mul %0, %1 : (tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<2x5xf32>
  graph.return %2 : tensor<2x5xf32>
}

// -----

// Parts of a draw and of a count know where they begin.
// CHECK-LABEL: @parts
// CHECK: constants = array<i64: 7, 4, 0>, name = "[[NAME:uniform_[0-9a-f]+]]"
// CHECK: graph.uniform {{.*}} launch = {key = array<i64: 0>, offset = array<i64: 1, 2>}
// CHECK: constants = array<i64: 7, 2, 3>, name = "[[NAME]]"
// CHECK: constants = array<i64: 12>
// CHECK: graph.iota {{.*}} launch = {start = array<i64: 0>}, start = array<i64: 0>
graph.step @parts(%s: tensor<8xi64>) -> (tensor<2x3xf32>, tensor<6xf32>, tensor<5xi64>) {
  %0 = graph.uniform %s {key = 7, type = tensor<2x3xf32>, offset = array<i64: 4, 0>, extents = array<i64: 6, 6>} : (tensor<8xi64>) -> tensor<2x3xf32>
  %1 = graph.uniform %s {key = 7, type = tensor<2x3xf32>, offset = array<i64: 2, 3>, extents = array<i64: 6, 6>} : (tensor<8xi64>) -> tensor<2x3xf32>
  %2 = graph.reshape %1 {shape = array<i64: 6>} : (tensor<2x3xf32>) -> tensor<6xf32>
  %3 = graph.iota {dim = 0, type = tensor<5xi64>, start = array<i64: 12>} : () -> tensor<5xi64>
  graph.return %0, %2, %3 : tensor<2x3xf32>, tensor<6xf32>, tensor<5xi64>
}

// -----

// Behind padding, an offset would need guards that its value does not: it is code.
// CHECK-LABEL: @padded
// CHECK-NOT: constants
// CHECK: offsets = array<i64: 2>
// CHECK: return
graph.step @padded(%x: tensor<8xf32>) -> tensor<4xf32> {
  %0 = graph.pad %x {low = array<i64: 2>, high = array<i64: 2>, interior = array<i64: 0>, value = 0.0} : (tensor<8xf32>) -> tensor<12xf32>
  %1 = graph.slice %0 {offsets = array<i64: 2>, sizes = array<i64: 4>, strides = array<i64: 1>} : (tensor<12xf32>) -> tensor<4xf32>
  graph.return %1 : tensor<4xf32>
}
