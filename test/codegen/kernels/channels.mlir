// Channels of 16 and more, in fours: stored innermost on GPUs between what is returned.
// A norm and an activation on a convolution, which another one reads, with zeros around.
graph.step @conv_norm_conv(%x: tensor<3x16x7x6xf32>, %w: tensor<20x16x3x3xf32>, %scale: tensor<20x1x1xf32>, %v: tensor<16x20x3x3xf32>) -> (tensor<3x16x7x6xf32>, tensor<20xf32>) {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<3x16x7x6xf32>, tensor<20x16x3x3xf32>) -> tensor<3x20x7x6xf32>
  %1 = graph.mul %0, %scale : (tensor<3x20x7x6xf32>, tensor<20x1x1xf32>) -> tensor<3x20x7x6xf32>
  %2 = graph.relu %1 : (tensor<3x20x7x6xf32>) -> tensor<3x20x7x6xf32>
  %3 = graph.sum %2 {dims = array<i64: 0, 2, 3>, keepdim = false} : (tensor<3x20x7x6xf32>) -> tensor<20xf32>
  %4 = graph.conv2d %2, %v {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<3x20x7x6xf32>, tensor<16x20x3x3xf32>) -> tensor<3x16x7x6xf32>
  graph.return %4, %3 : tensor<3x16x7x6xf32>, tensor<20xf32>
}
// Pooling, and its gradient at positions, between convolutions; another stride, no square filter.
graph.step @conv_pool_conv(%x: tensor<2x16x10x9xf32>, %w: tensor<16x16x3x2xf32>, %v: tensor<20x16x1x3xf32>) -> (tensor<2x20x2x2xf32>, tensor<2x16x8x8xf32>) {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<2x16x10x9xf32>, tensor<16x16x3x2xf32>) -> tensor<2x16x8x8xf32>
  %1:2 = graph.max_pool2d %0 {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<2x16x8x8xf32>) -> (tensor<2x16x4x4xf32>, tensor<2x16x4x4xui8>)
  %2 = graph.conv2d %1#0, %v {stride = array<i64: 2, 2>, padding = array<i64: 0, 1>} : (tensor<2x16x4x4xf32>, tensor<20x16x1x3xf32>) -> tensor<2x20x2x2xf32>
  %3 = graph.tanh %1#0 : (tensor<2x16x4x4xf32>) -> tensor<2x16x4x4xf32>
  %4 = graph.max_pool2d_grad %3, %1#1 {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>, input_shape = array<i64: 2, 16, 8, 8>} : (tensor<2x16x4x4xf32>, tensor<2x16x4x4xui8>) -> tensor<2x16x8x8xf32>
  graph.return %2, %4 : tensor<2x20x2x2xf32>, tensor<2x16x8x8xf32>
}
// Both gradients of one convolution, its operands elementwise on arguments; a filter that is updated.
graph.step @conv_grads(%x: tensor<4x16x6x5xf32>, %dy: tensor<4x24x6x5xf32>, %w: tensor<24x16x3x3xf32>) -> (tensor<4x16x6x5xf32>, tensor<24x16x3x3xf32>) {
  %0 = graph.relu %x : (tensor<4x16x6x5xf32>) -> tensor<4x16x6x5xf32>
  %1 = graph.tanh %dy : (tensor<4x24x6x5xf32>) -> tensor<4x24x6x5xf32>
  %2 = graph.conv2d_input_grad %1, %w {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>, input_shape = array<i64: 4, 16, 6, 5>} : (tensor<4x24x6x5xf32>, tensor<24x16x3x3xf32>) -> tensor<4x16x6x5xf32>
  %3 = graph.conv2d_weight_grad %0, %1 {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>, kernel = array<i64: 3, 3>} : (tensor<4x16x6x5xf32>, tensor<4x24x6x5xf32>) -> tensor<24x16x3x3xf32>
  %4 = graph.sub %w, %3 : (tensor<24x16x3x3xf32>, tensor<24x16x3x3xf32>) -> tensor<24x16x3x3xf32>
  graph.return %2, %4 : tensor<4x16x6x5xf32>, tensor<24x16x3x3xf32>
}
// With a stride, the gradient comes in phases, which are added where they meet.
graph.step @conv_strided_grads(%x: tensor<2x16x9x8xf32>, %dy: tensor<2x16x5x4xf32>, %w: tensor<16x16x3x3xf32>) -> (tensor<2x16x9x8xf32>, tensor<16x16x3x3xf32>) {
  %0 = graph.relu %x : (tensor<2x16x9x8xf32>) -> tensor<2x16x9x8xf32>
  %1 = graph.tanh %dy : (tensor<2x16x5x4xf32>) -> tensor<2x16x5x4xf32>
  %2 = graph.conv2d_input_grad %1, %w {stride = array<i64: 2, 2>, padding = array<i64: 1, 1>, input_shape = array<i64: 2, 16, 9, 8>} : (tensor<2x16x5x4xf32>, tensor<16x16x3x3xf32>) -> tensor<2x16x9x8xf32>
  %3 = graph.mul %2, %0 : (tensor<2x16x9x8xf32>, tensor<2x16x9x8xf32>) -> tensor<2x16x9x8xf32>
  %4 = graph.conv2d_weight_grad %0, %1 {stride = array<i64: 2, 2>, padding = array<i64: 1, 1>, kernel = array<i64: 3, 3>} : (tensor<2x16x9x8xf32>, tensor<2x16x5x4xf32>) -> tensor<16x16x3x3xf32>
  graph.return %3, %4 : tensor<2x16x9x8xf32>, tensor<16x16x3x3xf32>
}
// What is also seen in another shape stays row by row, and is read so.
graph.step @conv_flat(%x: tensor<5x16x4x4xf64>, %w: tensor<16x16x2x2xf64>, %v: tensor<144x3xf64>) -> (tensor<5x3xf64>, tensor<5x16xf64>) {
  %0 = graph.relu %x : (tensor<5x16x4x4xf64>) -> tensor<5x16x4x4xf64>
  %1 = graph.conv2d %0, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<5x16x4x4xf64>, tensor<16x16x2x2xf64>) -> tensor<5x16x3x3xf64>
  %2 = graph.tanh %1 : (tensor<5x16x3x3xf64>) -> tensor<5x16x3x3xf64>
  %3 = graph.reshape %2 {shape = array<i64: 5, 144>} : (tensor<5x16x3x3xf64>) -> tensor<5x144xf64>
  %4 = graph.matmul %3, %v {spec = "mk,kn->mn"} : (tensor<5x144xf64>, tensor<144x3xf64>) -> tensor<5x3xf64>
  %5 = graph.sum %1 {dims = array<i64: 2, 3>, keepdim = false} : (tensor<5x16x3x3xf64>) -> tensor<5x16xf64>
  graph.return %4, %5 : tensor<5x3xf64>, tensor<5x16xf64>
}
// Zeros around what a view reads backwards, and between elements.
graph.step @conv_flipped(%x: tensor<2x16x6x5xf32>, %w: tensor<16x16x3x3xf32>, %v: tensor<10x8xf32>) -> (tensor<2x16x6x5xf32>, tensor<2x16x6x8xf32>) {
  %0 = graph.relu %x : (tensor<2x16x6x5xf32>) -> tensor<2x16x6x5xf32>
  %1 = graph.flip %0 {dims = array<i64: 3>} : (tensor<2x16x6x5xf32>) -> tensor<2x16x6x5xf32>
  %2 = graph.conv2d %1, %w {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<2x16x6x5xf32>, tensor<16x16x3x3xf32>) -> tensor<2x16x6x5xf32>
  %5 = graph.pad %0 {low = array<i64: 0, 0, 0, 1>, high = array<i64: 0, 0, 0, 0>, interior = array<i64: 0, 0, 0, 1>, value = 0.0} : (tensor<2x16x6x5xf32>) -> tensor<2x16x6x10xf32>
  %6 = graph.matmul %5, %v {spec = "bchk,kn->bchn"} : (tensor<2x16x6x10xf32>, tensor<10x8xf32>) -> tensor<2x16x6x8xf32>
  graph.return %2, %6 : tensor<2x16x6x5xf32>, tensor<2x16x6x8xf32>
}
