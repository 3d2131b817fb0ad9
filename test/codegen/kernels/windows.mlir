// Convolutions and pooling of several kernels, strides and paddings, with their gradients.

graph.step @conv_1x1(%x: tensor<3x13x7x9xf32>, %w: tensor<17x13x1x1xf32>) -> tensor<3x17x7x9xf32> {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<3x13x7x9xf32>, tensor<17x13x1x1xf32>) -> tensor<3x17x7x9xf32>
  graph.return %0 : tensor<3x17x7x9xf32>
}
graph.step @conv_1x1_stride_2(%x: tensor<3x13x7x9xf32>, %w: tensor<17x13x1x1xf32>) -> tensor<3x17x4x5xf32> {
  %0 = graph.conv2d %x, %w {stride = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<3x13x7x9xf32>, tensor<17x13x1x1xf32>) -> tensor<3x17x4x5xf32>
  graph.return %0 : tensor<3x17x4x5xf32>
}
graph.step @conv_3x3_stride_2(%x: tensor<2x6x14x15xf32>, %w: tensor<11x6x3x3xf32>, %b: tensor<11x1x1xf32>) -> tensor<2x11x7x8xf32> {
  %0 = graph.conv2d %x, %w {stride = array<i64: 2, 2>, padding = array<i64: 1, 1>} : (tensor<2x6x14x15xf32>, tensor<11x6x3x3xf32>) -> tensor<2x11x7x8xf32>
  %1 = graph.add %0, %b : (tensor<2x11x7x8xf32>, tensor<11x1x1xf32>) -> tensor<2x11x7x8xf32>
  %2 = graph.relu %1 : (tensor<2x11x7x8xf32>) -> tensor<2x11x7x8xf32>
  graph.return %2 : tensor<2x11x7x8xf32>
}
graph.step @conv_3x3_same(%x: tensor<2x5x17x19xf32>, %w: tensor<7x5x3x3xf32>) -> tensor<2x7x17x19xf32> {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<2x5x17x19xf32>, tensor<7x5x3x3xf32>) -> tensor<2x7x17x19xf32>
  graph.return %0 : tensor<2x7x17x19xf32>
}
graph.step @conv_7x7_stride_2(%x: tensor<2x3x29x31xf32>, %w: tensor<9x3x7x7xf32>) -> tensor<2x9x15x16xf32> {
  %0 = graph.conv2d %x, %w {stride = array<i64: 2, 2>, padding = array<i64: 3, 3>} : (tensor<2x3x29x31xf32>, tensor<9x3x7x7xf32>) -> tensor<2x9x15x16xf32>
  graph.return %0 : tensor<2x9x15x16xf32>
}
graph.step @conv_strides_differ(%x: tensor<2x3x20x23xf64>, %w: tensor<4x3x5x2xf64>) -> tensor<2x4x7x12xf64> {
  %0 = graph.conv2d %x, %w {stride = array<i64: 3, 2>, padding = array<i64: 2, 1>} : (tensor<2x3x20x23xf64>, tensor<4x3x5x2xf64>) -> tensor<2x4x7x12xf64>
  graph.return %0 : tensor<2x4x7x12xf64>
}
graph.step @conv_whole_image(%x: tensor<5x4x6x7xf32>, %w: tensor<9x4x6x7xf32>) -> tensor<5x9x1x1xf32> {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<5x4x6x7xf32>, tensor<9x4x6x7xf32>) -> tensor<5x9x1x1xf32>
  graph.return %0 : tensor<5x9x1x1xf32>
}
graph.step @conv_one_of_all(%x: tensor<1x1x5x5xf32>, %w: tensor<1x1x5x5xf32>) -> tensor<1x1x1x1xf32> {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<1x1x5x5xf32>, tensor<1x1x5x5xf32>) -> tensor<1x1x1x1xf32>
  graph.return %0 : tensor<1x1x1x1xf32>
}
graph.step @conv_wide(%x: tensor<1x2x4x300xf32>, %w: tensor<5x2x3x3xf32>) -> tensor<1x5x2x298xf32> {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<1x2x4x300xf32>, tensor<5x2x3x3xf32>) -> tensor<1x5x2x298xf32>
  graph.return %0 : tensor<1x5x2x298xf32>
}
// Larger than one tile in every direction.
graph.step @conv_tiles(%x: tensor<5x8x26x26xf32>, %w: tensor<61x8x3x3xf32>) -> tensor<5x61x24x24xf32> {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<5x8x26x26xf32>, tensor<61x8x3x3xf32>) -> tensor<5x61x24x24xf32>
  graph.return %0 : tensor<5x61x24x24xf32>
}
graph.step @conv_of_bytes(%x: tensor<4x1x28x28xui8>, %w: tensor<10x1x5x5xf32>) -> tensor<4x10x24x24xf32> {
  %0 = graph.cast %x {to = f32} : (tensor<4x1x28x28xui8>) -> tensor<4x1x28x28xf32>
  %1 = graph.conv2d %0, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<4x1x28x28xf32>, tensor<10x1x5x5xf32>) -> tensor<4x10x24x24xf32>
  graph.return %1 : tensor<4x10x24x24xf32>
}
graph.step @input_grad_1x1(%dy: tensor<3x17x4x5xf32>, %w: tensor<17x13x1x1xf32>) -> tensor<3x13x7x9xf32> {
  %0 = graph.conv2d_input_grad %dy, %w {stride = array<i64: 2, 2>, padding = array<i64: 0, 0>, input_shape = array<i64: 3, 13, 7, 9>} : (tensor<3x17x4x5xf32>, tensor<17x13x1x1xf32>) -> tensor<3x13x7x9xf32>
  graph.return %0 : tensor<3x13x7x9xf32>
}
graph.step @input_grad_3x3(%dy: tensor<2x11x7x8xf32>, %w: tensor<11x6x3x3xf32>) -> tensor<2x6x14x15xf32> {
  %0 = graph.conv2d_input_grad %dy, %w {stride = array<i64: 2, 2>, padding = array<i64: 1, 1>, input_shape = array<i64: 2, 6, 14, 15>} : (tensor<2x11x7x8xf32>, tensor<11x6x3x3xf32>) -> tensor<2x6x14x15xf32>
  graph.return %0 : tensor<2x6x14x15xf32>
}
graph.step @input_grad_7x7(%dy: tensor<2x9x15x16xf32>, %w: tensor<9x3x7x7xf32>) -> tensor<2x3x29x31xf32> {
  %0 = graph.conv2d_input_grad %dy, %w {stride = array<i64: 2, 2>, padding = array<i64: 3, 3>, input_shape = array<i64: 2, 3, 29, 31>} : (tensor<2x9x15x16xf32>, tensor<9x3x7x7xf32>) -> tensor<2x3x29x31xf32>
  graph.return %0 : tensor<2x3x29x31xf32>
}
graph.step @input_grad_whole_image(%dy: tensor<5x9x1x1xf32>, %w: tensor<9x4x6x7xf32>) -> tensor<5x4x6x7xf32> {
  %0 = graph.conv2d_input_grad %dy, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, input_shape = array<i64: 5, 4, 6, 7>} : (tensor<5x9x1x1xf32>, tensor<9x4x6x7xf32>) -> tensor<5x4x6x7xf32>
  graph.return %0 : tensor<5x4x6x7xf32>
}
graph.step @weight_grad_1x1(%x: tensor<3x13x7x9xf32>, %dy: tensor<3x17x4x5xf32>) -> tensor<17x13x1x1xf32> {
  %0 = graph.conv2d_weight_grad %x, %dy {stride = array<i64: 2, 2>, padding = array<i64: 0, 0>, kernel = array<i64: 1, 1>} : (tensor<3x13x7x9xf32>, tensor<3x17x4x5xf32>) -> tensor<17x13x1x1xf32>
  graph.return %0 : tensor<17x13x1x1xf32>
}
graph.step @weight_grad_1x1_dense(%x: tensor<3x13x7x9xf32>, %dy: tensor<3x17x7x9xf32>) -> tensor<17x13x1x1xf32> {
  %0 = graph.conv2d_weight_grad %x, %dy {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, kernel = array<i64: 1, 1>} : (tensor<3x13x7x9xf32>, tensor<3x17x7x9xf32>) -> tensor<17x13x1x1xf32>
  graph.return %0 : tensor<17x13x1x1xf32>
}
graph.step @weight_grad_3x3(%x: tensor<2x6x14x15xf32>, %dy: tensor<2x11x7x8xf32>) -> tensor<11x6x3x3xf32> {
  %0 = graph.conv2d_weight_grad %x, %dy {stride = array<i64: 2, 2>, padding = array<i64: 1, 1>, kernel = array<i64: 3, 3>} : (tensor<2x6x14x15xf32>, tensor<2x11x7x8xf32>) -> tensor<11x6x3x3xf32>
  graph.return %0 : tensor<11x6x3x3xf32>
}
graph.step @weight_grad_7x7(%x: tensor<2x3x29x31xf32>, %dy: tensor<2x9x15x16xf32>) -> tensor<9x3x7x7xf32> {
  %0 = graph.conv2d_weight_grad %x, %dy {stride = array<i64: 2, 2>, padding = array<i64: 3, 3>, kernel = array<i64: 7, 7>} : (tensor<2x3x29x31xf32>, tensor<2x9x15x16xf32>) -> tensor<9x3x7x7xf32>
  graph.return %0 : tensor<9x3x7x7xf32>
}
graph.step @weight_grad_one_channel(%x: tensor<4x1x28x28xui8>, %dy: tensor<4x10x24x24xf32>, %w: tensor<10x1x5x5xf32>) -> tensor<10x1x5x5xf32> {
  %0 = graph.cast %x {to = f32} : (tensor<4x1x28x28xui8>) -> tensor<4x1x28x28xf32>
  %1 = graph.conv2d_weight_grad %0, %dy {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, kernel = array<i64: 5, 5>} : (tensor<4x1x28x28xf32>, tensor<4x10x24x24xf32>) -> tensor<10x1x5x5xf32>
  %2 = graph.sub %w, %1 : (tensor<10x1x5x5xf32>, tensor<10x1x5x5xf32>) -> tensor<10x1x5x5xf32>
  graph.return %2 : tensor<10x1x5x5xf32>
}
graph.step @pool_overlap(%x: tensor<2x5x15x17xf32>) -> (tensor<2x5x7x8xf32>, tensor<2x5x7x8xui8>) {
  %0:2 = graph.max_pool2d %x {kernel = array<i64: 3, 3>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<2x5x15x17xf32>) -> (tensor<2x5x7x8xf32>, tensor<2x5x7x8xui8>)
  graph.return %0#0, %0#1 : tensor<2x5x7x8xf32>, tensor<2x5x7x8xui8>
}
graph.step @pool_overlap_grad(%x: tensor<2x5x15x17xf32>, %dy: tensor<2x5x7x8xf32>) -> tensor<2x5x15x17xf32> {
  %0:2 = graph.max_pool2d %x {kernel = array<i64: 3, 3>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<2x5x15x17xf32>) -> (tensor<2x5x7x8xf32>, tensor<2x5x7x8xui8>)
  %1 = graph.max_pool2d_grad %dy, %0#1 {kernel = array<i64: 3, 3>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>, input_shape = array<i64: 2, 5, 15, 17>} : (tensor<2x5x7x8xf32>, tensor<2x5x7x8xui8>) -> tensor<2x5x15x17xf32>
  graph.return %1 : tensor<2x5x15x17xf32>
}
// Rows and columns between the windows and behind the last one.
graph.step @pool_gaps_grad(%x: tensor<2x3x14x19xf32>, %dy: tensor<2x3x5x4xf32>) -> tensor<2x3x14x19xf32> {
  %0:2 = graph.max_pool2d %x {kernel = array<i64: 2, 3>, stride = array<i64: 3, 5>, padding = array<i64: 0, 0>} : (tensor<2x3x14x19xf32>) -> (tensor<2x3x5x4xf32>, tensor<2x3x5x4xui8>)
  %1 = graph.max_pool2d_grad %dy, %0#1 {kernel = array<i64: 2, 3>, stride = array<i64: 3, 5>, padding = array<i64: 0, 0>, input_shape = array<i64: 2, 3, 14, 19>} : (tensor<2x3x5x4xf32>, tensor<2x3x5x4xui8>) -> tensor<2x3x14x19xf32>
  graph.return %1 : tensor<2x3x14x19xf32>
}
// All values equal: the first of each window, and gradients add up where windows overlap.
graph.step @pool_ties(%s: tensor<1x1x1x1xf32>, %dy: tensor<1x2x8x9xf32>) -> (tensor<1x2x8x9xui8>, tensor<1x2x10x11xf32>) {
  %x = graph.expand %s {shape = array<i64: 1, 2, 10, 11>} : (tensor<1x1x1x1xf32>) -> tensor<1x2x10x11xf32>
  %0:2 = graph.max_pool2d %x {kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<1x2x10x11xf32>) -> (tensor<1x2x8x9xf32>, tensor<1x2x8x9xui8>)
  %1 = graph.max_pool2d_grad %dy, %0#1 {kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, input_shape = array<i64: 1, 2, 10, 11>} : (tensor<1x2x8x9xf32>, tensor<1x2x8x9xui8>) -> tensor<1x2x10x11xf32>
  graph.return %0#1, %1 : tensor<1x2x8x9xui8>, tensor<1x2x10x11xf32>
}
// More than 256 positions: the index has four bytes; the window is a loop.
graph.step @pool_large_window(%x: tensor<2x2x20x37xf32>) -> (tensor<2x2x1x3xf32>, tensor<2x2x1x3xi32>) {
  %0:2 = graph.max_pool2d %x {kernel = array<i64: 17, 17>, stride = array<i64: 10, 10>, padding = array<i64: 0, 0>} : (tensor<2x2x20x37xf32>) -> (tensor<2x2x1x3xf32>, tensor<2x2x1x3xi32>)
  graph.return %0#0, %0#1 : tensor<2x2x1x3xf32>, tensor<2x2x1x3xi32>
}
graph.step @pool_indices_only(%x: tensor<2x5x12x12xf32>) -> tensor<2x5x6x6xui8> {
  %0:2 = graph.max_pool2d %x {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<2x5x12x12xf32>) -> (tensor<2x5x6x6xf32>, tensor<2x5x6x6xui8>)
  graph.return %0#1 : tensor<2x5x6x6xui8>
}
// Convolution, bias, activation, pooling and their gradient in f64.
graph.step @conv_pool_grad(%x: tensor<2x3x12x12xf64>, %w: tensor<6x3x5x5xf64>, %b: tensor<6x1x1xf64>, %dy: tensor<2x6x4x4xf64>) -> (tensor<6x3x5x5xf64>, tensor<6xf64>) {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<2x3x12x12xf64>, tensor<6x3x5x5xf64>) -> tensor<2x6x8x8xf64>
  %1 = graph.add %0, %b : (tensor<2x6x8x8xf64>, tensor<6x1x1xf64>) -> tensor<2x6x8x8xf64>
  %2:2 = graph.max_pool2d %1 {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<2x6x8x8xf64>) -> (tensor<2x6x4x4xf64>, tensor<2x6x4x4xui8>)
  %zero = graph.full {value = 0.0 : f64, type = tensor<f64>} : () -> tensor<f64>
  %3 = graph.gt %2#0, %zero : (tensor<2x6x4x4xf64>, tensor<f64>) -> tensor<2x6x4x4xi1>
  %4 = graph.select %3, %dy, %zero : (tensor<2x6x4x4xi1>, tensor<2x6x4x4xf64>, tensor<f64>) -> tensor<2x6x4x4xf64>
  %5 = graph.max_pool2d_grad %4, %2#1 {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>, input_shape = array<i64: 2, 6, 8, 8>} : (tensor<2x6x4x4xf64>, tensor<2x6x4x4xui8>) -> tensor<2x6x8x8xf64>
  %6 = graph.conv2d_weight_grad %x, %5 {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, kernel = array<i64: 5, 5>} : (tensor<2x3x12x12xf64>, tensor<2x6x8x8xf64>) -> tensor<6x3x5x5xf64>
  %7 = graph.sum %5 {dims = array<i64: 0, 2, 3>, keepdim = false} : (tensor<2x6x8x8xf64>) -> tensor<6xf64>
  graph.return %6, %7 : tensor<6x3x5x5xf64>, tensor<6xf64>
}
// A pool behind what is elementwise, whose value is needed too: one window and a rest.
graph.step @pool_of_kept(%x: tensor<32x16x3x50xf32>, %y: tensor<32x16x3x50xf32>) -> (tensor<32x16x3x50xf32>, tensor<32x16x1x25xf32>) {
  %0 = graph.mul %x, %y : (tensor<32x16x3x50xf32>, tensor<32x16x3x50xf32>) -> tensor<32x16x3x50xf32>
  %1:2 = graph.max_pool2d %0 {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<32x16x3x50xf32>) -> (tensor<32x16x1x25xf32>, tensor<32x16x1x25xui8>)
  graph.return %0, %1#0 : tensor<32x16x3x50xf32>, tensor<32x16x1x25xf32>
}
