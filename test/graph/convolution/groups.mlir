// RUN: dl-opt %s --decompose | FileCheck %s
// RUN: dl-opt %s --decompose --print-loop-nests --print-costs --no-output | FileCheck %s --check-prefix=NEST

// Padding comes first: the groups become a dim of what is padded.
// CHECK-LABEL: @groups
// CHECK: [[P:%.*]] = graph.pad %arg0
// CHECK: [[X:%.*]] = graph.reshape [[P]] {shape = array<i64: 2, 2, 3, 9, 8>}
// CHECK: [[W:%.*]] = graph.reshape %arg1 {shape = array<i64: 2, 2, 3, 3, 3>}
// CHECK: [[Y:%.*]] = graph.conv2d [[X]], [[W]] {dilation = array<i64: 2, 1>, groups = 2 : i64, padding = array<i64: 0, 0>, stride = array<i64: 1, 1>}
// CHECK-SAME: -> tensor<2x2x2x5x6xf32>
// CHECK: graph.reshape [[Y]] {shape = array<i64: 2, 4, 5, 6>}
// NEST-LABEL: graph.conv2d
// NEST-NEXT: extents [2, 2, 2, 5, 6 | 3, 3, 3] combine sum contraction
// NEST-NEXT: -> (d0, d1, d5, d3 + d6 * 2, d4 + d7)
// NEST-NEXT: -> (d1, d2, d5, d6, d7)
graph.step @groups(%x: tensor<2x6x7x6xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<2x4x5x6xf32> {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>, dilation = array<i64: 2, 1>, groups = 2} : (tensor<2x6x7x6xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x5x6xf32>
  graph.return %0 : tensor<2x4x5x6xf32>
}

// One channel a group: no dim for the groups, so that what follows can be fused.
// CHECK-LABEL: @depthwise
// CHECK-NOT: graph.reshape
// CHECK: return
// NEST-LABEL: graph.conv2d
// NEST-NEXT: extents [2, 6, 5, 4 | 3, 3] combine sum contraction
// NEST-NEXT: -> (d0, d1, d2 + d4, d3 + d5)
// NEST-NEXT: -> (d1, 0, d4, d5)
// NEST-LABEL: graph.conv2d_input_grad
// NEST-NEXT: extents [2, 6, 7, 6 | 3, 3] combine sum contraction
// NEST-NEXT: -> (d0, d1, d2 + d4, d3 + d5)
// NEST-NEXT: -> (d1, 0, -d4 + 2, -d5 + 2)
// NEST-LABEL: graph.conv2d_weight_grad
// NEST-NEXT: extents [6, 1, 3, 3 | 2, 5, 4] combine sum contraction
// NEST-NEXT: -> (d4, d0, d2 + d5, d3 + d6)
// NEST-NEXT: -> (d4, d0, d5, d6)
graph.step @depthwise(%x: tensor<2x6x7x6xf32>, %w: tensor<6x1x3x3xf32>) -> (tensor<2x6x5x4xf32>, tensor<2x6x7x6xf32>, tensor<6x1x3x3xf32>) {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, groups = 6} : (tensor<2x6x7x6xf32>, tensor<6x1x3x3xf32>) -> tensor<2x6x5x4xf32>
  %1 = graph.conv2d_input_grad %0, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, input_shape = array<i64: 2, 6, 7, 6>, groups = 6} : (tensor<2x6x5x4xf32>, tensor<6x1x3x3xf32>) -> tensor<2x6x7x6xf32>
  %2 = graph.conv2d_weight_grad %x, %0 {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, kernel = array<i64: 3, 3>, groups = 6} : (tensor<2x6x7x6xf32>, tensor<2x6x5x4xf32>) -> tensor<6x1x3x3xf32>
  graph.return %0, %1, %2 : tensor<2x6x5x4xf32>, tensor<2x6x7x6xf32>, tensor<6x1x3x3xf32>
}

// With dilation the full padding of the backward op is that of the kernel's reach.
// CHECK-LABEL: @input_grad
// CHECK: graph.pad %arg0 {high = array<i64: 0, 0, 4, 2>, interior = array<i64: 0, 0, 0, 0>, low = array<i64: 0, 0, 4, 2>
// CHECK: graph.conv2d_input_grad {{.*}}padding = array<i64: 4, 2>, stride = array<i64: 1, 1>}
// NEST-LABEL: graph.conv2d_input_grad
// NEST: -> (d0, d4, d2 + d5 * 2, d3 + d6)
// NEST: graph.conv2d flops 12960
graph.step @input_grad(%dy: tensor<1x2x3x4xf32>, %w: tensor<2x1x3x3xf32>) -> tensor<1x1x7x6xf32> {
  %0 = graph.conv2d_input_grad %dy, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, input_shape = array<i64: 1, 1, 7, 6>, dilation = array<i64: 2, 1>} : (tensor<1x2x3x4xf32>, tensor<2x1x3x3xf32>) -> tensor<1x1x7x6xf32>
  graph.return %0 : tensor<1x1x7x6xf32>
}
