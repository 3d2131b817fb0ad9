// Convolutions in groups and with dilation: forward with bias and relu, both gradients.

graph.step @dilated(%x: tensor<2x3x14x19xf32>, %w: tensor<5x3x3x3xf32>, %b: tensor<5x1x1xf32>) -> tensor<2x5x10x13xf32> {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, dilation = array<i64: 2, 3>, groups = 1} : (tensor<2x3x14x19xf32>, tensor<5x3x3x3xf32>) -> tensor<2x5x10x13xf32>
  %1 = graph.add %0, %b : (tensor<2x5x10x13xf32>, tensor<5x1x1xf32>) -> tensor<2x5x10x13xf32>
  %2 = graph.relu %1 : (tensor<2x5x10x13xf32>) -> tensor<2x5x10x13xf32>
  graph.return %2 : tensor<2x5x10x13xf32>
}
graph.step @dilated_input_grad(%dy: tensor<2x5x10x13xf32>, %w: tensor<5x3x3x3xf32>) -> tensor<2x3x14x19xf32> {
  %0 = graph.conv2d_input_grad %dy, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, input_shape = array<i64: 2, 3, 14, 19>, dilation = array<i64: 2, 3>, groups = 1} : (tensor<2x5x10x13xf32>, tensor<5x3x3x3xf32>) -> tensor<2x3x14x19xf32>
  graph.return %0 : tensor<2x3x14x19xf32>
}
graph.step @dilated_weight_grad(%x: tensor<2x3x14x19xf32>, %dy: tensor<2x5x10x13xf32>) -> tensor<5x3x3x3xf32> {
  %0 = graph.conv2d_weight_grad %x, %dy {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, kernel = array<i64: 3, 3>, dilation = array<i64: 2, 3>, groups = 1} : (tensor<2x3x14x19xf32>, tensor<2x5x10x13xf32>) -> tensor<5x3x3x3xf32>
  graph.return %0 : tensor<5x3x3x3xf32>
}
graph.step @dilated_padded(%x: tensor<2x4x13x17xf32>, %w: tensor<6x4x3x2xf32>, %b: tensor<6x1x1xf32>) -> tensor<2x6x7x19xf32> {
  %0 = graph.conv2d %x, %w {stride = array<i64: 2, 1>, padding = array<i64: 3, 2>, dilation = array<i64: 3, 2>, groups = 1} : (tensor<2x4x13x17xf32>, tensor<6x4x3x2xf32>) -> tensor<2x6x7x19xf32>
  %1 = graph.add %0, %b : (tensor<2x6x7x19xf32>, tensor<6x1x1xf32>) -> tensor<2x6x7x19xf32>
  %2 = graph.relu %1 : (tensor<2x6x7x19xf32>) -> tensor<2x6x7x19xf32>
  graph.return %2 : tensor<2x6x7x19xf32>
}
graph.step @dilated_padded_input_grad(%dy: tensor<2x6x7x19xf32>, %w: tensor<6x4x3x2xf32>) -> tensor<2x4x13x17xf32> {
  %0 = graph.conv2d_input_grad %dy, %w {stride = array<i64: 2, 1>, padding = array<i64: 3, 2>, input_shape = array<i64: 2, 4, 13, 17>, dilation = array<i64: 3, 2>, groups = 1} : (tensor<2x6x7x19xf32>, tensor<6x4x3x2xf32>) -> tensor<2x4x13x17xf32>
  graph.return %0 : tensor<2x4x13x17xf32>
}
graph.step @dilated_padded_weight_grad(%x: tensor<2x4x13x17xf32>, %dy: tensor<2x6x7x19xf32>) -> tensor<6x4x3x2xf32> {
  %0 = graph.conv2d_weight_grad %x, %dy {stride = array<i64: 2, 1>, padding = array<i64: 3, 2>, kernel = array<i64: 3, 2>, dilation = array<i64: 3, 2>, groups = 1} : (tensor<2x4x13x17xf32>, tensor<2x6x7x19xf32>) -> tensor<6x4x3x2xf32>
  graph.return %0 : tensor<6x4x3x2xf32>
}
graph.step @dilated_f64(%x: tensor<2x3x12x13xf64>, %w: tensor<4x3x2x3xf64>, %b: tensor<4x1x1xf64>) -> tensor<2x4x9x9xf64> {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, dilation = array<i64: 3, 2>, groups = 1} : (tensor<2x3x12x13xf64>, tensor<4x3x2x3xf64>) -> tensor<2x4x9x9xf64>
  %1 = graph.add %0, %b : (tensor<2x4x9x9xf64>, tensor<4x1x1xf64>) -> tensor<2x4x9x9xf64>
  %2 = graph.relu %1 : (tensor<2x4x9x9xf64>) -> tensor<2x4x9x9xf64>
  graph.return %2 : tensor<2x4x9x9xf64>
}
graph.step @dilated_f64_input_grad(%dy: tensor<2x4x9x9xf64>, %w: tensor<4x3x2x3xf64>) -> tensor<2x3x12x13xf64> {
  %0 = graph.conv2d_input_grad %dy, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, input_shape = array<i64: 2, 3, 12, 13>, dilation = array<i64: 3, 2>, groups = 1} : (tensor<2x4x9x9xf64>, tensor<4x3x2x3xf64>) -> tensor<2x3x12x13xf64>
  graph.return %0 : tensor<2x3x12x13xf64>
}
graph.step @dilated_f64_weight_grad(%x: tensor<2x3x12x13xf64>, %dy: tensor<2x4x9x9xf64>) -> tensor<4x3x2x3xf64> {
  %0 = graph.conv2d_weight_grad %x, %dy {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, kernel = array<i64: 2, 3>, dilation = array<i64: 3, 2>, groups = 1} : (tensor<2x3x12x13xf64>, tensor<2x4x9x9xf64>) -> tensor<4x3x2x3xf64>
  graph.return %0 : tensor<4x3x2x3xf64>
}
graph.step @two_groups(%x: tensor<3x8x12x12xf32>, %w: tensor<10x4x3x3xf32>, %b: tensor<10x1x1xf32>) -> tensor<3x10x12x12xf32> {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>, dilation = array<i64: 1, 1>, groups = 2} : (tensor<3x8x12x12xf32>, tensor<10x4x3x3xf32>) -> tensor<3x10x12x12xf32>
  %1 = graph.add %0, %b : (tensor<3x10x12x12xf32>, tensor<10x1x1xf32>) -> tensor<3x10x12x12xf32>
  %2 = graph.relu %1 : (tensor<3x10x12x12xf32>) -> tensor<3x10x12x12xf32>
  graph.return %2 : tensor<3x10x12x12xf32>
}
graph.step @two_groups_input_grad(%dy: tensor<3x10x12x12xf32>, %w: tensor<10x4x3x3xf32>) -> tensor<3x8x12x12xf32> {
  %0 = graph.conv2d_input_grad %dy, %w {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>, input_shape = array<i64: 3, 8, 12, 12>, dilation = array<i64: 1, 1>, groups = 2} : (tensor<3x10x12x12xf32>, tensor<10x4x3x3xf32>) -> tensor<3x8x12x12xf32>
  graph.return %0 : tensor<3x8x12x12xf32>
}
graph.step @two_groups_weight_grad(%x: tensor<3x8x12x12xf32>, %dy: tensor<3x10x12x12xf32>) -> tensor<10x4x3x3xf32> {
  %0 = graph.conv2d_weight_grad %x, %dy {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>, kernel = array<i64: 3, 3>, dilation = array<i64: 1, 1>, groups = 2} : (tensor<3x8x12x12xf32>, tensor<3x10x12x12xf32>) -> tensor<10x4x3x3xf32>
  graph.return %0 : tensor<10x4x3x3xf32>
}
graph.step @many_groups(%x: tensor<2x24x9x10xf32>, %w: tensor<16x3x3x2xf32>, %b: tensor<16x1x1xf32>) -> tensor<2x16x7x5xf32> {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 2>, padding = array<i64: 0, 0>, dilation = array<i64: 1, 1>, groups = 8} : (tensor<2x24x9x10xf32>, tensor<16x3x3x2xf32>) -> tensor<2x16x7x5xf32>
  %1 = graph.add %0, %b : (tensor<2x16x7x5xf32>, tensor<16x1x1xf32>) -> tensor<2x16x7x5xf32>
  %2 = graph.relu %1 : (tensor<2x16x7x5xf32>) -> tensor<2x16x7x5xf32>
  graph.return %2 : tensor<2x16x7x5xf32>
}
graph.step @many_groups_input_grad(%dy: tensor<2x16x7x5xf32>, %w: tensor<16x3x3x2xf32>) -> tensor<2x24x9x10xf32> {
  %0 = graph.conv2d_input_grad %dy, %w {stride = array<i64: 1, 2>, padding = array<i64: 0, 0>, input_shape = array<i64: 2, 24, 9, 10>, dilation = array<i64: 1, 1>, groups = 8} : (tensor<2x16x7x5xf32>, tensor<16x3x3x2xf32>) -> tensor<2x24x9x10xf32>
  graph.return %0 : tensor<2x24x9x10xf32>
}
graph.step @many_groups_weight_grad(%x: tensor<2x24x9x10xf32>, %dy: tensor<2x16x7x5xf32>) -> tensor<16x3x3x2xf32> {
  %0 = graph.conv2d_weight_grad %x, %dy {stride = array<i64: 1, 2>, padding = array<i64: 0, 0>, kernel = array<i64: 3, 2>, dilation = array<i64: 1, 1>, groups = 8} : (tensor<2x24x9x10xf32>, tensor<2x16x7x5xf32>) -> tensor<16x3x3x2xf32>
  graph.return %0 : tensor<16x3x3x2xf32>
}
graph.step @groups_dilated(%x: tensor<2x6x15x14xf64>, %w: tensor<9x2x3x3xf64>, %b: tensor<9x1x1xf64>) -> tensor<2x9x15x14xf64> {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 2, 2>, dilation = array<i64: 2, 2>, groups = 3} : (tensor<2x6x15x14xf64>, tensor<9x2x3x3xf64>) -> tensor<2x9x15x14xf64>
  %1 = graph.add %0, %b : (tensor<2x9x15x14xf64>, tensor<9x1x1xf64>) -> tensor<2x9x15x14xf64>
  %2 = graph.relu %1 : (tensor<2x9x15x14xf64>) -> tensor<2x9x15x14xf64>
  graph.return %2 : tensor<2x9x15x14xf64>
}
graph.step @groups_dilated_input_grad(%dy: tensor<2x9x15x14xf64>, %w: tensor<9x2x3x3xf64>) -> tensor<2x6x15x14xf64> {
  %0 = graph.conv2d_input_grad %dy, %w {stride = array<i64: 1, 1>, padding = array<i64: 2, 2>, input_shape = array<i64: 2, 6, 15, 14>, dilation = array<i64: 2, 2>, groups = 3} : (tensor<2x9x15x14xf64>, tensor<9x2x3x3xf64>) -> tensor<2x6x15x14xf64>
  graph.return %0 : tensor<2x6x15x14xf64>
}
graph.step @groups_dilated_weight_grad(%x: tensor<2x6x15x14xf64>, %dy: tensor<2x9x15x14xf64>) -> tensor<9x2x3x3xf64> {
  %0 = graph.conv2d_weight_grad %x, %dy {stride = array<i64: 1, 1>, padding = array<i64: 2, 2>, kernel = array<i64: 3, 3>, dilation = array<i64: 2, 2>, groups = 3} : (tensor<2x6x15x14xf64>, tensor<2x9x15x14xf64>) -> tensor<9x2x3x3xf64>
  graph.return %0 : tensor<9x2x3x3xf64>
}
graph.step @depthwise(%x: tensor<2x20x14x14xf32>, %w: tensor<20x1x3x3xf32>, %b: tensor<20x1x1xf32>) -> tensor<2x20x14x14xf32> {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>, dilation = array<i64: 1, 1>, groups = 20} : (tensor<2x20x14x14xf32>, tensor<20x1x3x3xf32>) -> tensor<2x20x14x14xf32>
  %1 = graph.add %0, %b : (tensor<2x20x14x14xf32>, tensor<20x1x1xf32>) -> tensor<2x20x14x14xf32>
  %2 = graph.relu %1 : (tensor<2x20x14x14xf32>) -> tensor<2x20x14x14xf32>
  graph.return %2 : tensor<2x20x14x14xf32>
}
graph.step @depthwise_input_grad(%dy: tensor<2x20x14x14xf32>, %w: tensor<20x1x3x3xf32>) -> tensor<2x20x14x14xf32> {
  %0 = graph.conv2d_input_grad %dy, %w {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>, input_shape = array<i64: 2, 20, 14, 14>, dilation = array<i64: 1, 1>, groups = 20} : (tensor<2x20x14x14xf32>, tensor<20x1x3x3xf32>) -> tensor<2x20x14x14xf32>
  graph.return %0 : tensor<2x20x14x14xf32>
}
graph.step @depthwise_weight_grad(%x: tensor<2x20x14x14xf32>, %dy: tensor<2x20x14x14xf32>) -> tensor<20x1x3x3xf32> {
  %0 = graph.conv2d_weight_grad %x, %dy {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>, kernel = array<i64: 3, 3>, dilation = array<i64: 1, 1>, groups = 20} : (tensor<2x20x14x14xf32>, tensor<2x20x14x14xf32>) -> tensor<20x1x3x3xf32>
  graph.return %0 : tensor<20x1x3x3xf32>
}
graph.step @depthwise_strided(%x: tensor<2x7x15x17xf32>, %w: tensor<7x1x5x3xf32>, %b: tensor<7x1x1xf32>) -> tensor<2x7x8x9xf32> {
  %0 = graph.conv2d %x, %w {stride = array<i64: 2, 2>, padding = array<i64: 2, 1>, dilation = array<i64: 1, 1>, groups = 7} : (tensor<2x7x15x17xf32>, tensor<7x1x5x3xf32>) -> tensor<2x7x8x9xf32>
  %1 = graph.add %0, %b : (tensor<2x7x8x9xf32>, tensor<7x1x1xf32>) -> tensor<2x7x8x9xf32>
  %2 = graph.relu %1 : (tensor<2x7x8x9xf32>) -> tensor<2x7x8x9xf32>
  graph.return %2 : tensor<2x7x8x9xf32>
}
graph.step @depthwise_strided_input_grad(%dy: tensor<2x7x8x9xf32>, %w: tensor<7x1x5x3xf32>) -> tensor<2x7x15x17xf32> {
  %0 = graph.conv2d_input_grad %dy, %w {stride = array<i64: 2, 2>, padding = array<i64: 2, 1>, input_shape = array<i64: 2, 7, 15, 17>, dilation = array<i64: 1, 1>, groups = 7} : (tensor<2x7x8x9xf32>, tensor<7x1x5x3xf32>) -> tensor<2x7x15x17xf32>
  graph.return %0 : tensor<2x7x15x17xf32>
}
graph.step @depthwise_strided_weight_grad(%x: tensor<2x7x15x17xf32>, %dy: tensor<2x7x8x9xf32>) -> tensor<7x1x5x3xf32> {
  %0 = graph.conv2d_weight_grad %x, %dy {stride = array<i64: 2, 2>, padding = array<i64: 2, 1>, kernel = array<i64: 5, 3>, dilation = array<i64: 1, 1>, groups = 7} : (tensor<2x7x15x17xf32>, tensor<2x7x8x9xf32>) -> tensor<7x1x5x3xf32>
  graph.return %0 : tensor<7x1x5x3xf32>
}
graph.step @depthwise_dilated_f64(%x: tensor<2x5x11x18xf64>, %w: tensor<5x1x3x3xf64>, %b: tensor<5x1x1xf64>) -> tensor<2x5x11x18xf64> {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 2, 2>, dilation = array<i64: 2, 2>, groups = 5} : (tensor<2x5x11x18xf64>, tensor<5x1x3x3xf64>) -> tensor<2x5x11x18xf64>
  %1 = graph.add %0, %b : (tensor<2x5x11x18xf64>, tensor<5x1x1xf64>) -> tensor<2x5x11x18xf64>
  %2 = graph.relu %1 : (tensor<2x5x11x18xf64>) -> tensor<2x5x11x18xf64>
  graph.return %2 : tensor<2x5x11x18xf64>
}
graph.step @depthwise_dilated_f64_input_grad(%dy: tensor<2x5x11x18xf64>, %w: tensor<5x1x3x3xf64>) -> tensor<2x5x11x18xf64> {
  %0 = graph.conv2d_input_grad %dy, %w {stride = array<i64: 1, 1>, padding = array<i64: 2, 2>, input_shape = array<i64: 2, 5, 11, 18>, dilation = array<i64: 2, 2>, groups = 5} : (tensor<2x5x11x18xf64>, tensor<5x1x3x3xf64>) -> tensor<2x5x11x18xf64>
  graph.return %0 : tensor<2x5x11x18xf64>
}
graph.step @depthwise_dilated_f64_weight_grad(%x: tensor<2x5x11x18xf64>, %dy: tensor<2x5x11x18xf64>) -> tensor<5x1x3x3xf64> {
  %0 = graph.conv2d_weight_grad %x, %dy {stride = array<i64: 1, 1>, padding = array<i64: 2, 2>, kernel = array<i64: 3, 3>, dilation = array<i64: 2, 2>, groups = 5} : (tensor<2x5x11x18xf64>, tensor<2x5x11x18xf64>) -> tensor<5x1x3x3xf64>
  graph.return %0 : tensor<5x1x3x3xf64>
}
// Two output channels for each input channel.
graph.step @multiplier(%x: tensor<2x6x10x11xf32>, %w: tensor<12x1x3x3xf32>, %b: tensor<12x1x1xf32>) -> tensor<2x12x8x9xf32> {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, dilation = array<i64: 1, 1>, groups = 6} : (tensor<2x6x10x11xf32>, tensor<12x1x3x3xf32>) -> tensor<2x12x8x9xf32>
  %1 = graph.add %0, %b : (tensor<2x12x8x9xf32>, tensor<12x1x1xf32>) -> tensor<2x12x8x9xf32>
  %2 = graph.relu %1 : (tensor<2x12x8x9xf32>) -> tensor<2x12x8x9xf32>
  graph.return %2 : tensor<2x12x8x9xf32>
}
graph.step @multiplier_input_grad(%dy: tensor<2x12x8x9xf32>, %w: tensor<12x1x3x3xf32>) -> tensor<2x6x10x11xf32> {
  %0 = graph.conv2d_input_grad %dy, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, input_shape = array<i64: 2, 6, 10, 11>, dilation = array<i64: 1, 1>, groups = 6} : (tensor<2x12x8x9xf32>, tensor<12x1x3x3xf32>) -> tensor<2x6x10x11xf32>
  graph.return %0 : tensor<2x6x10x11xf32>
}
graph.step @multiplier_weight_grad(%x: tensor<2x6x10x11xf32>, %dy: tensor<2x12x8x9xf32>) -> tensor<12x1x3x3xf32> {
  %0 = graph.conv2d_weight_grad %x, %dy {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, kernel = array<i64: 3, 3>, dilation = array<i64: 1, 1>, groups = 6} : (tensor<2x6x10x11xf32>, tensor<2x12x8x9xf32>) -> tensor<12x1x3x3xf32>
  graph.return %0 : tensor<12x1x3x3xf32>
}
graph.step @pointwise_groups(%x: tensor<4x12x7x7xf32>, %w: tensor<18x4x1x1xf32>, %b: tensor<18x1x1xf32>) -> tensor<4x18x7x7xf32> {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, dilation = array<i64: 1, 1>, groups = 3} : (tensor<4x12x7x7xf32>, tensor<18x4x1x1xf32>) -> tensor<4x18x7x7xf32>
  %1 = graph.add %0, %b : (tensor<4x18x7x7xf32>, tensor<18x1x1xf32>) -> tensor<4x18x7x7xf32>
  %2 = graph.relu %1 : (tensor<4x18x7x7xf32>) -> tensor<4x18x7x7xf32>
  graph.return %2 : tensor<4x18x7x7xf32>
}
graph.step @pointwise_groups_input_grad(%dy: tensor<4x18x7x7xf32>, %w: tensor<18x4x1x1xf32>) -> tensor<4x12x7x7xf32> {
  %0 = graph.conv2d_input_grad %dy, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, input_shape = array<i64: 4, 12, 7, 7>, dilation = array<i64: 1, 1>, groups = 3} : (tensor<4x18x7x7xf32>, tensor<18x4x1x1xf32>) -> tensor<4x12x7x7xf32>
  graph.return %0 : tensor<4x12x7x7xf32>
}
graph.step @pointwise_groups_weight_grad(%x: tensor<4x12x7x7xf32>, %dy: tensor<4x18x7x7xf32>) -> tensor<18x4x1x1xf32> {
  %0 = graph.conv2d_weight_grad %x, %dy {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, kernel = array<i64: 1, 1>, dilation = array<i64: 1, 1>, groups = 3} : (tensor<4x12x7x7xf32>, tensor<4x18x7x7xf32>) -> tensor<18x4x1x1xf32>
  graph.return %0 : tensor<18x4x1x1xf32>
}
