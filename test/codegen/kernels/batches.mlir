// From 16 images on, vectors run along the images: [B,C,H,W] is stored as C,H,W,B.
graph.step @conv_images(%x: tensor<16x3x9x8xf32>, %w: tensor<5x3x3x3xf32>, %b: tensor<5x1x1xf32>) -> tensor<16x5x7x6xf32> {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<16x3x9x8xf32>, tensor<5x3x3x3xf32>) -> tensor<16x5x7x6xf32>
  %1 = graph.add %0, %b : (tensor<16x5x7x6xf32>, tensor<5x1x1xf32>) -> tensor<16x5x7x6xf32>
  graph.return %1 : tensor<16x5x7x6xf32>
}
// 19 images: rows of images go on from one pixel to the next.
graph.step @conv_odd_images(%x: tensor<19x2x8x7xf32>, %w: tensor<3x2x3x2xf32>) -> tensor<19x3x4x6xf32> {
  %0 = graph.conv2d %x, %w {stride = array<i64: 2, 1>, padding = array<i64: 1, 0>} : (tensor<19x2x8x7xf32>, tensor<3x2x3x2xf32>) -> tensor<19x3x4x6xf32>
  graph.return %0 : tensor<19x3x4x6xf32>
}
// The input's gradient leaves out what lies beyond the border of dy, on every side.
graph.step @input_grad_images(%dy: tensor<16x4x5x6xf32>, %w: tensor<4x3x3x4xf32>) -> tensor<16x3x7x9xf32> {
  %0 = graph.conv2d_input_grad %dy, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, input_shape = array<i64: 16, 3, 7, 9>} : (tensor<16x4x5x6xf32>, tensor<4x3x3x4xf32>) -> tensor<16x3x7x9xf32>
  graph.return %0 : tensor<16x3x7x9xf32>
}
graph.step @input_grad_padded(%dy: tensor<21x2x6x5xf64>, %w: tensor<2x3x5x3xf64>) -> tensor<21x3x6x5xf64> {
  %0 = graph.conv2d_input_grad %dy, %w {stride = array<i64: 1, 1>, padding = array<i64: 2, 1>, input_shape = array<i64: 21, 3, 6, 5>} : (tensor<21x2x6x5xf64>, tensor<2x3x5x3xf64>) -> tensor<21x3x6x5xf64>
  graph.return %0 : tensor<21x3x6x5xf64>
}
// Dilation: which taps count at a border depends on the place modulo the dilation. No tap at
// all counts in the middle of what a wide filter skips.
graph.step @input_grad_dilated(%dy: tensor<17x2x3x2xf32>, %w: tensor<2x2x3x3xf32>) -> tensor<17x2x9x8xf32> {
  %0 = graph.conv2d_input_grad %dy, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, dilation = array<i64: 3, 3>, input_shape = array<i64: 17, 2, 9, 8>} : (tensor<17x2x3x2xf32>, tensor<2x2x3x3xf32>) -> tensor<17x2x9x8xf32>
  graph.return %0 : tensor<17x2x9x8xf32>
}
graph.step @input_grad_strided(%dy: tensor<16x4x3x3xf32>, %w: tensor<4x2x3x3xf32>) -> tensor<16x2x7x7xf32> {
  %0 = graph.conv2d_input_grad %dy, %w {stride = array<i64: 2, 2>, padding = array<i64: 0, 0>, input_shape = array<i64: 16, 2, 7, 7>} : (tensor<16x4x3x3xf32>, tensor<4x2x3x3xf32>) -> tensor<16x2x7x7xf32>
  graph.return %0 : tensor<16x2x7x7xf32>
}
// Padding beyond the filter's reach: a rim of the input has no gradient... and the nest never leaves dy.
graph.step @input_grad_wide_padding(%dy: tensor<16x2x8x8xf32>, %w: tensor<2x2x1x3xf32>) -> tensor<16x2x4x8xf32> {
  %0 = graph.conv2d_input_grad %dy, %w {stride = array<i64: 1, 1>, padding = array<i64: 2, 1>, input_shape = array<i64: 16, 2, 4, 8>} : (tensor<16x2x8x8xf32>, tensor<2x2x1x3xf32>) -> tensor<16x2x4x8xf32>
  graph.return %0 : tensor<16x2x4x8xf32>
}
graph.step @input_grad_groups(%dy: tensor<16x6x5x5xf32>, %w: tensor<6x2x3x3xf32>) -> tensor<16x4x7x7xf32> {
  %0 = graph.conv2d_input_grad %dy, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, groups = 2 : i64, input_shape = array<i64: 16, 4, 7, 7>} : (tensor<16x6x5x5xf32>, tensor<6x2x3x3xf32>) -> tensor<16x4x7x7xf32>
  graph.return %0 : tensor<16x4x7x7xf32>
}
graph.step @input_grad_depthwise(%dy: tensor<16x3x5x5xf32>, %w: tensor<3x1x3x3xf32>) -> tensor<16x3x7x7xf32> {
  %0 = graph.conv2d_input_grad %dy, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, groups = 3 : i64, input_shape = array<i64: 16, 3, 7, 7>} : (tensor<16x3x5x5xf32>, tensor<3x1x3x3xf32>) -> tensor<16x3x7x7xf32>
  graph.return %0 : tensor<16x3x7x7xf32>
}
// Sums along the images, for several taps at once.
graph.step @weight_grad_images(%x: tensor<16x3x9x10xf32>, %dy: tensor<16x7x7x6xf32>) -> tensor<7x3x3x5xf32> {
  %0 = graph.conv2d_weight_grad %x, %dy {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, kernel = array<i64: 3, 5>} : (tensor<16x3x9x10xf32>, tensor<16x7x7x6xf32>) -> tensor<7x3x3x5xf32>
  graph.return %0 : tensor<7x3x3x5xf32>
}
graph.step @weight_grad_odd(%x: tensor<27x2x9x9xf64>, %dy: tensor<27x4x5x5xf64>) -> tensor<4x2x3x3xf64> {
  %0 = graph.conv2d_weight_grad %x, %dy {stride = array<i64: 2, 2>, padding = array<i64: 1, 1>, kernel = array<i64: 3, 3>} : (tensor<27x2x9x9xf64>, tensor<27x4x5x5xf64>) -> tensor<4x2x3x3xf64>
  graph.return %0 : tensor<4x2x3x3xf64>
}
graph.step @weight_grad_wide(%x: tensor<16x1x4x40xf32>, %dy: tensor<16x2x3x10xf32>) -> tensor<2x1x2x31xf32> {
  %0 = graph.conv2d_weight_grad %x, %dy {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, kernel = array<i64: 2, 31>} : (tensor<16x1x4x40xf32>, tensor<16x2x3x10xf32>) -> tensor<2x1x2x31xf32>
  graph.return %0 : tensor<2x1x2x31xf32>
}
// What works image by image is stored the same way: pixels, dropout, pooling, a matrix product behind a reshape.
graph.step @chain(%pixels: tensor<18x1x12x12xui8>, %s: tensor<8xi64> scalars, %w: tensor<4x1x5x5xf32>, %v: tensor<64x3xf32>) -> (tensor<18x3xf32>, tensor<4xf32>, tensor<18x4xf32>) {
  %0 = graph.cast %pixels {to = f32} : (tensor<18x1x12x12xui8>) -> tensor<18x1x12x12xf32>
  %1 = graph.conv2d %0, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<18x1x12x12xf32>, tensor<4x1x5x5xf32>) -> tensor<18x4x8x8xf32>
  %2:2 = graph.max_pool2d %1 {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<18x4x8x8xf32>) -> (tensor<18x4x4x4xf32>, tensor<18x4x4x4xui8>)
  %3 = graph.dropout %2#0, %s {p = 0.5 : f64, key = 5 : i64, channelwise = false} : (tensor<18x4x4x4xf32>, tensor<8xi64>) -> tensor<18x4x4x4xf32>
  %4 = graph.reshape %3 {shape = array<i64: 18, 64>} : (tensor<18x4x4x4xf32>) -> tensor<18x64xf32>
  %5 = graph.matmul %4, %v {spec = "mk,kn->mn"} : (tensor<18x64xf32>, tensor<64x3xf32>) -> tensor<18x3xf32>
  %6 = graph.sum %1 {dims = array<i64: 0, 2, 3>, keepdim = false} : (tensor<18x4x8x8xf32>) -> tensor<4xf32>
  %7 = graph.amax %3 {dims = array<i64: 2, 3>, keepdim = false} : (tensor<18x4x4x4xf32>) -> tensor<18x4xf32>
  graph.return %5, %6, %7 : tensor<18x3xf32>, tensor<4xf32>, tensor<18x4xf32>
}
// The gradient of a matrix product is made in the order in which the pooling's reads it.
graph.step @chain_back(%g: tensor<20x3xf32>, %v: tensor<32x3xf32>, %at: tensor<20x2x4x4xui8>, %x: tensor<20x2x12x12xf32>) -> tensor<2x2x5x5xf32> {
  %0 = graph.matmul %g, %v {spec = "mk,nk->mn"} : (tensor<20x3xf32>, tensor<32x3xf32>) -> tensor<20x32xf32>
  %1 = graph.reshape %0 {shape = array<i64: 20, 2, 4, 4>} : (tensor<20x32xf32>) -> tensor<20x2x4x4xf32>
  %2 = graph.relu %1 : (tensor<20x2x4x4xf32>) -> tensor<20x2x4x4xf32>
  %3 = graph.max_pool2d_grad %2, %at {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>, input_shape = array<i64: 20, 2, 8, 8>} : (tensor<20x2x4x4xf32>, tensor<20x2x4x4xui8>) -> tensor<20x2x8x8xf32>
  %4 = graph.conv2d_weight_grad %x, %3 {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, kernel = array<i64: 5, 5>} : (tensor<20x2x12x12xf32>, tensor<20x2x8x8xf32>) -> tensor<2x2x5x5xf32>
  graph.return %4 : tensor<2x2x5x5xf32>
}
// A constant has no order; neither has what is drawn where it is read.
graph.step @constant_grad(%w: tensor<4x3x3x3xf32>) -> tensor<16x3x7x7xf32> {
  %dy = graph.full {value = 0.5 : f64, type = tensor<16x4x5x5xf32>} : () -> tensor<16x4x5x5xf32>
  %0 = graph.conv2d_input_grad %dy, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, input_shape = array<i64: 16, 3, 7, 7>} : (tensor<16x4x5x5xf32>, tensor<4x3x3x3xf32>) -> tensor<16x3x7x7xf32>
  graph.return %0 : tensor<16x3x7x7xf32>
}
// A matrix of its own for each image, behind and in front of a convolution.
graph.step @gram(%x: tensor<16x2x5x6xf32>, %w: tensor<3x2x2x2xf32>) -> tensor<16x3x3xf32> {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<16x2x5x6xf32>, tensor<3x2x2x2xf32>) -> tensor<16x3x4x5xf32>
  %1 = graph.reshape %0 {shape = array<i64: 16, 3, 20>} : (tensor<16x3x4x5xf32>) -> tensor<16x3x20xf32>
  %2 = graph.matmul %1, %1 {spec = "bmk,bnk->bmn"} : (tensor<16x3x20xf32>, tensor<16x3x20xf32>) -> tensor<16x3x3xf32>
  graph.return %2 : tensor<16x3x3xf32>
}
graph.step @product_before(%a: tensor<16x3x4xf32>, %b: tensor<16x4x30xf32>, %w: tensor<2x3x2x2xf32>) -> tensor<16x2x4x5xf32> {
  %0 = graph.matmul %a, %b {spec = "bmk,bkn->bmn"} : (tensor<16x3x4xf32>, tensor<16x4x30xf32>) -> tensor<16x3x30xf32>
  %1 = graph.reshape %0 {shape = array<i64: 16, 3, 5, 6>} : (tensor<16x3x30xf32>) -> tensor<16x3x5x6xf32>
  %2 = graph.conv2d %1, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<16x3x5x6xf32>, tensor<2x3x2x2xf32>) -> tensor<16x2x4x5xf32>
  graph.return %2 : tensor<16x2x4x5xf32>
}
// Sums along the images in blocks of rows of pixels, the last one shorter.
graph.step @weight_grad_k_blocks(%x: tensor<48x2x23x36xf32>, %dy: tensor<48x13x19x32xf32>) -> tensor<13x2x5x5xf32> {
  %0 = graph.conv2d_weight_grad %x, %dy {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, kernel = array<i64: 5, 5>} : (tensor<48x2x23x36xf32>, tensor<48x13x19x32xf32>) -> tensor<13x2x5x5xf32>
  graph.return %0 : tensor<13x2x5x5xf32>
}
graph.step @weight_grad_k_blocks_strided(%x: tensor<40x3x31x33xf32>, %dy: tensor<40x7x15x16xf32>, %w: tensor<7x3x3x3xf32>) -> tensor<7x3x3x3xf32> {
  %0 = graph.conv2d_weight_grad %x, %dy {stride = array<i64: 2, 2>, padding = array<i64: 0, 0>, kernel = array<i64: 3, 3>} : (tensor<40x3x31x33xf32>, tensor<40x7x15x16xf32>) -> tensor<7x3x3x3xf32>
  %1 = graph.sub %w, %0 : (tensor<7x3x3x3xf32>, tensor<7x3x3x3xf32>) -> tensor<7x3x3x3xf32>
  graph.return %1 : tensor<7x3x3x3xf32>
}
// Many rows and lanes, each a sum of many k: not copied for it.
graph.step @weight_grad_large(%x: tensor<32x28x16x16xf32>, %dy: tensor<32x272x14x14xf32>) -> tensor<272x28x3x3xf32> {
  %0 = graph.conv2d_weight_grad %x, %dy {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, kernel = array<i64: 3, 3>} : (tensor<32x28x16x16xf32>, tensor<32x272x14x14xf32>) -> tensor<272x28x3x3xf32>
  graph.return %0 : tensor<272x28x3x3xf32>
}
// More taps in a row than two rows of them would have registers for.
graph.step @weight_grad_large_taps(%x: tensor<48x20x9x9xf32>, %dy: tensor<48x140x5x5xf32>) -> tensor<140x20x5x5xf32> {
  %0 = graph.conv2d_weight_grad %x, %dy {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, kernel = array<i64: 5, 5>} : (tensor<48x20x9x9xf32>, tensor<48x140x5x5xf32>) -> tensor<140x20x5x5xf32>
  graph.return %0 : tensor<140x20x5x5xf32>
}
