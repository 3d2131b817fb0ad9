// RUN: dl-opt %s --decompose | FileCheck %s

// CHECK-LABEL: @padded
// CHECK: [[X:%.*]] = graph.pad %arg0 {high = array<i64: 0, 0, 1, 2>, interior = array<i64: 0, 0, 0, 0>, low = array<i64: 0, 0, 1, 2>, value = 0.000000e+00 : f64}
// CHECK: graph.conv2d [[X]], %arg1 {padding = array<i64: 0, 0>, stride = array<i64: 2, 2>}
graph.step @padded(%x: tensor<2x3x7x6xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<2x4x4x4xf32> {
  %0 = graph.conv2d %x, %w {stride = array<i64: 2, 2>, padding = array<i64: 1, 2>} : (tensor<2x3x7x6xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x4x4xf32>
  graph.return %0 : tensor<2x4x4x4xf32>
}

// CHECK-LABEL: @simple
// CHECK-NEXT: graph.conv2d
// CHECK-NEXT: return
graph.step @simple(%x: tensor<2x3x7x6xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<2x4x5x4xf32> {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<2x3x7x6xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x5x4xf32>
  graph.return %0 : tensor<2x4x5x4xf32>
}

// Even and odd rows and columns meet taps of their own: four gradients with stride 1, spread and added.
// CHECK-LABEL: @input_grad
// CHECK: [[EVEN:%.*]] = graph.slice %arg1 {offsets = array<i64: 0, 0, 0, 0>, sizes = array<i64: 4, 3, 2, 2>, strides = array<i64: 1, 1, 2, 2>}
// CHECK: [[PART:%.*]] = graph.conv2d_input_grad %{{.*}}, [[EVEN]] {input_shape = array<i64: 2, 3, 4, 4>, padding = array<i64: 1, 1>, stride = array<i64: 1, 1>}
// CHECK: graph.pad [[PART]] {high = array<i64: 0, 0, 1, 0>, interior = array<i64: 0, 0, 1, 1>, low = array<i64: 0, 0, 0, 0>
// CHECK-COUNT-3: graph.add
// CHECK: return
graph.step @input_grad(%dy: tensor<2x4x3x3xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<2x3x8x7xf32> {
  %0 = graph.conv2d_input_grad %dy, %w {stride = array<i64: 2, 2>, padding = array<i64: 0, 0>, input_shape = array<i64: 2, 3, 8, 7>} : (tensor<2x4x3x3xf32>, tensor<4x3x3x3xf32>) -> tensor<2x3x8x7xf32>
  graph.return %0 : tensor<2x3x8x7xf32>
}

// With a dilation as well, the stride goes between the elements; the row that no window reached, after them.
// CHECK-LABEL: @dilated_input_grad
// CHECK: [[DY:%.*]] = graph.pad %arg0 {high = array<i64: 0, 0, 5, 4>, interior = array<i64: 0, 0, 1, 1>, low = array<i64: 0, 0, 4, 4>
// CHECK: graph.conv2d_input_grad [[DY]], %arg1 {dilation = array<i64: 2, 2>, input_shape = array<i64: 2, 3, 10, 9>, padding = array<i64: 4, 4>, stride = array<i64: 1, 1>}
graph.step @dilated_input_grad(%dy: tensor<2x4x3x3xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<2x3x10x9xf32> {
  %0 = graph.conv2d_input_grad %dy, %w {stride = array<i64: 2, 2>, padding = array<i64: 0, 0>, dilation = array<i64: 2, 2>, input_shape = array<i64: 2, 3, 10, 9>} : (tensor<2x4x3x3xf32>, tensor<4x3x3x3xf32>) -> tensor<2x3x10x9xf32>
  graph.return %0 : tensor<2x3x10x9xf32>
}

// Padding beyond the kernel: the gradient of the rim is cut off.
// CHECK-LABEL: @wide_padding
// CHECK: graph.conv2d_input_grad {{.*}}input_shape = array<i64: 1, 1, 6, 6>
// CHECK: graph.slice {{.*}}offsets = array<i64: 0, 0, 1, 1>, sizes = array<i64: 1, 1, 4, 4>
graph.step @wide_padding(%dy: tensor<1x1x7x7xf32>, %w: tensor<1x1x2x2xf32>) -> tensor<1x1x4x4xf32> {
  %0 = graph.conv2d_input_grad %dy, %w {stride = array<i64: 1, 1>, padding = array<i64: 2, 2>, input_shape = array<i64: 1, 1, 4, 4>} : (tensor<1x1x7x7xf32>, tensor<1x1x2x2xf32>) -> tensor<1x1x4x4xf32>
  graph.return %0 : tensor<1x1x4x4xf32>
}
