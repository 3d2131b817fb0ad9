// RUN: dl-opt %s --print-sharding-rules=shards=2 --no-output | FileCheck %s

// Overlapping windows keep rows and columns whole.
// CHECK-LABEL: graph.conv2d ([i, m, p, q], [j, m, n, o]) -> ([i, j, k, l]) i=2 j=6
// CHECK-SAME: k=6:blocked(window halo)
// CHECK-SAME: m=4:sum
// CHECK-SAME: through 0: sum, 1: sum
// Windows side by side do not.
// CHECK-LABEL: graph.conv2d ([i, m, kn, lo], [j, m, n, o]) -> ([i, j, k, l]) i=2 j=6 k=4 l=4 m=4:sum n=2:sum o=2:sum through 0: sum, 1: sum
// CHECK: factor 2 part 1 of 2:
// CHECK-NEXT: (tensor<2x4x4x8xf64>, tensor<6x4x2x2xf64>) -> tensor<2x6x2x4xf64>
// In groups: the groups are the outer part of the channels.
// CHECK-LABEL: graph.conv2d ([i, jl, n, q], [jk, l, o, r]) -> ([i, jk, m, p]) i=2 j=2 k=3 l=2:sum
// CHECK: factor 1 part 0 of 2:
// CHECK-NEXT: groups = 1 : i64
// CHECK-SAME: (tensor<2x2x8x8xf64>, tensor<3x2x3x3xf64>) -> tensor<2x3x8x8xf64>
graph.step @forward(%x: tensor<2x4x8x8xf64>, %w3: tensor<6x4x3x3xf64>, %w2: tensor<6x4x2x2xf64>, %wg: tensor<6x2x3x3xf64>) {
  %0 = graph.conv2d %x, %w3 {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<2x4x8x8xf64>, tensor<6x4x3x3xf64>) -> tensor<2x6x6x6xf64>
  %1 = graph.conv2d %x, %w2 {stride = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<2x4x8x8xf64>, tensor<6x4x2x2xf64>) -> tensor<2x6x4x4xf64>
  %2 = graph.conv2d %x, %wg {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>, groups = 2} : (tensor<2x4x8x8xf64>, tensor<6x2x3x3xf64>) -> tensor<2x6x8x8xf64>
  graph.return
}

// The gradients: output channels, or images, are summed.
// CHECK-LABEL: graph.conv2d_input_grad ([i, j, {{.*}}], [j, k, {{.*}}]) -> ([i, k, {{.*}}]) i=2 j=6:sum k=4
// CHECK-LABEL: graph.conv2d_weight_grad ([i, k, {{.*}}], [i, j, {{.*}}]) -> ([j, k, {{.*}}]) i=2:sum j=6 k=4
graph.step @backward(%x: tensor<2x4x8x8xf64>, %w: tensor<6x4x3x3xf64>, %dy: tensor<2x6x8x8xf64>) {
  %0 = graph.conv2d_input_grad %dy, %w {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>, input_shape = array<i64: 2, 4, 8, 8>} : (tensor<2x6x8x8xf64>, tensor<6x4x3x3xf64>) -> tensor<2x4x8x8xf64>
  %1 = graph.conv2d_weight_grad %x, %dy {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>, kernel = array<i64: 3, 3>} : (tensor<2x4x8x8xf64>, tensor<2x6x8x8xf64>) -> tensor<6x4x3x3xf64>
  graph.return
}

// A lone window's taps are summed, if each has as many rows as another.
// CHECK-LABEL: graph.conv2d ([i, jl, mn, op], [jk, l, m, o]) -> ([i, jk, 1, 1]) i=2 j=2 k=2 l=2:sum m=6:sum n=2:blocked(skipped) o=4:sum p=2:blocked(skipped)
// CHECK: factor 4 part 1 of 2:
// CHECK-NEXT: (tensor<2x4x6x8xf64>, tensor<4x2x3x4xf64>) -> tensor<2x4x1x1xf64>
graph.step @taps(%x: tensor<2x4x12x8xf64>, %w: tensor<4x2x6x4xf64>) {
  %0 = graph.conv2d %x, %w {stride = array<i64: 2, 2>, padding = array<i64: 0, 0>, dilation = array<i64: 2, 2>, groups = 2} : (tensor<2x4x12x8xf64>, tensor<4x2x6x4xf64>) -> tensor<2x4x1x1xf64>
  graph.return
}

// Groups as a dim of their own are split to single ones.
// CHECK-LABEL: graph.conv2d ([i, j, {{.*}}], [j, {{.*}}]) -> ([i, j, {{.*}}]) i=2 j=2
// CHECK: factor 1 part 1 of 2:
// CHECK-NEXT: groups = 1 : i64
// CHECK-SAME: (tensor<2x1x2x5x5xf64>, tensor<1x6x2x2x2xf64>) -> tensor<2x1x6x4x4xf64>
graph.step @single_groups(%x: tensor<2x2x2x5x5xf64>, %w: tensor<2x6x2x2x2xf64>) {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, groups = 2} : (tensor<2x2x2x5x5xf64>, tensor<2x6x2x2x2xf64>) -> tensor<2x2x6x4x4xf64>
  graph.return
}
