// Constants of the launch: slices at several offsets of one operand, as operands
// of products and sums, in epilogues, with steps, in both directions.

graph.step @thirds(%x: tensor<7x48xf32>) -> tensor<7x16xf32> {
  %0 = graph.slice %x {offsets = array<i64: 0, 0>, sizes = array<i64: 7, 16>, strides = array<i64: 1, 1>} : (tensor<7x48xf32>) -> tensor<7x16xf32>
  %1 = graph.slice %x {offsets = array<i64: 0, 16>, sizes = array<i64: 7, 16>, strides = array<i64: 1, 1>} : (tensor<7x48xf32>) -> tensor<7x16xf32>
  %2 = graph.slice %x {offsets = array<i64: 0, 32>, sizes = array<i64: 7, 16>, strides = array<i64: 1, 1>} : (tensor<7x48xf32>) -> tensor<7x16xf32>
  %3 = graph.mul %0, %1 : (tensor<7x16xf32>, tensor<7x16xf32>) -> tensor<7x16xf32>
  %4 = graph.sub %3, %2 : (tensor<7x16xf32>, tensor<7x16xf32>) -> tensor<7x16xf32>
  graph.return %4 : tensor<7x16xf32>
}

graph.step @steps(%x: tensor<9x41xf32>) -> (tensor<4x19xf32>, tensor<4xf32>) {
  %0 = graph.slice %x {offsets = array<i64: 1, 3>, sizes = array<i64: 4, 19>, strides = array<i64: 2, 2>} : (tensor<9x41xf32>) -> tensor<4x19xf32>
  %1 = graph.exp %0 : (tensor<4x19xf32>) -> tensor<4x19xf32>
  %2 = graph.sum %1 {dims = array<i64: 1>, keepdim = false} : (tensor<4x19xf32>) -> tensor<4xf32>
  graph.return %1, %2 : tensor<4x19xf32>, tensor<4xf32>
}

graph.step @alone(%x: tensor<6x10x5xf64>) -> tensor<3x4x5xf64> {
  %0 = graph.slice %x {offsets = array<i64: 2, 5, 0>, sizes = array<i64: 3, 4, 5>, strides = array<i64: 1, 1, 1>} : (tensor<6x10x5xf64>) -> tensor<3x4x5xf64>
  graph.return %0 : tensor<3x4x5xf64>
}

graph.step @product(%x: tensor<40x60xf32>, %w: tensor<50x24xf32>) -> tensor<33x24xf32> {
  %0 = graph.slice %x {offsets = array<i64: 7, 11>, sizes = array<i64: 33, 40>, strides = array<i64: 1, 1>} : (tensor<40x60xf32>) -> tensor<33x40xf32>
  %1 = graph.slice %w {offsets = array<i64: 9, 0>, sizes = array<i64: 40, 24>, strides = array<i64: 1, 1>} : (tensor<50x24xf32>) -> tensor<40x24xf32>
  %2 = graph.matmul %0, %1 {spec = "mk,kn->mn"} : (tensor<33x40xf32>, tensor<40x24xf32>) -> tensor<33x24xf32>
  graph.return %2 : tensor<33x24xf32>
}

graph.step @epilogue(%x: tensor<33x40xf32>, %w: tensor<40x24xf32>, %b: tensor<50xf32>, %s: tensor<8xi64>) -> tensor<33x24xf32> {
  %0 = graph.matmul %x, %w {spec = "mk,kn->mn"} : (tensor<33x40xf32>, tensor<40x24xf32>) -> tensor<33x24xf32>
  %1 = graph.slice %b {offsets = array<i64: 21>, sizes = array<i64: 24>, strides = array<i64: 1>} : (tensor<50xf32>) -> tensor<24xf32>
  %2 = graph.add %0, %1 : (tensor<33x24xf32>, tensor<24xf32>) -> tensor<33x24xf32>
  %3 = graph.dropout %2, %s {p = 0.3, key = 77} : (tensor<33x24xf32>, tensor<8xi64>) -> tensor<33x24xf32>
  graph.return %3 : tensor<33x24xf32>
}

graph.step @drawn_parts(%x: tensor<6x20xf32>, %s: tensor<8xi64>) -> (tensor<6x20xf32>, tensor<6x20xf64>) {
  %0 = graph.dropout %x, %s {p = 0.5, key = -3, offset = array<i64: 6, 20>, extents = array<i64: 12, 60>} : (tensor<6x20xf32>, tensor<8xi64>) -> tensor<6x20xf32>
  %1 = graph.iota {dim = 1, type = tensor<6x20xf64>, start = array<i64: 20>} : () -> tensor<6x20xf64>
  graph.return %0, %1 : tensor<6x20xf32>, tensor<6x20xf64>
}
