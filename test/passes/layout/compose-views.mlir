// RUN: dl-opt %s --compose-views | FileCheck %s

// Parts of a transposed value are taken before it is transposed: which one is said by offsets alone.
// CHECK-LABEL: @parts
// CHECK: %[[A:.*]] = graph.slice %[[X:.*]] {offsets = array<i64: 0, 1, 0>, sizes = array<i64: 4, 1, 8>, strides = array<i64: 1, 1, 1>}
// CHECK: %[[B:.*]] = graph.transpose %[[A]] {permutation = array<i64: 1, 0, 2>} : (tensor<4x1x8xf32>) -> tensor<1x4x8xf32>
// CHECK: graph.slice %[[X]] {offsets = array<i64: 0, 0, 3>, sizes = array<i64: 4, 3, 2>, strides = array<i64: 1, 1, 2>}
// CHECK: graph.transpose {{.*}} {permutation = array<i64: 1, 0, 2>} : (tensor<4x3x2xf32>) -> tensor<3x4x2xf32>
graph.step @parts(%x: tensor<4x3x8xf32> input 0) -> (tensor<1x4x8xf32>, tensor<3x4x2xf32>) {
  %t = graph.transpose %x {permutation = array<i64: 1, 0, 2>} : (tensor<4x3x8xf32>) -> tensor<3x4x8xf32>
  %a = graph.slice %t {offsets = array<i64: 1, 0, 0>, sizes = array<i64: 1, 4, 8>, strides = array<i64: 1, 1, 1>} : (tensor<3x4x8xf32>) -> tensor<1x4x8xf32>
  %b = graph.slice %t {offsets = array<i64: 0, 0, 3>, sizes = array<i64: 3, 4, 2>, strides = array<i64: 1, 1, 2>} : (tensor<3x4x8xf32>) -> tensor<3x4x2xf32>
  graph.return %a, %b : tensor<1x4x8xf32>, tensor<3x4x2xf32>
}

// Not where all of it is read as well.
// CHECK-LABEL: @whole
// CHECK: %[[T:.*]] = graph.transpose
// CHECK: graph.slice %[[T]]
graph.step @whole(%x: tensor<4x3x8xf32> input 0) -> (tensor<3x4x8xf32>, tensor<1x4x8xf32>) {
  %t = graph.transpose %x {permutation = array<i64: 1, 0, 2>} : (tensor<4x3x8xf32>) -> tensor<3x4x8xf32>
  %a = graph.slice %t {offsets = array<i64: 1, 0, 0>, sizes = array<i64: 1, 4, 8>, strides = array<i64: 1, 1, 1>} : (tensor<3x4x8xf32>) -> tensor<1x4x8xf32>
  graph.return %t, %a : tensor<3x4x8xf32>, tensor<1x4x8xf32>
}

// A part of a part is one of the whole, as long as the part need not be stored in any case.
// CHECK-LABEL: @part_of_part
// CHECK: graph.slice %[[X:.*]] {offsets = array<i64: 2, 4>, sizes = array<i64: 1, 2>, strides = array<i64: 1, 6>} : (tensor<4x16xf32>) -> tensor<1x2xf32>
// CHECK: %[[P:.*]] = graph.slice %[[X]] {offsets = array<i64: 1, 1>
// CHECK: graph.slice %[[P]] {offsets = array<i64: 1, 0>
graph.step @part_of_part(%x: tensor<4x16xf32> input 0) -> (tensor<1x2xf32>, tensor<15xf32>, tensor<1x5xf32>) {
  %a = graph.slice %x {offsets = array<i64: 1, 1>, sizes = array<i64: 3, 5>, strides = array<i64: 1, 3>} : (tensor<4x16xf32>) -> tensor<3x5xf32>
  %b = graph.slice %a {offsets = array<i64: 1, 1>, sizes = array<i64: 1, 2>, strides = array<i64: 1, 2>} : (tensor<3x5xf32>) -> tensor<1x2xf32>
  %c = graph.slice %x {offsets = array<i64: 1, 1>, sizes = array<i64: 3, 5>, strides = array<i64: 1, 2>} : (tensor<4x16xf32>) -> tensor<3x5xf32>
  %d = graph.slice %c {offsets = array<i64: 1, 0>, sizes = array<i64: 1, 5>, strides = array<i64: 1, 1>} : (tensor<3x5xf32>) -> tensor<1x5xf32>
  %e = graph.reshape %c {shape = array<i64: 15>} : (tensor<3x5xf32>) -> tensor<15xf32>
  graph.return %b, %e, %d : tensor<1x2xf32>, tensor<15xf32>, tensor<1x5xf32>
}
