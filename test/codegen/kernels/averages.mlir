// Sums of windows and their gradient.

graph.step @average(%x: tensor<4x10x24x24xf32>) -> tensor<4x10x12x12xf32> {
  %0 = graph.sum_pool2d %x {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<4x10x24x24xf32>) -> tensor<4x10x12x12xf32>
  %n = graph.full {value = 4.0, type = tensor<f32>} : () -> tensor<f32>
  %1 = graph.div %0, %n : (tensor<4x10x12x12xf32>, tensor<f32>) -> tensor<4x10x12x12xf32>
  graph.return %1 : tensor<4x10x12x12xf32>
}
graph.step @average_grad(%dy: tensor<4x10x12x12xf32>) -> tensor<4x10x24x24xf32> {
  %n = graph.full {value = 4.0, type = tensor<f32>} : () -> tensor<f32>
  %0 = graph.div %dy, %n : (tensor<4x10x12x12xf32>, tensor<f32>) -> tensor<4x10x12x12xf32>
  %1 = graph.sum_pool2d_grad %0 {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>, input_shape = array<i64: 4, 10, 24, 24>} : (tensor<4x10x12x12xf32>) -> tensor<4x10x24x24xf32>
  graph.return %1 : tensor<4x10x24x24xf32>
}
graph.step @average_overlap(%x: tensor<2x5x15x17xf32>) -> tensor<2x5x8x9xf32> {
  %0 = graph.sum_pool2d %x {kernel = array<i64: 3, 3>, stride = array<i64: 2, 2>, padding = array<i64: 1, 1>} : (tensor<2x5x15x17xf32>) -> tensor<2x5x8x9xf32>
  %n = graph.full {value = 9.0, type = tensor<f32>} : () -> tensor<f32>
  %1 = graph.div %0, %n : (tensor<2x5x8x9xf32>, tensor<f32>) -> tensor<2x5x8x9xf32>
  graph.return %1 : tensor<2x5x8x9xf32>
}
graph.step @average_overlap_grad(%dy: tensor<2x5x8x9xf32>) -> tensor<2x5x15x17xf32> {
  %n = graph.full {value = 9.0, type = tensor<f32>} : () -> tensor<f32>
  %0 = graph.div %dy, %n : (tensor<2x5x8x9xf32>, tensor<f32>) -> tensor<2x5x8x9xf32>
  %1 = graph.sum_pool2d_grad %0 {kernel = array<i64: 3, 3>, stride = array<i64: 2, 2>, padding = array<i64: 1, 1>, input_shape = array<i64: 2, 5, 15, 17>} : (tensor<2x5x8x9xf32>) -> tensor<2x5x15x17xf32>
  graph.return %1 : tensor<2x5x15x17xf32>
}
graph.step @average_ceil(%x: tensor<2x3x14x19xf32>) -> tensor<2x3x8x7xf32> {
  %0 = graph.sum_pool2d %x {kernel = array<i64: 3, 4>, stride = array<i64: 2, 3>, padding = array<i64: 1, 2>, ceil_mode = true} : (tensor<2x3x14x19xf32>) -> tensor<2x3x8x7xf32>
  %n = graph.full {value = 12.0, type = tensor<f32>} : () -> tensor<f32>
  %1 = graph.div %0, %n : (tensor<2x3x8x7xf32>, tensor<f32>) -> tensor<2x3x8x7xf32>
  graph.return %1 : tensor<2x3x8x7xf32>
}
graph.step @average_ceil_grad(%dy: tensor<2x3x8x7xf32>) -> tensor<2x3x14x19xf32> {
  %n = graph.full {value = 12.0, type = tensor<f32>} : () -> tensor<f32>
  %0 = graph.div %dy, %n : (tensor<2x3x8x7xf32>, tensor<f32>) -> tensor<2x3x8x7xf32>
  %1 = graph.sum_pool2d_grad %0 {kernel = array<i64: 3, 4>, stride = array<i64: 2, 3>, padding = array<i64: 1, 2>, input_shape = array<i64: 2, 3, 14, 19>, ceil_mode = true} : (tensor<2x3x8x7xf32>) -> tensor<2x3x14x19xf32>
  graph.return %1 : tensor<2x3x14x19xf32>
}
graph.step @average_gaps(%x: tensor<2x3x14x19xf32>) -> tensor<2x3x5x4xf32> {
  %0 = graph.sum_pool2d %x {kernel = array<i64: 2, 3>, stride = array<i64: 3, 5>, padding = array<i64: 0, 0>, ceil_mode = true} : (tensor<2x3x14x19xf32>) -> tensor<2x3x5x4xf32>
  %n = graph.full {value = 6.0, type = tensor<f32>} : () -> tensor<f32>
  %1 = graph.div %0, %n : (tensor<2x3x5x4xf32>, tensor<f32>) -> tensor<2x3x5x4xf32>
  graph.return %1 : tensor<2x3x5x4xf32>
}
graph.step @average_gaps_grad(%dy: tensor<2x3x5x4xf32>) -> tensor<2x3x14x19xf32> {
  %n = graph.full {value = 6.0, type = tensor<f32>} : () -> tensor<f32>
  %0 = graph.div %dy, %n : (tensor<2x3x5x4xf32>, tensor<f32>) -> tensor<2x3x5x4xf32>
  %1 = graph.sum_pool2d_grad %0 {kernel = array<i64: 2, 3>, stride = array<i64: 3, 5>, padding = array<i64: 0, 0>, input_shape = array<i64: 2, 3, 14, 19>, ceil_mode = true} : (tensor<2x3x5x4xf32>) -> tensor<2x3x14x19xf32>
  graph.return %1 : tensor<2x3x14x19xf32>
}
graph.step @average_f64(%x: tensor<2x3x9x20xf64>) -> tensor<2x3x6x11xf64> {
  %0 = graph.sum_pool2d %x {kernel = array<i64: 4, 2>, stride = array<i64: 1, 2>, padding = array<i64: 0, 1>} : (tensor<2x3x9x20xf64>) -> tensor<2x3x6x11xf64>
  %n = graph.full {value = 8.0, type = tensor<f64>} : () -> tensor<f64>
  %1 = graph.div %0, %n : (tensor<2x3x6x11xf64>, tensor<f64>) -> tensor<2x3x6x11xf64>
  graph.return %1 : tensor<2x3x6x11xf64>
}
graph.step @average_f64_grad(%dy: tensor<2x3x6x11xf64>) -> tensor<2x3x9x20xf64> {
  %n = graph.full {value = 8.0, type = tensor<f64>} : () -> tensor<f64>
  %0 = graph.div %dy, %n : (tensor<2x3x6x11xf64>, tensor<f64>) -> tensor<2x3x6x11xf64>
  %1 = graph.sum_pool2d_grad %0 {kernel = array<i64: 4, 2>, stride = array<i64: 1, 2>, padding = array<i64: 0, 1>, input_shape = array<i64: 2, 3, 9, 20>} : (tensor<2x3x6x11xf64>) -> tensor<2x3x9x20xf64>
  graph.return %1 : tensor<2x3x9x20xf64>
}
graph.step @average_all(%x: tensor<3x20x7x7xf32>) -> tensor<3x20x1x1xf32> {
  %0 = graph.sum_pool2d %x {kernel = array<i64: 7, 7>, stride = array<i64: 7, 7>, padding = array<i64: 0, 0>} : (tensor<3x20x7x7xf32>) -> tensor<3x20x1x1xf32>
  %n = graph.full {value = 49.0, type = tensor<f32>} : () -> tensor<f32>
  %1 = graph.div %0, %n : (tensor<3x20x1x1xf32>, tensor<f32>) -> tensor<3x20x1x1xf32>
  graph.return %1 : tensor<3x20x1x1xf32>
}
graph.step @average_all_grad(%dy: tensor<3x20x1x1xf32>) -> tensor<3x20x7x7xf32> {
  %n = graph.full {value = 49.0, type = tensor<f32>} : () -> tensor<f32>
  %0 = graph.div %dy, %n : (tensor<3x20x1x1xf32>, tensor<f32>) -> tensor<3x20x1x1xf32>
  %1 = graph.sum_pool2d_grad %0 {kernel = array<i64: 7, 7>, stride = array<i64: 7, 7>, padding = array<i64: 0, 0>, input_shape = array<i64: 3, 20, 7, 7>} : (tensor<3x20x1x1xf32>) -> tensor<3x20x7x7xf32>
  graph.return %1 : tensor<3x20x7x7xf32>
}
