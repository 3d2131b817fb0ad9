// RUN: dl-opt %s --print-sharding-rules=shards=2 --no-output | FileCheck %s

// What the shapes have in common, from the outermost dim on.
// CHECK-LABEL: graph.reshape ([i, jk]) -> ([ij, k]) i=4 j=2 k=3 through 0: sum, 0: max
// CHECK: factor 0 part 1 of 2:
// CHECK-NEXT: graph.reshape {shape = array<i64: 4, 3>} : (tensor<2x6xf64>) -> tensor<4x3xf64>
// CHECK-NEXT: factor 1 part 0 of 2: cannot be split, minor
// CHECK-LABEL: graph.reshape ([i, l]) -> ([j, k]) i=4:blocked(flattening) j=3:blocked(flattening) k=8:blocked(flattening) l=6:blocked(flattening)
// CHECK-LABEL: graph.transpose ([j, i]) -> ([i, j]) i=6 j=4
// CHECK-LABEL: graph.expand ([j, 1]) -> ([i, j, k]) i=2 j=4 k=3
// CHECK: factor 2 part 1 of 2:
// CHECK-NEXT: graph.expand {shape = array<i64: 2, 4, 1>} : (tensor<4x1xf64>) -> tensor<2x4x1xf64>

// A padded dim: parts of the operand give partial sums, parts of the result are cut
// out of the whole operand.
// CHECK-LABEL: graph.pad ([i, k]) -> ([j, k]) i=4:sum j=7 k=6 through 0: sum, 0: max
// CHECK: factor 0 part 1 of 2:
// CHECK-NEXT: graph.pad {high = array<i64: 2, 0>, interior = array<i64: 0, 0>, low = array<i64: 3, 0>, value = 0.000000e+00 : f64} : (tensor<2x6xf64>) -> tensor<7x6xf64>
// CHECK: factor 1 part 1 of 2:
// CHECK-NEXT: graph.slice {offsets = array<i64: 3, 0>, sizes = array<i64: 1, 6>
// CHECK-NEXT: graph.pad {high = array<i64: 2, 0>, interior = array<i64: 0, 0>, low = array<i64: 0, 0>, value = 0.000000e+00 : f64} : (tensor<1x6xf64>) -> tensor<3x6xf64>

// A shifted slice reads the whole operand, one by steps is split with it.
// CHECK-LABEL: graph.slice ([i, kl]) -> ([j, k]) i=4:blocked(shifted) j=2 k=3 l=2:blocked(skipped) through 0: sum, 0: max
// CHECK: factor 1 part 1 of 2:
// CHECK-NEXT: graph.slice {offsets = array<i64: 2, 1>, sizes = array<i64: 1, 3>, strides = array<i64: 1, 2>} : (tensor<4x6xf64>) -> tensor<1x3xf64>
// 3 over 2 is 2 and 1: of the operand's 6 that would be 4 and 2.
// CHECK: factor 2 part 0 of 2: cannot be split, uneven

// CHECK-LABEL: graph.cat ([k, j], [l, j]) -> ([i, j]) i=10:blocked(index in payload) j=6 k=4:blocked(shifted) l=6:blocked(shifted) through 0: max, 1: max, 0+1: sum, 0+1: max
graph.step @f(%x: tensor<4x6xf64>, %column: tensor<4x1xf64>, %six: tensor<6x6xf64>) {
  %0 = graph.reshape %x {shape = array<i64: 8, 3>} : (tensor<4x6xf64>) -> tensor<8x3xf64>
  %1 = graph.reshape %x {shape = array<i64: 3, 8>} : (tensor<4x6xf64>) -> tensor<3x8xf64>
  %2 = graph.transpose %x {permutation = array<i64: 1, 0>} : (tensor<4x6xf64>) -> tensor<6x4xf64>
  %3 = graph.expand %column {shape = array<i64: 2, 4, 3>} : (tensor<4x1xf64>) -> tensor<2x4x3xf64>
  %4 = graph.pad %x {low = array<i64: 1, 0>, high = array<i64: 2, 0>, interior = array<i64: 0, 0>, value = 0.0} : (tensor<4x6xf64>) -> tensor<7x6xf64>
  %5 = graph.slice %x {offsets = array<i64: 1, 1>, sizes = array<i64: 2, 3>, strides = array<i64: 1, 2>} : (tensor<4x6xf64>) -> tensor<2x3xf64>
  %6 = graph.cat %x, %six {dim = 0} : (tensor<4x6xf64>, tensor<6x6xf64>) -> tensor<10x6xf64>
  graph.return
}
