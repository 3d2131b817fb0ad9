// Tensors joined and cut: where parts begin within and between vectors, with work before and after.

graph.step @cat_last(%a: tensor<5x7xf32>, %b: tensor<5x33xf32>, %c: tensor<5x1xf32>) -> tensor<5x41xf32> {
  %0 = graph.cat %a, %b, %c {dim = 1} : (tensor<5x7xf32>, tensor<5x33xf32>, tensor<5x1xf32>) -> tensor<5x41xf32>
  graph.return %0 : tensor<5x41xf32>
}
graph.step @cat_first(%a: tensor<130x70xf32>, %b: tensor<3x70xf32>, %c: tensor<64x70xf32>) -> tensor<197x70xf32> {
  %0 = graph.exp %a : (tensor<130x70xf32>) -> tensor<130x70xf32>
  %1 = graph.cat %0, %b, %c {dim = 0} : (tensor<130x70xf32>, tensor<3x70xf32>, tensor<64x70xf32>) -> tensor<197x70xf32>
  %2 = graph.relu %1 : (tensor<197x70xf32>) -> tensor<197x70xf32>
  graph.return %2 : tensor<197x70xf32>
}
// The first part starts at 0: it is read at the result's own index, but is shorter.
graph.step @cat_of_sums(%a: tensor<40x300xf32>, %b: tensor<25x300xf32>) -> (tensor<65xf32>, tensor<40xf32>) {
  %0 = graph.sum %a {dims = array<i64: 1>} : (tensor<40x300xf32>) -> tensor<40xf32>
  %1 = graph.sum %b {dims = array<i64: 1>} : (tensor<25x300xf32>) -> tensor<25xf32>
  %2 = graph.cat %0, %1 {dim = 0} : (tensor<40xf32>, tensor<25xf32>) -> tensor<65xf32>
  graph.return %2, %0 : tensor<65xf32>, tensor<40xf32>
}
graph.step @cat_of_products(%a: tensor<48x64xf32>, %b: tensor<64x40xf32>, %c: tensor<48x9xf32>) -> tensor<48x49xf32> {
  %0 = graph.matmul %a, %b {spec = "mk,kn->mn"} : (tensor<48x64xf32>, tensor<64x40xf32>) -> tensor<48x40xf32>
  %1 = graph.tanh %0 : (tensor<48x40xf32>) -> tensor<48x40xf32>
  %2 = graph.cat %1, %c {dim = 1} : (tensor<48x40xf32>, tensor<48x9xf32>) -> tensor<48x49xf32>
  graph.return %2 : tensor<48x49xf32>
}
graph.step @product_of_cat(%a: tensor<48x30xf32>, %b: tensor<48x34xf32>, %w: tensor<64x40xf32>) -> tensor<48x40xf32> {
  %0 = graph.cat %a, %b {dim = 1} : (tensor<48x30xf32>, tensor<48x34xf32>) -> tensor<48x64xf32>
  %1 = graph.matmul %0, %w {spec = "mk,kn->mn"} : (tensor<48x64xf32>, tensor<64x40xf32>) -> tensor<48x40xf32>
  graph.return %1 : tensor<48x40xf32>
}
graph.step @cat_middle_f64(%a: tensor<3x5x19xf64>, %b: tensor<3x8x19xf64>) -> tensor<3x13x19xf64> {
  %0 = graph.cat %a, %b {dim = 1} : (tensor<3x5x19xf64>, tensor<3x8x19xf64>) -> tensor<3x13x19xf64>
  graph.return %0 : tensor<3x13x19xf64>
}
graph.step @cat_integers(%a: tensor<9xi64>, %b: tensor<30xi64>, %c: tensor<9xui8>, %d: tensor<31xui8>, %e: tensor<17xi1>, %f: tensor<18xi1>) -> (tensor<39xi64>, tensor<40xui8>, tensor<35xi1>) {
  %0 = graph.cat %a, %b {dim = 0} : (tensor<9xi64>, tensor<30xi64>) -> tensor<39xi64>
  %1 = graph.cat %c, %d {dim = 0} : (tensor<9xui8>, tensor<31xui8>) -> tensor<40xui8>
  %2 = graph.cat %e, %f {dim = 0} : (tensor<17xi1>, tensor<18xi1>) -> tensor<35xi1>
  graph.return %0, %1, %2 : tensor<39xi64>, tensor<40xui8>, tensor<35xi1>
}
// Too many operands for one kernel.
graph.step @cat_many(%a: tensor<2x3xf32>, %b: tensor<2x5xf32>) -> tensor<2x36xf32> {
  %0 = graph.cat %a, %b, %a, %b, %a, %b, %a, %b, %a, %a {dim = 1} : (tensor<2x3xf32>, tensor<2x5xf32>, tensor<2x3xf32>, tensor<2x5xf32>, tensor<2x3xf32>, tensor<2x5xf32>, tensor<2x3xf32>, tensor<2x5xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x38xf32>
  %1 = graph.slice %0 {offsets = array<i64: 0, 1>, sizes = array<i64: 2, 36>, strides = array<i64: 1, 1>} : (tensor<2x38xf32>) -> tensor<2x36xf32>
  graph.return %1 : tensor<2x36xf32>
}
// A slice from the start is read at its own index, but its operand is longer and leaves as well.
graph.step @slice_start(%a: tensor<90x40xf32>) -> (tensor<33x40xf32>, tensor<90x40xf32>) {
  %0 = graph.exp %a : (tensor<90x40xf32>) -> tensor<90x40xf32>
  %1 = graph.slice %0 {offsets = array<i64: 0, 0>, sizes = array<i64: 33, 40>, strides = array<i64: 1, 1>} : (tensor<90x40xf32>) -> tensor<33x40xf32>
  %2 = graph.sin %1 : (tensor<33x40xf32>) -> tensor<33x40xf32>
  graph.return %2, %0 : tensor<33x40xf32>, tensor<90x40xf32>
}
graph.step @slice_start_result(%a: tensor<90x40x9xf32>) -> (tensor<33x40xf32>, tensor<90x40xf32>) {
  %0 = graph.sum %a {dims = array<i64: 2>} : (tensor<90x40x9xf32>) -> tensor<90x40xf32>
  %1 = graph.slice %0 {offsets = array<i64: 0, 0>, sizes = array<i64: 33, 40>, strides = array<i64: 1, 1>} : (tensor<90x40xf32>) -> tensor<33x40xf32>
  graph.return %1, %0 : tensor<33x40xf32>, tensor<90x40xf32>
}
// The same for a pad at the far end only.
graph.step @pad_end(%a: tensor<33x40x9xf32>) -> (tensor<90x40xf32>, tensor<33x40xf32>) {
  %0 = graph.sum %a {dims = array<i64: 2>} : (tensor<33x40x9xf32>) -> tensor<33x40xf32>
  %1 = graph.pad %0 {low = array<i64: 0, 0>, high = array<i64: 57, 0>, interior = array<i64: 0, 0>, value = 0.5} : (tensor<33x40xf32>) -> tensor<90x40xf32>
  graph.return %1, %0 : tensor<90x40xf32>, tensor<33x40xf32>
}
// Parts of one tensor, each used otherwise: the halves of a gate.
graph.step @gate(%x: tensor<6x10x50xf32>) -> tensor<6x10x25xf32> {
  %0 = graph.slice %x {offsets = array<i64: 0, 0, 0>, sizes = array<i64: 6, 10, 25>, strides = array<i64: 1, 1, 1>} : (tensor<6x10x50xf32>) -> tensor<6x10x25xf32>
  %1 = graph.slice %x {offsets = array<i64: 0, 0, 25>, sizes = array<i64: 6, 10, 25>, strides = array<i64: 1, 1, 1>} : (tensor<6x10x50xf32>) -> tensor<6x10x25xf32>
  %2 = graph.sigmoid %1 : (tensor<6x10x25xf32>) -> tensor<6x10x25xf32>
  %3 = graph.mul %0, %2 : (tensor<6x10x25xf32>, tensor<6x10x25xf32>) -> tensor<6x10x25xf32>
  graph.return %3 : tensor<6x10x25xf32>
}
graph.step @gate_grad(%a: tensor<6x10x25xf32>, %b: tensor<6x10x25xf32>) -> tensor<6x10x50xf32> {
  %0 = graph.pad %a {low = array<i64: 0, 0, 0>, high = array<i64: 0, 0, 25>, interior = array<i64: 0, 0, 0>, value = 0.0} : (tensor<6x10x25xf32>) -> tensor<6x10x50xf32>
  %1 = graph.pad %b {low = array<i64: 0, 0, 25>, high = array<i64: 0, 0, 0>, interior = array<i64: 0, 0, 0>, value = 0.0} : (tensor<6x10x25xf32>) -> tensor<6x10x50xf32>
  %2 = graph.add %0, %1 : (tensor<6x10x50xf32>, tensor<6x10x50xf32>) -> tensor<6x10x50xf32>
  graph.return %2 : tensor<6x10x50xf32>
}
// Products of parts: the parts are read where they are.
graph.step @product_of_slices(%x: tensor<3x20x96xf32>) -> tensor<3x20x20xf32> {
  %0 = graph.slice %x {offsets = array<i64: 0, 0, 0>, sizes = array<i64: 3, 20, 32>, strides = array<i64: 1, 1, 1>} : (tensor<3x20x96xf32>) -> tensor<3x20x32xf32>
  %1 = graph.slice %x {offsets = array<i64: 0, 0, 32>, sizes = array<i64: 3, 20, 32>, strides = array<i64: 1, 1, 1>} : (tensor<3x20x96xf32>) -> tensor<3x20x32xf32>
  %2 = graph.matmul %0, %1 {spec = "bmk,bnk->bmn"} : (tensor<3x20x32xf32>, tensor<3x20x32xf32>) -> tensor<3x20x20xf32>
  graph.return %2 : tensor<3x20x20xf32>
}
graph.step @product_of_strided(%x: tensor<41x70xf32>, %w: tensor<70x90xf32>) -> tensor<20x30xf32> {
  %0 = graph.slice %x {offsets = array<i64: 1, 3>, sizes = array<i64: 20, 33>, strides = array<i64: 2, 2>} : (tensor<41x70xf32>) -> tensor<20x33xf32>
  %1 = graph.slice %w {offsets = array<i64: 4, 1>, sizes = array<i64: 33, 30>, strides = array<i64: 2, 3>} : (tensor<70x90xf32>) -> tensor<33x30xf32>
  %2 = graph.matmul %0, %1 {spec = "mk,kn->mn"} : (tensor<20x33xf32>, tensor<33x30xf32>) -> tensor<20x30xf32>
  graph.return %2 : tensor<20x30xf32>
}
graph.step @large_product_of_slices(%x: tensor<300x400xf32>, %w: tensor<200x600xf32>) -> tensor<300x290xf32> {
  %0 = graph.slice %x {offsets = array<i64: 0, 150>, sizes = array<i64: 300, 200>, strides = array<i64: 1, 1>} : (tensor<300x400xf32>) -> tensor<300x200xf32>
  %1 = graph.slice %w {offsets = array<i64: 0, 5>, sizes = array<i64: 200, 290>, strides = array<i64: 1, 2>} : (tensor<200x600xf32>) -> tensor<200x290xf32>
  %2 = graph.matmul %0, %1 {spec = "mk,kn->mn"} : (tensor<300x200xf32>, tensor<200x290xf32>) -> tensor<300x290xf32>
  graph.return %2 : tensor<300x290xf32>
}
graph.step @conv_of_slice(%x: tensor<2x9x12x14xf32>, %w: tensor<5x3x3x3xf32>) -> tensor<2x5x10x12xf32> {
  %0 = graph.slice %x {offsets = array<i64: 0, 4, 0, 0>, sizes = array<i64: 2, 3, 12, 14>, strides = array<i64: 1, 1, 1, 1>} : (tensor<2x9x12x14xf32>) -> tensor<2x3x12x14xf32>
  %1 = graph.conv2d %0, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<2x3x12x14xf32>, tensor<5x3x3x3xf32>) -> tensor<2x5x10x12xf32>
  graph.return %1 : tensor<2x5x10x12xf32>
}
// Rows are half of a vector of two registers: of no part more may be read than it has.
graph.step @sum_of_short_rows(%a0: tensor<16x8xf32>, %a1: tensor<16x8xf32>, %a2: tensor<16x8xf32>, %a3: tensor<16x8xf32>, %a4: tensor<16x8xf32>, %a5: tensor<16x8xf32>, %a6: tensor<16x8xf32>, %a7: tensor<16x8xf32>, %a8: tensor<16x8xf32>, %a9: tensor<16x8xf32>, %a10: tensor<16x8xf32>, %a11: tensor<16x8xf32>) -> tensor<8xf32> {
  %0 = graph.cat %a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7 {dim = 0} : (tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<128x8xf32>
  %1 = graph.cat %0, %a8, %a9, %a10, %a11 {dim = 0} : (tensor<128x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<192x8xf32>
  %2 = graph.sum %1 {dims = array<i64: 0>} : (tensor<192x8xf32>) -> tensor<8xf32>
  graph.return %2 : tensor<8xf32>
}
graph.step @sum_of_short_rows_f64(%a0: tensor<16x3xf64>, %a1: tensor<16x3xf64>, %a2: tensor<16x3xf64>, %a3: tensor<16x3xf64>, %a4: tensor<16x3xf64>, %a5: tensor<16x3xf64>, %a6: tensor<16x3xf64>, %a7: tensor<16x3xf64>, %a8: tensor<16x3xf64>, %a9: tensor<16x3xf64>, %a10: tensor<16x3xf64>, %a11: tensor<16x3xf64>) -> tensor<3xf64> {
  %0 = graph.cat %a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7 {dim = 0} : (tensor<16x3xf64>, tensor<16x3xf64>, tensor<16x3xf64>, tensor<16x3xf64>, tensor<16x3xf64>, tensor<16x3xf64>, tensor<16x3xf64>, tensor<16x3xf64>) -> tensor<128x3xf64>
  %1 = graph.cat %0, %a8, %a9, %a10, %a11 {dim = 0} : (tensor<128x3xf64>, tensor<16x3xf64>, tensor<16x3xf64>, tensor<16x3xf64>, tensor<16x3xf64>) -> tensor<192x3xf64>
  %2 = graph.sum %1 {dims = array<i64: 0>} : (tensor<192x3xf64>) -> tensor<3xf64>
  graph.return %2 : tensor<3xf64>
}
graph.step @sum_of_short_rows_i64(%a0: tensor<16x5xi64>, %a1: tensor<16x5xi64>, %a2: tensor<16x5xi64>, %a3: tensor<16x5xi64>, %a4: tensor<16x5xi64>, %a5: tensor<16x5xi64>, %a6: tensor<16x5xi64>, %a7: tensor<16x5xi64>, %a8: tensor<16x5xi64>, %a9: tensor<16x5xi64>, %a10: tensor<16x5xi64>, %a11: tensor<16x5xi64>) -> tensor<5xi64> {
  %0 = graph.cat %a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7 {dim = 0} : (tensor<16x5xi64>, tensor<16x5xi64>, tensor<16x5xi64>, tensor<16x5xi64>, tensor<16x5xi64>, tensor<16x5xi64>, tensor<16x5xi64>, tensor<16x5xi64>) -> tensor<128x5xi64>
  %1 = graph.cat %0, %a8, %a9, %a10, %a11 {dim = 0} : (tensor<128x5xi64>, tensor<16x5xi64>, tensor<16x5xi64>, tensor<16x5xi64>, tensor<16x5xi64>) -> tensor<192x5xi64>
  %2 = graph.sum %1 {dims = array<i64: 0>} : (tensor<192x5xi64>) -> tensor<5xi64>
  graph.return %2 : tensor<5xi64>
}
