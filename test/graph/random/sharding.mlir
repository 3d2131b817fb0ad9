// RUN: dl-opt %s --print-sharding-rules=shards=2 --no-output | FileCheck %s

// A part draws what the whole tensor has there. The scalars are whole.
// CHECK-LABEL: graph.dropout ([i, j], [k]) -> ([i, j]) i=4 j=6 k=8:blocked(skipped) through 0: sum
// CHECK: factor 0 part 1 of 2:
// CHECK-NEXT: graph.dropout {channelwise = false, extents = array<i64: 4, 6>, key = 3 : i64, offset = array<i64: 2, 0>
// CHECK-SAME: (tensor<2x6xf64>, tensor<8xi64>) -> tensor<2x6xf64>
// CHECK-LABEL: graph.uniform ([k]) -> ([i, j]) i=4 j=5 k=8:blocked(skipped)
// A part of a part.
// CHECK: factor 1 part 1 of 2:
// CHECK-NEXT: graph.uniform {extents = array<i64: 9, 8>, key = 7 : i64, offset = array<i64: 1, 6>, type = tensor<4x2xf64>}
graph.step @f(%x: tensor<4x6xf64>, %s: tensor<8xi64>) {
  %0 = graph.dropout %x, %s {p = 0.5, key = 3} : (tensor<4x6xf64>, tensor<8xi64>) -> tensor<4x6xf64>
  %1 = graph.uniform %s {key = 7, type = tensor<4x5xf64>, offset = array<i64: 1, 3>, extents = array<i64: 9, 8>} : (tensor<8xi64>) -> tensor<4x5xf64>
  graph.return
}
