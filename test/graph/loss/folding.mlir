// RUN: dl-opt %s --canonicalize | FileCheck %s

// Dim 0 of what is checked counts the items of a batch, which messages name; so
// it is checked before it is flattened.
// CHECK-LABEL: graph.step @flat
// CHECK-SAME: %[[TARGETS:.*]]: tensor<8x16xi64>
// CHECK: graph.index_check %[[TARGETS]]
graph.step @flat(%t: tensor<8x16xi64>) -> (tensor<i32>) of "train" training batch 8 dataset 0 {
  %0 = graph.reshape %t {shape = array<i64: 128>} : (tensor<8x16xi64>) -> tensor<128xi64>
  %1 = graph.index_check %0 {bound = 10, start = array<i64: 0>} : (tensor<128xi64>) -> tensor<i32>
  graph.return %1 : tensor<i32>
}

// CHECK-LABEL: graph.step @bytes
// CHECK-SAME: %[[TARGETS:.*]]: tensor<8x16xui8>
// CHECK: %[[WORDS:.*]] = graph.cast %[[TARGETS]]
// CHECK: graph.index_check %[[WORDS]]
graph.step @bytes(%t: tensor<8x16xui8>) -> (tensor<i32>) of "train" training batch 8 dataset 0 {
  %0 = graph.reshape %t {shape = array<i64: 128>} : (tensor<8x16xui8>) -> tensor<128xui8>
  %1 = graph.cast %0 {to = i64} : (tensor<128xui8>) -> tensor<128xi64>
  %2 = graph.index_check %1 {bound = 10, start = array<i64: 0>} : (tensor<128xi64>) -> tensor<i32>
  graph.return %2 : tensor<i32>
}

// CHECK-LABEL: graph.step @split
// CHECK-SAME: %[[TARGETS:.*]]: tensor<128xi64>
// CHECK: graph.index_check %[[TARGETS]]
graph.step @split(%t: tensor<128xi64>) -> (tensor<i32>) of "train" training batch 128 dataset 0 {
  %0 = graph.reshape %t {shape = array<i64: 8, 16>} : (tensor<128xi64>) -> tensor<8x16xi64>
  %1 = graph.reshape %0 {shape = array<i64: 4, 32>} : (tensor<8x16xi64>) -> tensor<4x32xi64>
  %2 = graph.index_check %1 {bound = 10, start = array<i64: 0>} : (tensor<4x32xi64>) -> tensor<i32>
  graph.return %2 : tensor<i32>
}

// What is of no item, or of one that is not known, is said to be of none.
// CHECK-LABEL: graph.step @turned
// CHECK: graph.index_check %{{.*}} {bound = 10 : i64} :
graph.step @turned(%t: tensor<8x16xi64>) -> (tensor<i32>) of "train" training batch 8 dataset 0 {
  %0 = graph.transpose %t {permutation = array<i64: 1, 0>} : (tensor<8x16xi64>) -> tensor<16x8xi64>
  %1 = graph.index_check %0 {bound = 10, start = array<i64: 0>} : (tensor<16x8xi64>) -> tensor<i32>
  graph.return %1 : tensor<i32>
}

// A rank's part of the batch, and a micro-batch, say where they begin.
// CHECK-LABEL: graph.step @rank
// CHECK: graph.index_check %{{.*}} {bound = 10 : i64, start = array<i64: 4>} :
graph.step @rank(%t: tensor<4xi64> input 0) -> (tensor<i32>) of "train" training batch 8 dataset 0 {
  %0 = graph.index_check %t {bound = 10, start = array<i64: 4>} : (tensor<4xi64>) -> tensor<i32>
  graph.return %0 : tensor<i32>
}

// CHECK-LABEL: graph.step @micro_batch
// CHECK: graph.index_check %{{.*}} {bound = 10 : i64, start = array<i64: 4>} :
// CHECK: graph.index_check %{{.*}} {bound = 10 : i64} :
graph.step @micro_batch(%t: tensor<8xi64> input 0) -> (tensor<i32>, tensor<i32>) of "train" training batch 8 dataset 0 {
  %0 = graph.slice %t {offsets = array<i64: 4>, sizes = array<i64: 2>, strides = array<i64: 1>} : (tensor<8xi64>) -> tensor<2xi64>
  %1 = graph.index_check %0 {bound = 10, start = array<i64: 4>} : (tensor<2xi64>) -> tensor<i32>
  // Of the user's: it is not said where it begins.
  %2 = graph.index_check %0 {bound = 10, start = array<i64: 0>} : (tensor<2xi64>) -> tensor<i32>
  graph.return %1, %2 : tensor<i32>, tensor<i32>
}
