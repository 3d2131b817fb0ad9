// Channels that lie next to one another, in numbers of bf16: see channels.mlir.
// Rows of an even width, vectors and blocks of rows that are not full.
graph.step @pixels(%x: tensor<2x24x9x14xf32>, %dy: tensor<2x40x9x14xf32>, %w: tensor<40x24x3x3xf32>) -> (tensor<2x40x9x14xf32>, tensor<2x24x9x14xf32>, tensor<40x24x3x3xf32>) {
  %xsa = graph.relu %x : (tensor<2x24x9x14xf32>) -> tensor<2x24x9x14xf32>
  %xsb = graph.cast %xsa {to = bf16} : (tensor<2x24x9x14xf32>) -> tensor<2x24x9x14xbf16>
  %xs = graph.cast %xsb {to = f32} : (tensor<2x24x9x14xbf16>) -> tensor<2x24x9x14xf32>
  %dsa = graph.neg %dy : (tensor<2x40x9x14xf32>) -> tensor<2x40x9x14xf32>
  %dsb = graph.cast %dsa {to = bf16} : (tensor<2x40x9x14xf32>) -> tensor<2x40x9x14xbf16>
  %ds = graph.cast %dsb {to = f32} : (tensor<2x40x9x14xbf16>) -> tensor<2x40x9x14xf32>
  %wsa = graph.neg %w : (tensor<40x24x3x3xf32>) -> tensor<40x24x3x3xf32>
  %wsb = graph.cast %wsa {to = bf16} : (tensor<40x24x3x3xf32>) -> tensor<40x24x3x3xbf16>
  %ws = graph.cast %wsb {to = f32} : (tensor<40x24x3x3xbf16>) -> tensor<40x24x3x3xf32>
  %c = graph.conv2d %xs, %ws {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<2x24x9x14xf32>, tensor<40x24x3x3xf32>) -> tensor<2x40x9x14xf32>
  %y = graph.relu %c : (tensor<2x40x9x14xf32>) -> tensor<2x40x9x14xf32>
  %dx = graph.conv2d_input_grad %ds, %ws {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>, input_shape = array<i64: 2, 24, 9, 14>} : (tensor<2x40x9x14xf32>, tensor<40x24x3x3xf32>) -> tensor<2x24x9x14xf32>
  %mx = graph.mul %dx, %xs : (tensor<2x24x9x14xf32>, tensor<2x24x9x14xf32>) -> tensor<2x24x9x14xf32>
  %dw = graph.conv2d_weight_grad %xs, %ds {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>, kernel = array<i64: 3, 3>} : (tensor<2x24x9x14xf32>, tensor<2x40x9x14xf32>) -> tensor<40x24x3x3xf32>
  %nw = graph.sub %w, %dw : (tensor<40x24x3x3xf32>, tensor<40x24x3x3xf32>) -> tensor<40x24x3x3xf32>
  graph.return %y, %mx, %nw : tensor<2x40x9x14xf32>, tensor<2x24x9x14xf32>, tensor<40x24x3x3xf32>
}
// An odd width: pairs are pixels of two images.
graph.step @pixels_of_images(%x: tensor<4x16x7x7xf32>, %dy: tensor<4x48x7x7xf32>, %w: tensor<48x16x3x3xf32>) -> (tensor<4x48x7x7xf32>, tensor<4x16x7x7xf32>, tensor<48x16x3x3xf32>) {
  %xsa = graph.relu %x : (tensor<4x16x7x7xf32>) -> tensor<4x16x7x7xf32>
  %xsb = graph.cast %xsa {to = bf16} : (tensor<4x16x7x7xf32>) -> tensor<4x16x7x7xbf16>
  %xs = graph.cast %xsb {to = f32} : (tensor<4x16x7x7xbf16>) -> tensor<4x16x7x7xf32>
  %dsa = graph.neg %dy : (tensor<4x48x7x7xf32>) -> tensor<4x48x7x7xf32>
  %dsb = graph.cast %dsa {to = bf16} : (tensor<4x48x7x7xf32>) -> tensor<4x48x7x7xbf16>
  %ds = graph.cast %dsb {to = f32} : (tensor<4x48x7x7xbf16>) -> tensor<4x48x7x7xf32>
  %wsa = graph.neg %w : (tensor<48x16x3x3xf32>) -> tensor<48x16x3x3xf32>
  %wsb = graph.cast %wsa {to = bf16} : (tensor<48x16x3x3xf32>) -> tensor<48x16x3x3xbf16>
  %ws = graph.cast %wsb {to = f32} : (tensor<48x16x3x3xbf16>) -> tensor<48x16x3x3xf32>
  %c = graph.conv2d %xs, %ws {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<4x16x7x7xf32>, tensor<48x16x3x3xf32>) -> tensor<4x48x7x7xf32>
  %y = graph.relu %c : (tensor<4x48x7x7xf32>) -> tensor<4x48x7x7xf32>
  %dx = graph.conv2d_input_grad %ds, %ws {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>, input_shape = array<i64: 4, 16, 7, 7>} : (tensor<4x48x7x7xf32>, tensor<48x16x3x3xf32>) -> tensor<4x16x7x7xf32>
  %mx = graph.mul %dx, %xs : (tensor<4x16x7x7xf32>, tensor<4x16x7x7xf32>) -> tensor<4x16x7x7xf32>
  %dw = graph.conv2d_weight_grad %xs, %ds {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>, kernel = array<i64: 3, 3>} : (tensor<4x16x7x7xf32>, tensor<4x48x7x7xf32>) -> tensor<48x16x3x3xf32>
  %nw = graph.sub %w, %dw : (tensor<48x16x3x3xf32>, tensor<48x16x3x3xf32>) -> tensor<48x16x3x3xf32>
  graph.return %y, %mx, %nw : tensor<4x48x7x7xf32>, tensor<4x16x7x7xf32>, tensor<48x16x3x3xf32>
}
// An odd width, and an odd number of images.
graph.step @pixels_unpaired(%x: tensor<3x16x6x5xf32>, %dy: tensor<3x16x6x5xf32>, %w: tensor<16x16x3x3xf32>) -> (tensor<3x16x6x5xf32>, tensor<3x16x6x5xf32>, tensor<16x16x3x3xf32>) {
  %xsa = graph.relu %x : (tensor<3x16x6x5xf32>) -> tensor<3x16x6x5xf32>
  %xsb = graph.cast %xsa {to = bf16} : (tensor<3x16x6x5xf32>) -> tensor<3x16x6x5xbf16>
  %xs = graph.cast %xsb {to = f32} : (tensor<3x16x6x5xbf16>) -> tensor<3x16x6x5xf32>
  %dsa = graph.neg %dy : (tensor<3x16x6x5xf32>) -> tensor<3x16x6x5xf32>
  %dsb = graph.cast %dsa {to = bf16} : (tensor<3x16x6x5xf32>) -> tensor<3x16x6x5xbf16>
  %ds = graph.cast %dsb {to = f32} : (tensor<3x16x6x5xbf16>) -> tensor<3x16x6x5xf32>
  %wsa = graph.neg %w : (tensor<16x16x3x3xf32>) -> tensor<16x16x3x3xf32>
  %wsb = graph.cast %wsa {to = bf16} : (tensor<16x16x3x3xf32>) -> tensor<16x16x3x3xbf16>
  %ws = graph.cast %wsb {to = f32} : (tensor<16x16x3x3xbf16>) -> tensor<16x16x3x3xf32>
  %c = graph.conv2d %xs, %ws {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<3x16x6x5xf32>, tensor<16x16x3x3xf32>) -> tensor<3x16x6x5xf32>
  %y = graph.relu %c : (tensor<3x16x6x5xf32>) -> tensor<3x16x6x5xf32>
  %dx = graph.conv2d_input_grad %ds, %ws {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>, input_shape = array<i64: 3, 16, 6, 5>} : (tensor<3x16x6x5xf32>, tensor<16x16x3x3xf32>) -> tensor<3x16x6x5xf32>
  %mx = graph.mul %dx, %xs : (tensor<3x16x6x5xf32>, tensor<3x16x6x5xf32>) -> tensor<3x16x6x5xf32>
  %dw = graph.conv2d_weight_grad %xs, %ds {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>, kernel = array<i64: 3, 3>} : (tensor<3x16x6x5xf32>, tensor<3x16x6x5xf32>) -> tensor<16x16x3x3xf32>
  %nw = graph.sub %w, %dw : (tensor<16x16x3x3xf32>, tensor<16x16x3x3xf32>) -> tensor<16x16x3x3xf32>
  graph.return %y, %mx, %nw : tensor<3x16x6x5xf32>, tensor<3x16x6x5xf32>, tensor<16x16x3x3xf32>
}
// With a stride.
graph.step @pixels_strided(%x: tensor<2x32x13x12xf32>, %dy: tensor<2x16x7x6xf32>, %w: tensor<16x32x3x3xf32>) -> (tensor<2x16x7x6xf32>, tensor<2x32x13x12xf32>, tensor<16x32x3x3xf32>) {
  %xsa = graph.relu %x : (tensor<2x32x13x12xf32>) -> tensor<2x32x13x12xf32>
  %xsb = graph.cast %xsa {to = bf16} : (tensor<2x32x13x12xf32>) -> tensor<2x32x13x12xbf16>
  %xs = graph.cast %xsb {to = f32} : (tensor<2x32x13x12xbf16>) -> tensor<2x32x13x12xf32>
  %dsa = graph.neg %dy : (tensor<2x16x7x6xf32>) -> tensor<2x16x7x6xf32>
  %dsb = graph.cast %dsa {to = bf16} : (tensor<2x16x7x6xf32>) -> tensor<2x16x7x6xbf16>
  %ds = graph.cast %dsb {to = f32} : (tensor<2x16x7x6xbf16>) -> tensor<2x16x7x6xf32>
  %wsa = graph.neg %w : (tensor<16x32x3x3xf32>) -> tensor<16x32x3x3xf32>
  %wsb = graph.cast %wsa {to = bf16} : (tensor<16x32x3x3xf32>) -> tensor<16x32x3x3xbf16>
  %ws = graph.cast %wsb {to = f32} : (tensor<16x32x3x3xbf16>) -> tensor<16x32x3x3xf32>
  %c = graph.conv2d %xs, %ws {stride = array<i64: 2, 2>, padding = array<i64: 1, 1>} : (tensor<2x32x13x12xf32>, tensor<16x32x3x3xf32>) -> tensor<2x16x7x6xf32>
  %y = graph.relu %c : (tensor<2x16x7x6xf32>) -> tensor<2x16x7x6xf32>
  %dx = graph.conv2d_input_grad %ds, %ws {stride = array<i64: 2, 2>, padding = array<i64: 1, 1>, input_shape = array<i64: 2, 32, 13, 12>} : (tensor<2x16x7x6xf32>, tensor<16x32x3x3xf32>) -> tensor<2x32x13x12xf32>
  %mx = graph.mul %dx, %xs : (tensor<2x32x13x12xf32>, tensor<2x32x13x12xf32>) -> tensor<2x32x13x12xf32>
  %dw = graph.conv2d_weight_grad %xs, %ds {stride = array<i64: 2, 2>, padding = array<i64: 1, 1>, kernel = array<i64: 3, 3>} : (tensor<2x32x13x12xf32>, tensor<2x16x7x6xf32>) -> tensor<16x32x3x3xf32>
  %nw = graph.sub %w, %dw : (tensor<16x32x3x3xf32>, tensor<16x32x3x3xf32>) -> tensor<16x32x3x3xf32>
  graph.return %y, %mx, %nw : tensor<2x16x7x6xf32>, tensor<2x32x13x12xf32>, tensor<16x32x3x3xf32>
}
// No pairs of channels.
graph.step @pixels_odd_channels(%x: tensor<2x17x6x8xf32>, %dy: tensor<2x19x6x8xf32>, %w: tensor<19x17x3x3xf32>) -> (tensor<2x19x6x8xf32>, tensor<2x17x6x8xf32>, tensor<19x17x3x3xf32>) {
  %xsa = graph.relu %x : (tensor<2x17x6x8xf32>) -> tensor<2x17x6x8xf32>
  %xsb = graph.cast %xsa {to = bf16} : (tensor<2x17x6x8xf32>) -> tensor<2x17x6x8xbf16>
  %xs = graph.cast %xsb {to = f32} : (tensor<2x17x6x8xbf16>) -> tensor<2x17x6x8xf32>
  %dsa = graph.neg %dy : (tensor<2x19x6x8xf32>) -> tensor<2x19x6x8xf32>
  %dsb = graph.cast %dsa {to = bf16} : (tensor<2x19x6x8xf32>) -> tensor<2x19x6x8xbf16>
  %ds = graph.cast %dsb {to = f32} : (tensor<2x19x6x8xbf16>) -> tensor<2x19x6x8xf32>
  %wsa = graph.neg %w : (tensor<19x17x3x3xf32>) -> tensor<19x17x3x3xf32>
  %wsb = graph.cast %wsa {to = bf16} : (tensor<19x17x3x3xf32>) -> tensor<19x17x3x3xbf16>
  %ws = graph.cast %wsb {to = f32} : (tensor<19x17x3x3xbf16>) -> tensor<19x17x3x3xf32>
  %c = graph.conv2d %xs, %ws {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<2x17x6x8xf32>, tensor<19x17x3x3xf32>) -> tensor<2x19x6x8xf32>
  %y = graph.relu %c : (tensor<2x19x6x8xf32>) -> tensor<2x19x6x8xf32>
  %dx = graph.conv2d_input_grad %ds, %ws {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>, input_shape = array<i64: 2, 17, 6, 8>} : (tensor<2x19x6x8xf32>, tensor<19x17x3x3xf32>) -> tensor<2x17x6x8xf32>
  %mx = graph.mul %dx, %xs : (tensor<2x17x6x8xf32>, tensor<2x17x6x8xf32>) -> tensor<2x17x6x8xf32>
  %dw = graph.conv2d_weight_grad %xs, %ds {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>, kernel = array<i64: 3, 3>} : (tensor<2x17x6x8xf32>, tensor<2x19x6x8xf32>) -> tensor<19x17x3x3xf32>
  %nw = graph.sub %w, %dw : (tensor<19x17x3x3xf32>, tensor<19x17x3x3xf32>) -> tensor<19x17x3x3xf32>
  graph.return %y, %mx, %nw : tensor<2x19x6x8xf32>, tensor<2x17x6x8xf32>, tensor<19x17x3x3xf32>
}
// Filters that are no square, channels that are no whole vectors.
graph.step @pixels_no_squares(%x: tensor<2x16x6x8xf32>, %dy: tensor<2x20x5x8xf32>, %w: tensor<20x16x2x3xf32>) -> (tensor<2x20x5x8xf32>, tensor<2x16x6x8xf32>, tensor<20x16x2x3xf32>) {
  %xsa = graph.relu %x : (tensor<2x16x6x8xf32>) -> tensor<2x16x6x8xf32>
  %xsb = graph.cast %xsa {to = bf16} : (tensor<2x16x6x8xf32>) -> tensor<2x16x6x8xbf16>
  %xs = graph.cast %xsb {to = f32} : (tensor<2x16x6x8xbf16>) -> tensor<2x16x6x8xf32>
  %dsa = graph.neg %dy : (tensor<2x20x5x8xf32>) -> tensor<2x20x5x8xf32>
  %dsb = graph.cast %dsa {to = bf16} : (tensor<2x20x5x8xf32>) -> tensor<2x20x5x8xbf16>
  %ds = graph.cast %dsb {to = f32} : (tensor<2x20x5x8xbf16>) -> tensor<2x20x5x8xf32>
  %wsa = graph.neg %w : (tensor<20x16x2x3xf32>) -> tensor<20x16x2x3xf32>
  %wsb = graph.cast %wsa {to = bf16} : (tensor<20x16x2x3xf32>) -> tensor<20x16x2x3xbf16>
  %ws = graph.cast %wsb {to = f32} : (tensor<20x16x2x3xbf16>) -> tensor<20x16x2x3xf32>
  %c = graph.conv2d %xs, %ws {stride = array<i64: 1, 1>, padding = array<i64: 0, 1>} : (tensor<2x16x6x8xf32>, tensor<20x16x2x3xf32>) -> tensor<2x20x5x8xf32>
  %y = graph.relu %c : (tensor<2x20x5x8xf32>) -> tensor<2x20x5x8xf32>
  %dx = graph.conv2d_input_grad %ds, %ws {stride = array<i64: 1, 1>, padding = array<i64: 0, 1>, input_shape = array<i64: 2, 16, 6, 8>} : (tensor<2x20x5x8xf32>, tensor<20x16x2x3xf32>) -> tensor<2x16x6x8xf32>
  %mx = graph.mul %dx, %xs : (tensor<2x16x6x8xf32>, tensor<2x16x6x8xf32>) -> tensor<2x16x6x8xf32>
  %dw = graph.conv2d_weight_grad %xs, %ds {stride = array<i64: 1, 1>, padding = array<i64: 0, 1>, kernel = array<i64: 2, 3>} : (tensor<2x16x6x8xf32>, tensor<2x20x5x8xf32>) -> tensor<20x16x2x3xf32>
  %nw = graph.sub %w, %dw : (tensor<20x16x2x3xf32>, tensor<20x16x2x3xf32>) -> tensor<20x16x2x3xf32>
  graph.return %y, %mx, %nw : tensor<2x20x5x8xf32>, tensor<2x16x6x8xf32>, tensor<20x16x2x3xf32>
}
// A stride along rows of an odd width: what lies behind a row is not read.
graph.step @pixels_of_odd_rows(%x: tensor<7x64x14x17xf32>, %dy: tensor<7x36x14x9xf32>, %w: tensor<36x64x1x1xf32>) -> (tensor<7x36x14x9xf32>, tensor<7x64x14x17xf32>, tensor<36x64x1x1xf32>) {
  %xsa = graph.relu %x : (tensor<7x64x14x17xf32>) -> tensor<7x64x14x17xf32>
  %dsa = graph.neg %dy : (tensor<7x36x14x9xf32>) -> tensor<7x36x14x9xf32>
  %wsa = graph.neg %w : (tensor<36x64x1x1xf32>) -> tensor<36x64x1x1xf32>
  %c = graph.conv2d %xsa, %wsa {stride = array<i64: 1, 2>, padding = array<i64: 0, 0>} : (tensor<7x64x14x17xf32>, tensor<36x64x1x1xf32>) -> tensor<7x36x14x9xf32>
  %y = graph.relu %c : (tensor<7x36x14x9xf32>) -> tensor<7x36x14x9xf32>
  %dx = graph.conv2d_input_grad %dsa, %wsa {stride = array<i64: 1, 2>, padding = array<i64: 0, 0>, input_shape = array<i64: 7, 64, 14, 17>} : (tensor<7x36x14x9xf32>, tensor<36x64x1x1xf32>) -> tensor<7x64x14x17xf32>
  %mx = graph.mul %dx, %xsa : (tensor<7x64x14x17xf32>, tensor<7x64x14x17xf32>) -> tensor<7x64x14x17xf32>
  %dw = graph.conv2d_weight_grad %xsa, %dsa {stride = array<i64: 1, 2>, padding = array<i64: 0, 0>, kernel = array<i64: 1, 1>} : (tensor<7x64x14x17xf32>, tensor<7x36x14x9xf32>) -> tensor<36x64x1x1xf32>
  %nw = graph.sub %w, %dw : (tensor<36x64x1x1xf32>, tensor<36x64x1x1xf32>) -> tensor<36x64x1x1xf32>
  graph.return %y, %mx, %nw : tensor<7x36x14x9xf32>, tensor<7x64x14x17xf32>, tensor<36x64x1x1xf32>
}
// Pixels of several blocks of k, channels of several tiles.
graph.step @pixels_in_blocks(%x: tensor<4x48x21x18xf32>, %dy: tensor<4x80x21x18xf32>, %w: tensor<80x48x1x1xf32>) -> (tensor<4x80x21x18xf32>, tensor<4x48x21x18xf32>, tensor<80x48x1x1xf32>) {
  %xsa = graph.relu %x : (tensor<4x48x21x18xf32>) -> tensor<4x48x21x18xf32>
  %xsb = graph.cast %xsa {to = bf16} : (tensor<4x48x21x18xf32>) -> tensor<4x48x21x18xbf16>
  %xs = graph.cast %xsb {to = f32} : (tensor<4x48x21x18xbf16>) -> tensor<4x48x21x18xf32>
  %dsa = graph.neg %dy : (tensor<4x80x21x18xf32>) -> tensor<4x80x21x18xf32>
  %dsb = graph.cast %dsa {to = bf16} : (tensor<4x80x21x18xf32>) -> tensor<4x80x21x18xbf16>
  %ds = graph.cast %dsb {to = f32} : (tensor<4x80x21x18xbf16>) -> tensor<4x80x21x18xf32>
  %wsa = graph.neg %w : (tensor<80x48x1x1xf32>) -> tensor<80x48x1x1xf32>
  %wsb = graph.cast %wsa {to = bf16} : (tensor<80x48x1x1xf32>) -> tensor<80x48x1x1xbf16>
  %ws = graph.cast %wsb {to = f32} : (tensor<80x48x1x1xbf16>) -> tensor<80x48x1x1xf32>
  %c = graph.conv2d %xs, %ws {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<4x48x21x18xf32>, tensor<80x48x1x1xf32>) -> tensor<4x80x21x18xf32>
  %y = graph.relu %c : (tensor<4x80x21x18xf32>) -> tensor<4x80x21x18xf32>
  %dx = graph.conv2d_input_grad %ds, %ws {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, input_shape = array<i64: 4, 48, 21, 18>} : (tensor<4x80x21x18xf32>, tensor<80x48x1x1xf32>) -> tensor<4x48x21x18xf32>
  %mx = graph.mul %dx, %xs : (tensor<4x48x21x18xf32>, tensor<4x48x21x18xf32>) -> tensor<4x48x21x18xf32>
  %dw = graph.conv2d_weight_grad %xs, %ds {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, kernel = array<i64: 1, 1>} : (tensor<4x48x21x18xf32>, tensor<4x80x21x18xf32>) -> tensor<80x48x1x1xf32>
  %nw = graph.sub %w, %dw : (tensor<80x48x1x1xf32>, tensor<80x48x1x1xf32>) -> tensor<80x48x1x1xf32>
  graph.return %y, %mx, %nw : tensor<4x80x21x18xf32>, tensor<4x48x21x18xf32>, tensor<80x48x1x1xf32>
}
// Rows of several tiles, and filters that lie as they come.
graph.step @pixels_of_tiles(%x: tensor<2x16x20x20xf32>, %dy: tensor<2x144x20x20xf32>, %w: tensor<144x16x3x3xf32>) -> (tensor<2x144x20x20xf32>, tensor<2x16x20x20xf32>, tensor<144x16x3x3xf32>) {
  %xsa = graph.relu %x : (tensor<2x16x20x20xf32>) -> tensor<2x16x20x20xf32>
  %xsb = graph.cast %xsa {to = bf16} : (tensor<2x16x20x20xf32>) -> tensor<2x16x20x20xbf16>
  %xs = graph.cast %xsb {to = f32} : (tensor<2x16x20x20xbf16>) -> tensor<2x16x20x20xf32>
  %dsa = graph.neg %dy : (tensor<2x144x20x20xf32>) -> tensor<2x144x20x20xf32>
  %dsb = graph.cast %dsa {to = bf16} : (tensor<2x144x20x20xf32>) -> tensor<2x144x20x20xbf16>
  %ds = graph.cast %dsb {to = f32} : (tensor<2x144x20x20xbf16>) -> tensor<2x144x20x20xf32>
  %c = graph.conv2d %xs, %w {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<2x16x20x20xf32>, tensor<144x16x3x3xf32>) -> tensor<2x144x20x20xf32>
  %y = graph.relu %c : (tensor<2x144x20x20xf32>) -> tensor<2x144x20x20xf32>
  %dx = graph.conv2d_input_grad %ds, %w {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>, input_shape = array<i64: 2, 16, 20, 20>} : (tensor<2x144x20x20xf32>, tensor<144x16x3x3xf32>) -> tensor<2x16x20x20xf32>
  %mx = graph.mul %dx, %xs : (tensor<2x16x20x20xf32>, tensor<2x16x20x20xf32>) -> tensor<2x16x20x20xf32>
  %dw = graph.conv2d_weight_grad %xs, %ds {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>, kernel = array<i64: 3, 3>} : (tensor<2x16x20x20xf32>, tensor<2x144x20x20xf32>) -> tensor<144x16x3x3xf32>
  %nw = graph.sub %w, %dw : (tensor<144x16x3x3xf32>, tensor<144x16x3x3xf32>) -> tensor<144x16x3x3xf32>
  graph.return %y, %mx, %nw : tensor<2x144x20x20xf32>, tensor<2x16x20x20xf32>, tensor<144x16x3x3xf32>
}
// The same in f32.
graph.step @pixels_wide(%x: tensor<2x24x19x16xf32>, %dy: tensor<2x72x19x16xf32>, %w: tensor<72x24x3x3xf32>) -> (tensor<2x72x19x16xf32>, tensor<2x24x19x16xf32>, tensor<72x24x3x3xf32>) {
  %xsa = graph.relu %x : (tensor<2x24x19x16xf32>) -> tensor<2x24x19x16xf32>
  %dsa = graph.neg %dy : (tensor<2x72x19x16xf32>) -> tensor<2x72x19x16xf32>
  %wsa = graph.neg %w : (tensor<72x24x3x3xf32>) -> tensor<72x24x3x3xf32>
  %c = graph.conv2d %xsa, %wsa {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<2x24x19x16xf32>, tensor<72x24x3x3xf32>) -> tensor<2x72x19x16xf32>
  %y = graph.relu %c : (tensor<2x72x19x16xf32>) -> tensor<2x72x19x16xf32>
  %dx = graph.conv2d_input_grad %dsa, %wsa {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>, input_shape = array<i64: 2, 24, 19, 16>} : (tensor<2x72x19x16xf32>, tensor<72x24x3x3xf32>) -> tensor<2x24x19x16xf32>
  %mx = graph.mul %dx, %xsa : (tensor<2x24x19x16xf32>, tensor<2x24x19x16xf32>) -> tensor<2x24x19x16xf32>
  %dw = graph.conv2d_weight_grad %xsa, %dsa {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>, kernel = array<i64: 3, 3>} : (tensor<2x24x19x16xf32>, tensor<2x72x19x16xf32>) -> tensor<72x24x3x3xf32>
  %nw = graph.sub %w, %dw : (tensor<72x24x3x3xf32>, tensor<72x24x3x3xf32>) -> tensor<72x24x3x3xf32>
  graph.return %y, %mx, %nw : tensor<2x72x19x16xf32>, tensor<2x24x19x16xf32>, tensor<72x24x3x3xf32>
}
// And in f64.
graph.step @pixels_of_doubles(%x: tensor<2x16x6x8xf64>, %dy: tensor<2x24x6x8xf64>, %w: tensor<24x16x3x3xf64>) -> (tensor<2x24x6x8xf64>, tensor<2x16x6x8xf64>, tensor<24x16x3x3xf64>) {
  %xsa = graph.relu %x : (tensor<2x16x6x8xf64>) -> tensor<2x16x6x8xf64>
  %dsa = graph.neg %dy : (tensor<2x24x6x8xf64>) -> tensor<2x24x6x8xf64>
  %wsa = graph.neg %w : (tensor<24x16x3x3xf64>) -> tensor<24x16x3x3xf64>
  %c = graph.conv2d %xsa, %wsa {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<2x16x6x8xf64>, tensor<24x16x3x3xf64>) -> tensor<2x24x6x8xf64>
  %y = graph.relu %c : (tensor<2x24x6x8xf64>) -> tensor<2x24x6x8xf64>
  %dx = graph.conv2d_input_grad %dsa, %wsa {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>, input_shape = array<i64: 2, 16, 6, 8>} : (tensor<2x24x6x8xf64>, tensor<24x16x3x3xf64>) -> tensor<2x16x6x8xf64>
  %mx = graph.mul %dx, %xsa : (tensor<2x16x6x8xf64>, tensor<2x16x6x8xf64>) -> tensor<2x16x6x8xf64>
  %dw = graph.conv2d_weight_grad %xsa, %dsa {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>, kernel = array<i64: 3, 3>} : (tensor<2x16x6x8xf64>, tensor<2x24x6x8xf64>) -> tensor<24x16x3x3xf64>
  %nw = graph.sub %w, %dw : (tensor<24x16x3x3xf64>, tensor<24x16x3x3xf64>) -> tensor<24x16x3x3xf64>
  graph.return %y, %mx, %nw : tensor<2x24x6x8xf64>, tensor<2x16x6x8xf64>, tensor<24x16x3x3xf64>
}
