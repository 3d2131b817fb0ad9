// Pools of convolutions: a tile is whole windows, which are read from its scratch.
// The first layer of a small network, few images.
graph.step @lenet(%x: tensor<4x1x28x28xf32>, %w: tensor<10x1x5x5xf32>, %b: tensor<10x1x1xf32>) -> (tensor<4x10x12x12xui8>, tensor<4x10x12x12xi1>, tensor<4x10x12x12xf32>) {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<4x1x28x28xf32>, tensor<10x1x5x5xf32>) -> tensor<4x10x24x24xf32>
  %1 = graph.add %0, %b : (tensor<4x10x24x24xf32>, tensor<10x1x1xf32>) -> tensor<4x10x24x24xf32>
  %5:2 = graph.max_pool2d %1 {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<4x10x24x24xf32>) -> (tensor<4x10x12x12xf32>, tensor<4x10x12x12xui8>)
  %6 = graph.relu %5#0 : (tensor<4x10x12x12xf32>) -> tensor<4x10x12x12xf32>
  %u = graph.full {type = tensor<f32>, value = 0.0 : f64} : () -> tensor<f32>
  %7 = graph.le %6, %u : (tensor<4x10x12x12xf32>, tensor<f32>) -> tensor<4x10x12x12xi1>
  graph.return %5#1, %7, %6 : tensor<4x10x12x12xui8>, tensor<4x10x12x12xi1>, tensor<4x10x12x12xf32>
}
// With images innermost: tiles are cut along rows and pixels.
graph.step @lenet_images(%x: tensor<32x1x28x28xf32>, %w: tensor<10x1x5x5xf32>, %b: tensor<10x1x1xf32>) -> (tensor<32x10x12x12xf32>, tensor<32x10x12x12xi1>, tensor<32x10x12x12xf32>) {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<32x1x28x28xf32>, tensor<10x1x5x5xf32>) -> tensor<32x10x24x24xf32>
  %1 = graph.add %0, %b : (tensor<32x10x24x24xf32>, tensor<10x1x1xf32>) -> tensor<32x10x24x24xf32>
  %5:2 = graph.max_pool2d %1 {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<32x10x24x24xf32>) -> (tensor<32x10x12x12xf32>, tensor<32x10x12x12xui8>)
  %6 = graph.relu %5#0 : (tensor<32x10x12x12xf32>) -> tensor<32x10x12x12xf32>
  %u = graph.full {type = tensor<f32>, value = 0.0 : f64} : () -> tensor<f32>
  %7 = graph.le %6, %u : (tensor<32x10x12x12xf32>, tensor<f32>) -> tensor<32x10x12x12xi1>
  %c0 = graph.cast %5#1 {to = f32} : (tensor<32x10x12x12xui8>) -> tensor<32x10x12x12xf32>
  graph.return %c0, %7, %6 : tensor<32x10x12x12xf32>, tensor<32x10x12x12xi1>, tensor<32x10x12x12xf32>
}
// So many that tiles are cut along images too, and the last has fewer.
graph.step @many_images(%x: tensor<300x2x12x12xf32>, %w: tensor<20x2x3x3xf32>, %b: tensor<20x1x1xf32>) -> tensor<300x20x5x5xf32> {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<300x2x12x12xf32>, tensor<20x2x3x3xf32>) -> tensor<300x20x10x10xf32>
  %1 = graph.add %0, %b : (tensor<300x20x10x10xf32>, tensor<20x1x1xf32>) -> tensor<300x20x10x10xf32>
  %5:2 = graph.max_pool2d %1 {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<300x20x10x10xf32>) -> (tensor<300x20x5x5xf32>, tensor<300x20x5x5xui8>)
  %6 = graph.relu %5#0 : (tensor<300x20x5x5xf32>) -> tensor<300x20x5x5xf32>
  graph.return %6 : tensor<300x20x5x5xf32>
}
// A factor of each channel before the windows.
graph.step @dropped(%x: tensor<8x10x12x12xf32>, %w: tensor<20x10x5x5xf32>, %b: tensor<20x1x1xf32>, %d: tensor<8x20x1x1xf32>) -> (tensor<8x20x4x4xui8>, tensor<8x20x4x4xi1>, tensor<8x20x4x4xf32>) {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<8x10x12x12xf32>, tensor<20x10x5x5xf32>) -> tensor<8x20x8x8xf32>
  %1 = graph.add %0, %b : (tensor<8x20x8x8xf32>, tensor<20x1x1xf32>) -> tensor<8x20x8x8xf32>
  %2 = graph.mul %1, %d : (tensor<8x20x8x8xf32>, tensor<8x20x1x1xf32>) -> tensor<8x20x8x8xf32>
  %5:2 = graph.max_pool2d %2 {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<8x20x8x8xf32>) -> (tensor<8x20x4x4xf32>, tensor<8x20x4x4xui8>)
  %6 = graph.relu %5#0 : (tensor<8x20x4x4xf32>) -> tensor<8x20x4x4xf32>
  %u = graph.full {type = tensor<f32>, value = 0.0 : f64} : () -> tensor<f32>
  %7 = graph.le %6, %u : (tensor<8x20x4x4xf32>, tensor<f32>) -> tensor<8x20x4x4xi1>
  graph.return %5#1, %7, %6 : tensor<8x20x4x4xui8>, tensor<8x20x4x4xi1>, tensor<8x20x4x4xf32>
}
// A row and a column that no window has.
graph.step @odd(%x: tensor<6x3x19x23xf32>, %w: tensor<4x3x3x3xf32>) -> (tensor<6x4x8x10xui8>, tensor<6x4x8x10xf32>) {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<6x3x19x23xf32>, tensor<4x3x3x3xf32>) -> tensor<6x4x17x21xf32>
  %5:2 = graph.max_pool2d %0 {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<6x4x17x21xf32>) -> (tensor<6x4x8x10xf32>, tensor<6x4x8x10xui8>)
  %6 = graph.relu %5#0 : (tensor<6x4x8x10xf32>) -> tensor<6x4x8x10xf32>
  graph.return %5#1, %6 : tensor<6x4x8x10xui8>, tensor<6x4x8x10xf32>
}
// The same with images innermost, in f64.
graph.step @odd_images(%x: tensor<17x3x12x10xf64>, %w: tensor<4x3x4x4xf64>, %b: tensor<4x1x1xf64>) -> (tensor<17x4x4x3xf32>, tensor<17x4x4x3xf64>) {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<17x3x12x10xf64>, tensor<4x3x4x4xf64>) -> tensor<17x4x9x7xf64>
  %1 = graph.add %0, %b : (tensor<17x4x9x7xf64>, tensor<4x1x1xf64>) -> tensor<17x4x9x7xf64>
  %5:2 = graph.max_pool2d %1 {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<17x4x9x7xf64>) -> (tensor<17x4x4x3xf64>, tensor<17x4x4x3xui8>)
  %c0 = graph.cast %5#1 {to = f32} : (tensor<17x4x4x3xui8>) -> tensor<17x4x4x3xf32>
  %c1 = graph.neg %5#0 : (tensor<17x4x4x3xf64>) -> tensor<17x4x4x3xf64>
  graph.return %c0, %c1 : tensor<17x4x4x3xf32>, tensor<17x4x4x3xf64>
}
// Windows of two rows every three: the last one ends behind the last whole step.
graph.step @gaps(%x: tensor<5x2x16x23xf32>, %w: tensor<6x2x3x3xf32>) -> (tensor<5x6x5x5xui8>, tensor<5x6x5x5xf32>) {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<5x2x16x23xf32>, tensor<6x2x3x3xf32>) -> tensor<5x6x14x21xf32>
  %3 = graph.relu %0 : (tensor<5x6x14x21xf32>) -> tensor<5x6x14x21xf32>
  %5:2 = graph.max_pool2d %3 {kernel = array<i64: 2, 3>, stride = array<i64: 3, 4>, padding = array<i64: 0, 0>} : (tensor<5x6x14x21xf32>) -> (tensor<5x6x5x5xf32>, tensor<5x6x5x5xui8>)
  graph.return %5#1, %5#0 : tensor<5x6x5x5xui8>, tensor<5x6x5x5xf32>
}
graph.step @gaps_images(%x: tensor<20x2x16x15xf32>, %w: tensor<6x2x3x3xf32>) -> (tensor<20x6x5x3xf32>, tensor<20x6x5x3xf32>) {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<20x2x16x15xf32>, tensor<6x2x3x3xf32>) -> tensor<20x6x14x13xf32>
  %3 = graph.relu %0 : (tensor<20x6x14x13xf32>) -> tensor<20x6x14x13xf32>
  %5:2 = graph.max_pool2d %3 {kernel = array<i64: 2, 3>, stride = array<i64: 3, 4>, padding = array<i64: 0, 0>} : (tensor<20x6x14x13xf32>) -> (tensor<20x6x5x3xf32>, tensor<20x6x5x3xui8>)
  %c0 = graph.cast %5#1 {to = f32} : (tensor<20x6x5x3xui8>) -> tensor<20x6x5x3xf32>
  %c1 = graph.neg %5#0 : (tensor<20x6x5x3xf32>) -> tensor<20x6x5x3xf32>
  graph.return %c0, %c1 : tensor<20x6x5x3xf32>, tensor<20x6x5x3xf32>
}
// Sums of windows of two sizes: rows are cut for one of them alone.
graph.step @average(%x: tensor<8x3x20x20xf32>, %w: tensor<8x3x3x3xf32>) -> (tensor<8x8x6x6xf32>, tensor<8x8x9x9xf32>) {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<8x3x20x20xf32>, tensor<8x3x3x3xf32>) -> tensor<8x8x18x18xf32>
  %5 = graph.sum_pool2d %0 {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<8x8x18x18xf32>) -> tensor<8x8x9x9xf32>
  %8 = graph.sum_pool2d %0 {kernel = array<i64: 3, 3>, stride = array<i64: 3, 3>, padding = array<i64: 0, 0>} : (tensor<8x8x18x18xf32>) -> tensor<8x8x6x6xf32>
  graph.return %8, %5 : tensor<8x8x6x6xf32>, tensor<8x8x9x9xf32>
}
// The product is read by others as well: it has memory of its own.
graph.step @kept(%x: tensor<16x3x14x14xf32>, %w: tensor<8x3x3x3xf32>, %b: tensor<8x1x1xf32>) -> (tensor<16x8x12x12xf32>, tensor<16x8x6x6xf32>, tensor<16x8x6x6xf32>) {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<16x3x14x14xf32>, tensor<8x3x3x3xf32>) -> tensor<16x8x12x12xf32>
  %1 = graph.add %0, %b : (tensor<16x8x12x12xf32>, tensor<8x1x1xf32>) -> tensor<16x8x12x12xf32>
  %3 = graph.relu %1 : (tensor<16x8x12x12xf32>) -> tensor<16x8x12x12xf32>
  %5:2 = graph.max_pool2d %3 {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<16x8x12x12xf32>) -> (tensor<16x8x6x6xf32>, tensor<16x8x6x6xui8>)
  %c0 = graph.neg %3 : (tensor<16x8x12x12xf32>) -> tensor<16x8x12x12xf32>
  %c1 = graph.cast %5#1 {to = f32} : (tensor<16x8x6x6xui8>) -> tensor<16x8x6x6xf32>
  %c2 = graph.neg %5#0 : (tensor<16x8x6x6xf32>) -> tensor<16x8x6x6xf32>
  graph.return %c0, %c1, %c2 : tensor<16x8x12x12xf32>, tensor<16x8x6x6xf32>, tensor<16x8x6x6xf32>
}
// So has what is elementwise on the product, computed in its tiles.
graph.step @masked(%x: tensor<16x3x14x14xf32>, %w: tensor<8x3x3x3xf32>, %b: tensor<8x1x1xf32>) -> (tensor<16x8x12x12xf32>, tensor<16x8x6x6xf32>, tensor<16x8x6x6xf32>) {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<16x3x14x14xf32>, tensor<8x3x3x3xf32>) -> tensor<16x8x12x12xf32>
  %1 = graph.add %0, %b : (tensor<16x8x12x12xf32>, tensor<8x1x1xf32>) -> tensor<16x8x12x12xf32>
  %3 = graph.relu %1 : (tensor<16x8x12x12xf32>) -> tensor<16x8x12x12xf32>
  %z = graph.full {type = tensor<f32>, value = 0.0 : f64} : () -> tensor<f32>
  %4 = graph.le %3, %z : (tensor<16x8x12x12xf32>, tensor<f32>) -> tensor<16x8x12x12xi1>
  %5:2 = graph.max_pool2d %3 {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<16x8x12x12xf32>) -> (tensor<16x8x6x6xf32>, tensor<16x8x6x6xui8>)
  %c0 = graph.cast %4 {to = f32} : (tensor<16x8x12x12xi1>) -> tensor<16x8x12x12xf32>
  %c1 = graph.cast %5#1 {to = f32} : (tensor<16x8x6x6xui8>) -> tensor<16x8x6x6xf32>
  %c2 = graph.neg %5#0 : (tensor<16x8x6x6xf32>) -> tensor<16x8x6x6xf32>
  graph.return %c0, %c1, %c2 : tensor<16x8x12x12xf32>, tensor<16x8x6x6xf32>, tensor<16x8x6x6xf32>
}
graph.step @masked_few(%x: tensor<3x3x14x14xf32>, %w: tensor<8x3x3x3xf32>, %b: tensor<8x1x1xf32>) -> (tensor<3x8x12x12xi1>, tensor<3x8x6x6xui8>, tensor<3x8x6x6xf32>) {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<3x3x14x14xf32>, tensor<8x3x3x3xf32>) -> tensor<3x8x12x12xf32>
  %1 = graph.add %0, %b : (tensor<3x8x12x12xf32>, tensor<8x1x1xf32>) -> tensor<3x8x12x12xf32>
  %3 = graph.relu %1 : (tensor<3x8x12x12xf32>) -> tensor<3x8x12x12xf32>
  %z = graph.full {type = tensor<f32>, value = 0.0 : f64} : () -> tensor<f32>
  %4 = graph.le %3, %z : (tensor<3x8x12x12xf32>, tensor<f32>) -> tensor<3x8x12x12xi1>
  %5:2 = graph.max_pool2d %3 {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<3x8x12x12xf32>) -> (tensor<3x8x6x6xf32>, tensor<3x8x6x6xui8>)
  graph.return %4, %5#1, %5#0 : tensor<3x8x12x12xi1>, tensor<3x8x6x6xui8>, tensor<3x8x6x6xf32>
}
// Padding and stride of the convolution.
graph.step @strided(%x: tensor<4x5x17x17xf32>, %w: tensor<7x5x3x3xf32>, %b: tensor<7x1x1xf32>) -> tensor<4x7x3x3xui8> {
  %0 = graph.conv2d %x, %w {stride = array<i64: 2, 2>, padding = array<i64: 1, 1>} : (tensor<4x5x17x17xf32>, tensor<7x5x3x3xf32>) -> tensor<4x7x9x9xf32>
  %1 = graph.add %0, %b : (tensor<4x7x9x9xf32>, tensor<7x1x1xf32>) -> tensor<4x7x9x9xf32>
  %5:2 = graph.max_pool2d %1 {kernel = array<i64: 3, 3>, stride = array<i64: 3, 3>, padding = array<i64: 0, 0>} : (tensor<4x7x9x9xf32>) -> (tensor<4x7x3x3xf32>, tensor<4x7x3x3xui8>)
  graph.return %5#1 : tensor<4x7x3x3xui8>
}
// Windows of rows alone.
graph.step @rows_only(%x: tensor<4x3x18x18xf32>, %w: tensor<5x3x3x3xf32>, %b: tensor<5x1x1xf32>) -> (tensor<4x5x4x16xui8>, tensor<4x5x4x16xf32>) {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<4x3x18x18xf32>, tensor<5x3x3x3xf32>) -> tensor<4x5x16x16xf32>
  %1 = graph.add %0, %b : (tensor<4x5x16x16xf32>, tensor<5x1x1xf32>) -> tensor<4x5x16x16xf32>
  %5:2 = graph.max_pool2d %1 {kernel = array<i64: 4, 1>, stride = array<i64: 4, 1>, padding = array<i64: 0, 0>} : (tensor<4x5x16x16xf32>) -> (tensor<4x5x4x16xf32>, tensor<4x5x4x16xui8>)
  graph.return %5#1, %5#0 : tensor<4x5x4x16xui8>, tensor<4x5x4x16xf32>
}
// A convolution without windows of its own: cache blocks.
graph.step @one_by_one(%x: tensor<16x96x16x16xf32>, %w: tensor<96x96x1x1xf32>, %b: tensor<96x1x1xf32>) -> (tensor<16x96x8x8xf32>, tensor<16x96x8x8xf32>) {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<16x96x16x16xf32>, tensor<96x96x1x1xf32>) -> tensor<16x96x16x16xf32>
  %1 = graph.add %0, %b : (tensor<16x96x16x16xf32>, tensor<96x1x1xf32>) -> tensor<16x96x16x16xf32>
  %5:2 = graph.max_pool2d %1 {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<16x96x16x16xf32>) -> (tensor<16x96x8x8xf32>, tensor<16x96x8x8xui8>)
  %6 = graph.relu %5#0 : (tensor<16x96x8x8xf32>) -> tensor<16x96x8x8xf32>
  %c0 = graph.cast %5#1 {to = f32} : (tensor<16x96x8x8xui8>) -> tensor<16x96x8x8xf32>
  graph.return %c0, %6 : tensor<16x96x8x8xf32>, tensor<16x96x8x8xf32>
}
graph.step @one_by_one_few(%x: tensor<2x80x40x40xf32>, %w: tensor<96x80x1x1xf32>) -> (tensor<2x96x20x20xui8>, tensor<2x96x20x20xf32>) {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<2x80x40x40xf32>, tensor<96x80x1x1xf32>) -> tensor<2x96x40x40xf32>
  %5:2 = graph.max_pool2d %0 {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<2x96x40x40xf32>) -> (tensor<2x96x20x20xf32>, tensor<2x96x20x20xui8>)
  %6 = graph.relu %5#0 : (tensor<2x96x20x20xf32>) -> tensor<2x96x20x20xf32>
  graph.return %5#1, %6 : tensor<2x96x20x20xui8>, tensor<2x96x20x20xf32>
}
// One window in a dim and a rest: the last tile has none.
graph.step @one_window_rest(%x: tensor<32x8x5x15xf32>, %w: tensor<24x8x3x3xf32>) -> tensor<32x24x1x6xf32> {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<32x8x5x15xf32>, tensor<24x8x3x3xf32>) -> tensor<32x24x3x13xf32>
  %1:2 = graph.max_pool2d %0 {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<32x24x3x13xf32>) -> (tensor<32x24x1x6xf32>, tensor<32x24x1x6xui8>)
  %2 = graph.neg %1#0 : (tensor<32x24x1x6xf32>) -> tensor<32x24x1x6xf32>
  graph.return %2 : tensor<32x24x1x6xf32>
}
graph.step @one_window_rest_wide(%x: tensor<3x4x7x66xf32>, %w: tensor<8x4x3x3xf32>) -> tensor<3x8x1x32xf32> {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<3x4x7x66xf32>, tensor<8x4x3x3xf32>) -> tensor<3x8x5x64xf32>
  %1 = graph.sum_pool2d %0 {kernel = array<i64: 3, 2>, stride = array<i64: 3, 2>, padding = array<i64: 0, 0>} : (tensor<3x8x5x64xf32>) -> tensor<3x8x1x32xf32>
  %2 = graph.neg %1 : (tensor<3x8x1x32xf32>) -> tensor<3x8x1x32xf32>
  graph.return %2 : tensor<3x8x1x32xf32>
}
graph.step @one_window_rest_f64(%x: tensor<20x3x6x18xf64>, %w: tensor<7x3x3x3xf64>) -> tensor<20x7x1x16xf64> {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<20x3x6x18xf64>, tensor<7x3x3x3xf64>) -> tensor<20x7x4x16xf64>
  %1:2 = graph.max_pool2d %0 {kernel = array<i64: 3, 1>, stride = array<i64: 3, 1>, padding = array<i64: 0, 0>} : (tensor<20x7x4x16xf64>) -> (tensor<20x7x1x16xf64>, tensor<20x7x1x16xui8>)
  %2 = graph.neg %1#0 : (tensor<20x7x1x16xf64>) -> tensor<20x7x1x16xf64>
  graph.return %2 : tensor<20x7x1x16xf64>
}
