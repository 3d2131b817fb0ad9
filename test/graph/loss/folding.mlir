// RUN: dl-opt %s --canonicalize | FileCheck %s

// Dim 0 of what is checked counts the items of a batch, which messages name; so
// it is checked before it is flattened.
// CHECK-LABEL: graph.step @flat
// CHECK-SAME: %[[TARGETS:.*]]: tensor<8x16xi64>
// CHECK: graph.index_check %[[TARGETS]]
graph.step @flat(%t: tensor<8x16xi64>) -> (tensor<i32>) {
  %0 = graph.reshape %t {shape = array<i64: 128>} : (tensor<8x16xi64>) -> tensor<128xi64>
  %1 = graph.index_check %0 {bound = 10, start = array<i64: 0>} : (tensor<128xi64>) -> tensor<i32>
  graph.return %1 : tensor<i32>
}

// CHECK-LABEL: graph.step @bytes
// CHECK-SAME: %[[TARGETS:.*]]: tensor<8x16xui8>
// CHECK: %[[WORDS:.*]] = graph.cast %[[TARGETS]]
// CHECK: graph.index_check %[[WORDS]]
graph.step @bytes(%t: tensor<8x16xui8>) -> (tensor<i32>) {
  %0 = graph.reshape %t {shape = array<i64: 128>} : (tensor<8x16xui8>) -> tensor<128xui8>
  %1 = graph.cast %0 {to = i64} : (tensor<128xui8>) -> tensor<128xi64>
  %2 = graph.index_check %1 {bound = 10, start = array<i64: 0>} : (tensor<128xi64>) -> tensor<i32>
  graph.return %2 : tensor<i32>
}

// Not where it was split: then dim 0 counts items only now.
// CHECK-LABEL: graph.step @split
// CHECK: %[[SPLIT:.*]] = graph.reshape
// CHECK: graph.index_check %[[SPLIT]]
graph.step @split(%t: tensor<128xi64>) -> (tensor<i32>) {
  %0 = graph.reshape %t {shape = array<i64: 8, 16>} : (tensor<128xi64>) -> tensor<8x16xi64>
  %1 = graph.index_check %0 {bound = 10, start = array<i64: 0>} : (tensor<8x16xi64>) -> tensor<i32>
  graph.return %1 : tensor<i32>
}
