// RUN: dl-opt %s --print-gradients --no-output | FileCheck %s

// CHECK-LABEL: graph.step @gradient.conv2d
// CHECK: graph.conv2d_input_grad %arg2, %arg1 {input_shape = array<i64: 2, 3, 7, 6>, padding = array<i64: 1, 2>, stride = array<i64: 2, 2>}
// CHECK: graph.conv2d_weight_grad %arg0, %arg2 {kernel = array<i64: 3, 3>, padding = array<i64: 1, 2>, stride = array<i64: 2, 2>}
graph.step @conv(%x: tensor<2x3x7x6xf32>, %w: tensor<4x3x3x3xf32>) {
  %0 = graph.conv2d %x, %w {stride = array<i64: 2, 2>, padding = array<i64: 1, 2>} : (tensor<2x3x7x6xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x4x4xf32>
  graph.return
}

// CHECK-LABEL: graph.step @gradient.conv2d
// CHECK: graph.conv2d_input_grad %arg2, %arg1 {dilation = array<i64: 2, 1>, groups = 3 : i64, input_shape
// CHECK: graph.conv2d_weight_grad %arg0, %arg2 {dilation = array<i64: 2, 1>, groups = 3 : i64, kernel
graph.step @groups(%x: tensor<2x3x7x6xf32>, %w: tensor<6x1x3x3xf32>) {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, dilation = array<i64: 2, 1>, groups = 3} : (tensor<2x3x7x6xf32>, tensor<6x1x3x3xf32>) -> tensor<2x6x3x4xf32>
  graph.return
}
