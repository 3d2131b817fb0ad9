// RUN: dl-opt %s --print-sharding-rules=shards=2 --no-output | FileCheck %s

// Windows side by side: rows can be split, positions within a window not.
// CHECK-LABEL: graph.max_pool2d ([i, j, km, ln]) -> ([i, j, k, l], [i, j, k, l]) i=2 j=3 k=4 l=3 m=2:blocked(index merge) n=2:blocked(index merge)
// CHECK: factor 2 part 1 of 2:
// CHECK-NEXT: (tensor<2x3x4x6xf64>) -> (tensor<2x3x2x3xf64>, tensor<2x3x2x3xui8>)
// CHECK: factor 3 part 0 of 2: cannot be split, uneven
// CHECK-LABEL: graph.max_pool2d_grad ([i, j, k, m], [i, j, k, m]) -> ([i, j, kl, mn]) i=2 j=3 k=4 l=2:blocked(index in payload) m=3 n=2:blocked(index in payload) through 0: sum
// CHECK: factor 2 part 1 of 2:
// CHECK-NEXT: graph.max_pool2d_grad {input_shape = array<i64: 2, 3, 4, 6>
// Overlapping ones keep them whole.
// CHECK-LABEL: graph.sum_pool2d ([i, j, o, p]) -> ([i, j, k, l]) i=2 j=3 k=6:blocked(window halo) l=4:blocked(window halo)
graph.step @f(%x: tensor<2x3x8x6xf64>) {
  %0, %1 = graph.max_pool2d %x {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<2x3x8x6xf64>) -> (tensor<2x3x4x3xf64>, tensor<2x3x4x3xui8>)
  %2 = graph.max_pool2d_grad %0, %1 {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>, input_shape = array<i64: 2, 3, 8, 6>} : (tensor<2x3x4x3xf64>, tensor<2x3x4x3xui8>) -> tensor<2x3x8x6xf64>
  %3 = graph.sum_pool2d %x {kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<2x3x8x6xf64>) -> tensor<2x3x6x4xf64>
  graph.return
}
