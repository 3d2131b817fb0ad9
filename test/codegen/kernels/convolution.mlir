// Windows: forward, both gradients, strides and padding, pooling and its gradient.

graph.step @conv_24(%x: tensor<4x1x28x28xf32>, %w: tensor<10x1x5x5xf32>, %b: tensor<10x1x1xf32>) -> tensor<4x10x24x24xf32> {
  %0 = "graph.conv2d"(%x, %w) {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<4x1x28x28xf32>, tensor<10x1x5x5xf32>) -> tensor<4x10x24x24xf32>
  %1 = "graph.add"(%0, %b) : (tensor<4x10x24x24xf32>, tensor<10x1x1xf32>) -> tensor<4x10x24x24xf32>
  graph.return %1 : tensor<4x10x24x24xf32>
}
graph.step @conv_8(%x: tensor<3x10x12x12xf32>, %w: tensor<20x10x5x5xf32>) -> tensor<3x20x8x8xf32> {
  %0 = "graph.conv2d"(%x, %w) {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<3x10x12x12xf32>, tensor<20x10x5x5xf32>) -> tensor<3x20x8x8xf32>
  graph.return %0 : tensor<3x20x8x8xf32>
}
graph.step @conv_odd(%x: tensor<2x3x13x11xf32>, %w: tensor<7x3x3x2xf32>) -> tensor<2x7x7x6xf32> {
  %0 = "graph.conv2d"(%x, %w) {stride = array<i64: 2, 2>, padding = array<i64: 1, 1>} : (tensor<2x3x13x11xf32>, tensor<7x3x3x2xf32>) -> tensor<2x7x7x6xf32>
  graph.return %0 : tensor<2x7x7x6xf32>
}
graph.step @input_grad(%dy: tensor<3x20x8x8xf32>, %w: tensor<20x10x5x5xf32>) -> tensor<3x10x12x12xf32> {
  %0 = "graph.conv2d_input_grad"(%dy, %w) {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, input_shape = array<i64: 3, 10, 12, 12>} : (tensor<3x20x8x8xf32>, tensor<20x10x5x5xf32>) -> tensor<3x10x12x12xf32>
  graph.return %0 : tensor<3x10x12x12xf32>
}
graph.step @input_grad_odd(%dy: tensor<2x7x7x6xf32>, %w: tensor<7x3x3x2xf32>) -> tensor<2x3x13x11xf32> {
  %0 = "graph.conv2d_input_grad"(%dy, %w) {stride = array<i64: 2, 2>, padding = array<i64: 1, 1>, input_shape = array<i64: 2, 3, 13, 11>} : (tensor<2x7x7x6xf32>, tensor<7x3x3x2xf32>) -> tensor<2x3x13x11xf32>
  graph.return %0 : tensor<2x3x13x11xf32>
}
graph.step @weight_grad(%x: tensor<3x10x12x12xf32>, %dy: tensor<3x20x8x8xf32>) -> tensor<20x10x5x5xf32> {
  %0 = "graph.conv2d_weight_grad"(%x, %dy) {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, kernel = array<i64: 5, 5>} : (tensor<3x10x12x12xf32>, tensor<3x20x8x8xf32>) -> tensor<20x10x5x5xf32>
  graph.return %0 : tensor<20x10x5x5xf32>
}
graph.step @weight_grad_odd(%x: tensor<2x3x13x11xf32>, %dy: tensor<2x7x7x6xf32>) -> tensor<7x3x3x2xf32> {
  %0 = "graph.conv2d_weight_grad"(%x, %dy) {stride = array<i64: 2, 2>, padding = array<i64: 1, 1>, kernel = array<i64: 3, 2>} : (tensor<2x3x13x11xf32>, tensor<2x7x7x6xf32>) -> tensor<7x3x3x2xf32>
  graph.return %0 : tensor<7x3x3x2xf32>
}
graph.step @max_pool(%x: tensor<4x10x24x24xf32>) -> (tensor<4x10x12x12xf32>, tensor<4x10x12x12xui8>) {
  %0:2 = "graph.max_pool2d"(%x) {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<4x10x24x24xf32>) -> (tensor<4x10x12x12xf32>, tensor<4x10x12x12xui8>)
  %1 = "graph.relu"(%0#0) : (tensor<4x10x12x12xf32>) -> tensor<4x10x12x12xf32>
  graph.return %1, %0#1 : tensor<4x10x12x12xf32>, tensor<4x10x12x12xui8>
}
graph.step @max_pool_odd(%x: tensor<2x3x11x13xf32>) -> (tensor<2x3x6x5xf32>, tensor<2x3x6x5xui8>) {
  %0:2 = "graph.max_pool2d"(%x) {kernel = array<i64: 3, 4>, stride = array<i64: 2, 3>, padding = array<i64: 1, 2>} : (tensor<2x3x11x13xf32>) -> (tensor<2x3x6x5xf32>, tensor<2x3x6x5xui8>)
  graph.return %0#0, %0#1 : tensor<2x3x6x5xf32>, tensor<2x3x6x5xui8>
}
graph.step @max_pool_grad(%x: tensor<4x10x24x24xf32>, %dy: tensor<4x10x12x12xf32>) -> tensor<4x10x24x24xf32> {
  %i:2 = "graph.max_pool2d"(%x) {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<4x10x24x24xf32>) -> (tensor<4x10x12x12xf32>, tensor<4x10x12x12xui8>)
  %0 = "graph.max_pool2d_grad"(%dy, %i#1) {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>, input_shape = array<i64: 4, 10, 24, 24>} : (tensor<4x10x12x12xf32>, tensor<4x10x12x12xui8>) -> tensor<4x10x24x24xf32>
  graph.return %0 : tensor<4x10x24x24xf32>
}
graph.step @max_pool_grad_odd(%x: tensor<2x3x11x13xf32>, %dy: tensor<2x3x6x5xf32>) -> tensor<2x3x11x13xf32> {
  %i:2 = "graph.max_pool2d"(%x) {kernel = array<i64: 3, 4>, stride = array<i64: 2, 3>, padding = array<i64: 1, 2>} : (tensor<2x3x11x13xf32>) -> (tensor<2x3x6x5xf32>, tensor<2x3x6x5xui8>)
  %0 = "graph.max_pool2d_grad"(%dy, %i#1) {kernel = array<i64: 3, 4>, stride = array<i64: 2, 3>, padding = array<i64: 1, 2>, input_shape = array<i64: 2, 3, 11, 13>} : (tensor<2x3x6x5xf32>, tensor<2x3x6x5xui8>) -> tensor<2x3x11x13xf32>
  graph.return %0 : tensor<2x3x11x13xf32>
}
// The input's gradient phase by phase: taps that a phase has and lacks, rows of dy that only padding
// met, inputs that no tap meets.
graph.step @input_grad_phases(%dy: tensor<2x3x4x3xf32>, %w: tensor<3x2x3x4xf32>) -> tensor<2x2x8x7xf32> {
  %0 = graph.conv2d_input_grad %dy, %w {stride = array<i64: 2, 3>, padding = array<i64: 1, 2>, input_shape = array<i64: 2, 2, 8, 7>} : (tensor<2x3x4x3xf32>, tensor<3x2x3x4xf32>) -> tensor<2x2x8x7xf32>
  graph.return %0 : tensor<2x2x8x7xf32>
}
graph.step @input_grad_one_tap(%dy: tensor<16x3x3x3xf64>, %w: tensor<3x2x1x1xf64>) -> tensor<16x2x6x5xf64> {
  %0 = graph.conv2d_input_grad %dy, %w {stride = array<i64: 2, 2>, padding = array<i64: 0, 0>, input_shape = array<i64: 16, 2, 6, 5>} : (tensor<16x3x3x3xf64>, tensor<3x2x1x1xf64>) -> tensor<16x2x6x5xf64>
  graph.return %0 : tensor<16x2x6x5xf64>
}
graph.step @input_grad_wide_phases(%dy: tensor<17x2x3x3xf32>, %w: tensor<2x2x3x3xf32>) -> tensor<17x2x3x3xf32> {
  %0 = graph.conv2d_input_grad %dy, %w {stride = array<i64: 2, 2>, padding = array<i64: 2, 2>, input_shape = array<i64: 17, 2, 3, 3>} : (tensor<17x2x3x3xf32>, tensor<2x2x3x3xf32>) -> tensor<17x2x3x3xf32>
  graph.return %0 : tensor<17x2x3x3xf32>
}
graph.step @input_grad_group_phases(%dy: tensor<16x6x3x3xf32>, %w: tensor<6x2x3x3xf32>) -> tensor<16x4x7x7xf32> {
  %0 = graph.conv2d_input_grad %dy, %w {stride = array<i64: 2, 2>, padding = array<i64: 0, 0>, groups = 2 : i64, input_shape = array<i64: 16, 4, 7, 7>} : (tensor<16x6x3x3xf32>, tensor<6x2x3x3xf32>) -> tensor<16x4x7x7xf32>
  graph.return %0 : tensor<16x4x7x7xf32>
}
// A filter as of a generator's layers: its phases meet one row of dy behind the input's last.
graph.step @input_grad_even_filter(%dy: tensor<2x3x4x4xf32>, %w: tensor<3x2x4x4xf32>) -> tensor<2x2x8x8xf32> {
  %0 = graph.conv2d_input_grad %dy, %w {stride = array<i64: 2, 2>, padding = array<i64: 1, 1>, input_shape = array<i64: 2, 2, 8, 8>} : (tensor<2x3x4x4xf32>, tensor<3x2x4x4xf32>) -> tensor<2x2x8x8xf32>
  graph.return %0 : tensor<2x2x8x8xf32>
}
graph.step @input_grad_large_filter(%dy: tensor<16x3x3x3xf64>, %w: tensor<3x2x6x5xf64>) -> tensor<16x2x8x9xf64> {
  %0 = graph.conv2d_input_grad %dy, %w {stride = array<i64: 2, 3>, padding = array<i64: 1, 1>, input_shape = array<i64: 16, 2, 8, 9>} : (tensor<16x3x3x3xf64>, tensor<3x2x6x5xf64>) -> tensor<16x2x8x9xf64>
  graph.return %0 : tensor<16x2x8x9xf64>
}
