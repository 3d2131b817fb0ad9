// What the shape ops and broadcasting make of indices, and results of every element type.

graph.step @one_element(%a: tensor<1x1x1xf32>, %b: tensor<1xf32>) -> tensor<1x1x1xf32> {
  %0 = graph.add %a, %b : (tensor<1x1x1xf32>, tensor<1xf32>) -> tensor<1x1x1xf32>
  graph.return %0 : tensor<1x1x1xf32>
}
graph.step @prime(%a: tensor<1009xf32>, %b: tensor<1009xf32>) -> tensor<1009xf32> {
  %0 = graph.mul %a, %b : (tensor<1009xf32>, tensor<1009xf32>) -> tensor<1009xf32>
  graph.return %0 : tensor<1009xf32>
}
graph.step @prime_tiles(%a: tensor<300007xf32>) -> tensor<300007xf32> {
  %0 = graph.neg %a : (tensor<300007xf32>) -> tensor<300007xf32>
  graph.return %0 : tensor<300007xf32>
}
graph.step @rank_0_chain(%a: tensor<f64>, %b: tensor<f64>) -> (tensor<f64>, tensor<i1>, tensor<i64>) {
  %0 = graph.mul %a, %b : (tensor<f64>, tensor<f64>) -> tensor<f64>
  %1 = graph.sin %0 : (tensor<f64>) -> tensor<f64>
  %2 = graph.lt %0, %b : (tensor<f64>, tensor<f64>) -> tensor<i1>
  %3 = graph.cast %2 {to = i64} : (tensor<i1>) -> tensor<i64>
  graph.return %1, %2, %3 : tensor<f64>, tensor<i1>, tensor<i64>
}
graph.step @broadcast_both(%a: tensor<7x1x33xf32>, %b: tensor<1x19x1xf32>) -> tensor<7x19x33xf32> {
  %0 = graph.mul %a, %b : (tensor<7x1x33xf32>, tensor<1x19x1xf32>) -> tensor<7x19x33xf32>
  graph.return %0 : tensor<7x19x33xf32>
}
graph.step @broadcast_columns(%a: tensor<257x1xf32>, %b: tensor<1x131xf32>) -> tensor<257x131xf32> {
  %0 = graph.sub %a, %b : (tensor<257x1xf32>, tensor<1x131xf32>) -> tensor<257x131xf32>
  %1 = graph.exp %0 : (tensor<257x131xf32>) -> tensor<257x131xf32>
  graph.return %1 : tensor<257x131xf32>
}
graph.step @broadcast_last_of_one(%a: tensor<300x1xf32>, %b: tensor<1xf32>) -> tensor<300x1xf32> {
  %0 = graph.add %a, %b : (tensor<300x1xf32>, tensor<1xf32>) -> tensor<300x1xf32>
  graph.return %0 : tensor<300x1xf32>
}
// One value is read in two ways by one op.
graph.step @with_own_transpose(%a: tensor<37x37xf32>) -> tensor<37x37xf32> {
  %0 = graph.exp %a : (tensor<37x37xf32>) -> tensor<37x37xf32>
  %1 = graph.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<37x37xf32>) -> tensor<37x37xf32>
  %2 = graph.sub %0, %1 : (tensor<37x37xf32>, tensor<37x37xf32>) -> tensor<37x37xf32>
  graph.return %2 : tensor<37x37xf32>
}
graph.step @with_own_transpose_tiles(%a: tensor<200x200xf32>) -> tensor<200x200xf32> {
  %0 = graph.mul %a, %a : (tensor<200x200xf32>, tensor<200x200xf32>) -> tensor<200x200xf32>
  %1 = graph.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<200x200xf32>) -> tensor<200x200xf32>
  %2 = graph.add %0, %1 : (tensor<200x200xf32>, tensor<200x200xf32>) -> tensor<200x200xf32>
  graph.return %2 : tensor<200x200xf32>
}
graph.step @transpose_4d(%a: tensor<3x5x7x9xf64>) -> tensor<9x3x7x5xf64> {
  %0 = graph.transpose %a {permutation = array<i64: 3, 0, 2, 1>} : (tensor<3x5x7x9xf64>) -> tensor<9x3x7x5xf64>
  graph.return %0 : tensor<9x3x7x5xf64>
}
graph.step @transpose_bytes(%a: tensor<33x65xui8>) -> tensor<65x33xui8> {
  %0 = graph.transpose %a {permutation = array<i64: 1, 0>} : (tensor<33x65xui8>) -> tensor<65x33xui8>
  graph.return %0 : tensor<65x33xui8>
}
graph.step @expand_scalar(%a: tensor<f32>) -> tensor<3x41xf32> {
  %0 = graph.expand %a {shape = array<i64: 3, 41>} : (tensor<f32>) -> tensor<3x41xf32>
  graph.return %0 : tensor<3x41xf32>
}
graph.step @expand_middle(%a: tensor<5x1x23xi64>) -> tensor<5x6x23xi64> {
  %0 = graph.expand %a {shape = array<i64: 5, 6, 23>} : (tensor<5x1x23xi64>) -> tensor<5x6x23xi64>
  graph.return %0 : tensor<5x6x23xi64>
}
graph.step @pad_interior(%a: tensor<5x17xf32>) -> tensor<16x38xf32> {
  %0 = graph.pad %a {low = array<i64: 1, 2>, high = array<i64: 2, 3>, interior = array<i64: 2, 1>, value = -0.5 : f64} : (tensor<5x17xf32>) -> tensor<16x38xf32>
  graph.return %0 : tensor<16x38xf32>
}
graph.step @pad_interior_wide(%a: tensor<3x11xf32>) -> tensor<3x64xf32> {
  %0 = graph.pad %a {low = array<i64: 0, 3>, high = array<i64: 0, 0>, interior = array<i64: 0, 5>, value = 2.0 : f64} : (tensor<3x11xf32>) -> tensor<3x64xf32>
  graph.return %0 : tensor<3x64xf32>
}
graph.step @pad_one(%a: tensor<1xf32>) -> tensor<40xf32> {
  %0 = graph.pad %a {low = array<i64: 37>, high = array<i64: 2>, interior = array<i64: 3>, value = 1.0 : f64} : (tensor<1xf32>) -> tensor<40xf32>
  graph.return %0 : tensor<40xf32>
}
graph.step @pad_i64(%a: tensor<9x30xi64>) -> tensor<9x33xi64> {
  %0 = graph.pad %a {low = array<i64: 0, 1>, high = array<i64: 0, 2>, interior = array<i64: 0, 0>, value = -7.0 : f64} : (tensor<9x30xi64>) -> tensor<9x33xi64>
  graph.return %0 : tensor<9x33xi64>
}
graph.step @pad_of_exp(%a: tensor<8x29xf32>) -> tensor<10x31xf32> {
  %0 = graph.exp %a : (tensor<8x29xf32>) -> tensor<8x29xf32>
  %1 = graph.pad %0 {low = array<i64: 1, 1>, high = array<i64: 1, 1>, interior = array<i64: 0, 0>, value = 0.0 : f64} : (tensor<8x29xf32>) -> tensor<10x31xf32>
  %2 = graph.sqrt %1 : (tensor<10x31xf32>) -> tensor<10x31xf32>
  graph.return %2 : tensor<10x31xf32>
}
graph.step @pad_of_pad(%a: tensor<6x10xf32>) -> tensor<8x43xf32> {
  %0 = graph.pad %a {low = array<i64: 1, 1>, high = array<i64: 0, 1>, interior = array<i64: 0, 1>, value = 3.0 : f64} : (tensor<6x10xf32>) -> tensor<7x21xf32>
  %1 = graph.pad %0 {low = array<i64: 0, 2>, high = array<i64: 1, 0>, interior = array<i64: 0, 1>, value = 4.0 : f64} : (tensor<7x21xf32>) -> tensor<8x43xf32>
  graph.return %1 : tensor<8x43xf32>
}
graph.step @pad_tiles(%a: tensor<200x300xf32>) -> tensor<203x601xf32> {
  %0 = graph.pad %a {low = array<i64: 1, 1>, high = array<i64: 2, 1>, interior = array<i64: 0, 1>, value = 0.0 : f64} : (tensor<200x300xf32>) -> tensor<203x601xf32>
  graph.return %0 : tensor<203x601xf32>
}
graph.step @slice_strided(%a: tensor<20x70xf32>) -> tensor<6x34xf32> {
  %0 = graph.slice %a {offsets = array<i64: 2, 1>, sizes = array<i64: 6, 34>, strides = array<i64: 3, 2>} : (tensor<20x70xf32>) -> tensor<6x34xf32>
  graph.return %0 : tensor<6x34xf32>
}
// The last element is the value's last: what a vector of even elements reads behind it.
graph.step @slice_to_the_end(%a: tensor<3x33xf64>) -> tensor<3x17xf64> {
  %0 = graph.slice %a {offsets = array<i64: 0, 0>, sizes = array<i64: 3, 17>, strides = array<i64: 1, 2>} : (tensor<3x33xf64>) -> tensor<3x17xf64>
  graph.return %0 : tensor<3x17xf64>
}
graph.step @slice_stride_5(%a: tensor<331xf32>) -> tensor<66xf32> {
  %0 = graph.slice %a {offsets = array<i64: 3>, sizes = array<i64: 66>, strides = array<i64: 5>} : (tensor<331xf32>) -> tensor<66xf32>
  graph.return %0 : tensor<66xf32>
}
graph.step @slice_bytes(%a: tensor<129xui8>) -> tensor<64xui8> {
  %0 = graph.slice %a {offsets = array<i64: 1>, sizes = array<i64: 64>, strides = array<i64: 2>} : (tensor<129xui8>) -> tensor<64xui8>
  graph.return %0 : tensor<64xui8>
}
graph.step @slice_and_pad(%a: tensor<12x50xf32>) -> tensor<12x50xf32> {
  %0 = graph.slice %a {offsets = array<i64: 0, 3>, sizes = array<i64: 12, 40>, strides = array<i64: 1, 1>} : (tensor<12x50xf32>) -> tensor<12x40xf32>
  %1 = graph.exp %0 : (tensor<12x40xf32>) -> tensor<12x40xf32>
  %2 = graph.pad %1 {low = array<i64: 0, 3>, high = array<i64: 0, 7>, interior = array<i64: 0, 0>, value = 0.0 : f64} : (tensor<12x40xf32>) -> tensor<12x50xf32>
  %3 = graph.add %2, %a : (tensor<12x50xf32>, tensor<12x50xf32>) -> tensor<12x50xf32>
  graph.return %3 : tensor<12x50xf32>
}
graph.step @reshaped(%a: tensor<12x50xf32>) -> (tensor<600xf32>, tensor<50xf32>) {
  %0 = graph.exp %a : (tensor<12x50xf32>) -> tensor<12x50xf32>
  %1 = graph.reshape %0 {shape = array<i64: 600>} : (tensor<12x50xf32>) -> tensor<600xf32>
  %2 = graph.neg %1 : (tensor<600xf32>) -> tensor<600xf32>
  %3 = graph.reshape %a {shape = array<i64: 50, 12>} : (tensor<12x50xf32>) -> tensor<50x12xf32>
  %4 = graph.sum %3 {dims = array<i64: 1>, keepdim = false} : (tensor<50x12xf32>) -> tensor<50xf32>
  graph.return %2, %4 : tensor<600xf32>, tensor<50xf32>
}
graph.step @iotas() -> (tensor<5x37xi64>, tensor<37x5xf32>) {
  %0 = graph.iota {dim = 1 : i64, type = tensor<5x37xi64>} : () -> tensor<5x37xi64>
  %1 = graph.iota {dim = 0 : i64, type = tensor<37x5xf32>} : () -> tensor<37x5xf32>
  graph.return %0, %1 : tensor<5x37xi64>, tensor<37x5xf32>
}
graph.step @one_hot(%t: tensor<45xi64>) -> tensor<45x6xf32> {
  %0 = graph.iota {dim = 1 : i64, type = tensor<45x6xi64>} : () -> tensor<45x6xi64>
  %1 = graph.reshape %t {shape = array<i64: 45, 1>} : (tensor<45xi64>) -> tensor<45x1xi64>
  %2 = graph.eq %0, %1 : (tensor<45x6xi64>, tensor<45x1xi64>) -> tensor<45x6xi1>
  %3 = graph.cast %2 {to = f32} : (tensor<45x6xi1>) -> tensor<45x6xf32>
  graph.return %3 : tensor<45x6xf32>
}
graph.step @bytes(%a: tensor<99xui8>, %b: tensor<99xui8>) -> (tensor<99xui8>, tensor<99xi1>) {
  %0 = graph.lt %a, %b : (tensor<99xui8>, tensor<99xui8>) -> tensor<99xi1>
  %1 = graph.select %0, %a, %b : (tensor<99xi1>, tensor<99xui8>, tensor<99xui8>) -> tensor<99xui8>
  graph.return %1, %0 : tensor<99xui8>, tensor<99xi1>
}
// Bytes from 20 to 255: they are not signed.
graph.step @large_bytes(%a: tensor<99xf32>) -> (tensor<99xi1>, tensor<99xi64>, tensor<99xf32>) {
  %c = graph.full {value = 117.0 : f64, type = tensor<f32>} : () -> tensor<f32>
  %d = graph.full {value = 137.0 : f64, type = tensor<f32>} : () -> tensor<f32>
  %limit = graph.full {value = 130.0 : f64, type = tensor<ui8>} : () -> tensor<ui8>
  %0 = graph.mul %a, %c : (tensor<99xf32>, tensor<f32>) -> tensor<99xf32>
  %1 = graph.add %0, %d : (tensor<99xf32>, tensor<f32>) -> tensor<99xf32>
  %2 = graph.cast %1 {to = ui8} : (tensor<99xf32>) -> tensor<99xui8>
  %3 = graph.lt %2, %limit : (tensor<99xui8>, tensor<ui8>) -> tensor<99xi1>
  %4 = graph.cast %2 {to = i64} : (tensor<99xui8>) -> tensor<99xi64>
  %5 = graph.cast %2 {to = f32} : (tensor<99xui8>) -> tensor<99xf32>
  graph.return %3, %4, %5 : tensor<99xi1>, tensor<99xi64>, tensor<99xf32>
}
graph.step @integers(%a: tensor<71xi64>, %b: tensor<71xi32>) -> (tensor<71xi64>, tensor<71xi32>, tensor<71xi64>) {
  %0 = graph.cast %b {to = i64} : (tensor<71xi32>) -> tensor<71xi64>
  %1 = graph.sub %a, %0 : (tensor<71xi64>, tensor<71xi64>) -> tensor<71xi64>
  %2 = graph.abs %1 : (tensor<71xi64>) -> tensor<71xi64>
  %3 = graph.mul %2, %1 : (tensor<71xi64>, tensor<71xi64>) -> tensor<71xi64>
  %4 = graph.neg %b : (tensor<71xi32>) -> tensor<71xi32>
  %5 = graph.maximum %1, %a : (tensor<71xi64>, tensor<71xi64>) -> tensor<71xi64>
  graph.return %3, %4, %5 : tensor<71xi64>, tensor<71xi32>, tensor<71xi64>
}
graph.step @logic(%a: tensor<50x3xi1>, %b: tensor<3xi1>) -> (tensor<50x3xi1>, tensor<50x3xi1>, tensor<50x3xi1>) {
  %0 = graph.logical_and %a, %b : (tensor<50x3xi1>, tensor<3xi1>) -> tensor<50x3xi1>
  %1 = graph.logical_or %a, %b : (tensor<50x3xi1>, tensor<3xi1>) -> tensor<50x3xi1>
  %2 = graph.logical_not %0 : (tensor<50x3xi1>) -> tensor<50x3xi1>
  graph.return %0, %1, %2 : tensor<50x3xi1>, tensor<50x3xi1>, tensor<50x3xi1>
}
graph.step @select_chain(%a: tensor<97xf32>, %b: tensor<97xf32>, %c: tensor<f32>) -> tensor<97xf32> {
  %0 = graph.lt %a, %c : (tensor<97xf32>, tensor<f32>) -> tensor<97xi1>
  %1 = graph.gt %b, %c : (tensor<97xf32>, tensor<f32>) -> tensor<97xi1>
  %2 = graph.select %0, %a, %b : (tensor<97xi1>, tensor<97xf32>, tensor<97xf32>) -> tensor<97xf32>
  %3 = graph.select %1, %2, %c : (tensor<97xi1>, tensor<97xf32>, tensor<f32>) -> tensor<97xf32>
  %4 = graph.logical_not %1 : (tensor<97xi1>) -> tensor<97xi1>
  %5 = graph.select %4, %3, %a : (tensor<97xi1>, tensor<97xf32>, tensor<97xf32>) -> tensor<97xf32>
  graph.return %5 : tensor<97xf32>
}
graph.step @mixed_widths(%a: tensor<67xf32>, %b: tensor<67xf64>) -> (tensor<67xf64>, tensor<67xf32>, tensor<67xi1>) {
  %0 = graph.cast %a {to = f64} : (tensor<67xf32>) -> tensor<67xf64>
  %1 = graph.mul %0, %b : (tensor<67xf64>, tensor<67xf64>) -> tensor<67xf64>
  %2 = graph.cast %1 {to = f32} : (tensor<67xf64>) -> tensor<67xf32>
  %3 = graph.ge %0, %b : (tensor<67xf64>, tensor<67xf64>) -> tensor<67xi1>
  graph.return %1, %2, %3 : tensor<67xf64>, tensor<67xf32>, tensor<67xi1>
}
graph.step @random_numbers(%s: tensor<8xi64>) -> (tensor<7x19xf32>, tensor<131xf64>) {
  %0 = graph.uniform %s {key = 77 : i64, type = tensor<7x19xf32>} : (tensor<8xi64>) -> tensor<7x19xf32>
  %1 = graph.normal %s {key = -3 : i64, type = tensor<131xf64>} : (tensor<8xi64>) -> tensor<131xf64>
  graph.return %0, %1 : tensor<7x19xf32>, tensor<131xf64>
}
// Words of neighbours: rows that begin with a counter, and within one, at each of its words; f64, and two words for
// each element.
graph.step @drawn_rows(%s: tensor<8xi64>) -> (tensor<5x64xf32>, tensor<5x70xf64>, tensor<5x70xf32>, tensor<5x70xf32>, tensor<5x70xf64>) {
  %0 = graph.uniform %s {key = 1 : i64, type = tensor<5x64xf32>} : (tensor<8xi64>) -> tensor<5x64xf32>
  %1 = graph.uniform %s {key = 2 : i64, type = tensor<5x70xf64>} : (tensor<8xi64>) -> tensor<5x70xf64>
  %2 = graph.uniform %s {key = 3 : i64, type = tensor<5x70xf32>, offset = array<i64: 1, 3>, extents = array<i64: 9, 81>} : (tensor<8xi64>) -> tensor<5x70xf32>
  %3 = graph.normal %s {key = 4 : i64, type = tensor<5x70xf32>, offset = array<i64: 0, 2>, extents = array<i64: 5, 72>} : (tensor<8xi64>) -> tensor<5x70xf32>
  %4 = graph.normal %s {key = 5 : i64, type = tensor<5x70xf64>, offset = array<i64: 0, 1>, extents = array<i64: 5, 75>} : (tensor<8xi64>) -> tensor<5x70xf64>
  graph.return %0, %1, %2, %3, %4 : tensor<5x64xf32>, tensor<5x70xf64>, tensor<5x70xf32>, tensor<5x70xf32>, tensor<5x70xf64>
}
// Enough of them for accesses of 16 bytes on a GPU, in a part that begins anywhere.
graph.step @drawn_parts(%a: tensor<16x64xf32>, %s: tensor<8xi64>) -> (tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>) {
  %0 = graph.dropout %a, %s {p = 0.5, key = 1} : (tensor<16x64xf32>, tensor<8xi64>) -> tensor<16x64xf32>
  %1 = graph.dropout %a, %s {p = 0.5, key = 2, offset = array<i64: 16, 0>, extents = array<i64: 32, 66>} : (tensor<16x64xf32>, tensor<8xi64>) -> tensor<16x64xf32>
  %2 = graph.dropout %a, %s {p = 0.5, key = 3, offset = array<i64: 0, 3>, extents = array<i64: 16, 128>} : (tensor<16x64xf32>, tensor<8xi64>) -> tensor<16x64xf32>
  %3 = graph.normal %s {key = 4 : i64, type = tensor<16x64xf32>} : (tensor<8xi64>) -> tensor<16x64xf32>
  %4 = graph.mul %2, %3 : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
  graph.return %0, %1, %4, %3 : tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>, tensor<16x64xf32>
}
// Lanes that are no neighbours in what is drawn: other dims, every second element, images of a batch.
graph.step @drawn_across(%a: tensor<40x36xf32>, %x: tensor<2x3x16x20xf32>, %s: tensor<8xi64>) -> (tensor<36x40xf32>, tensor<2x3x8x10xf32>) {
  %0 = graph.dropout %a, %s {p = 0.5, key = 1} : (tensor<40x36xf32>, tensor<8xi64>) -> tensor<40x36xf32>
  %1 = graph.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<40x36xf32>) -> tensor<36x40xf32>
  %2 = graph.dropout %x, %s {p = 0.3, key = 2} : (tensor<2x3x16x20xf32>, tensor<8xi64>) -> tensor<2x3x16x20xf32>
  %3:2 = graph.max_pool2d %2 {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<2x3x16x20xf32>) -> (tensor<2x3x8x10xf32>, tensor<2x3x8x10xui8>)
  graph.return %1, %3#0 : tensor<36x40xf32>, tensor<2x3x8x10xf32>
}
// A dropout between two contractions and its mask again behind them.
graph.step @dropout_twice(%a: tensor<20x30xf32>, %w: tensor<30x40xf32>, %s: tensor<8xi64>) -> (tensor<20x40xf32>, tensor<20x30xf32>) {
  %0 = graph.dropout %a, %s {p = 0.25 : f64, key = 5 : i64, channelwise = false} : (tensor<20x30xf32>, tensor<8xi64>) -> tensor<20x30xf32>
  %1 = graph.matmul %0, %w {spec = "mk,kn->mn"} : (tensor<20x30xf32>, tensor<30x40xf32>) -> tensor<20x40xf32>
  %2 = graph.matmul %1, %w {spec = "mk,nk->mn"} : (tensor<20x40xf32>, tensor<30x40xf32>) -> tensor<20x30xf32>
  %3 = graph.dropout %2, %s {p = 0.25 : f64, key = 5 : i64, channelwise = false} : (tensor<20x30xf32>, tensor<8xi64>) -> tensor<20x30xf32>
  graph.return %1, %3 : tensor<20x40xf32>, tensor<20x30xf32>
}
// Operands across the lanes: squares of 16 x 16 (8 x 8) with rests on both sides, bytes and bits,
// beside an operand along the lanes and one that is the same for all.
graph.step @squares(%a: tensor<45x70xf32>, %b: tensor<70x45xf32>, %c: tensor<70x1xf32>, %d: tensor<45x70xf32>) -> tensor<70x45xf32> {
  %0 = graph.transpose %a {permutation = array<i64: 1, 0>} : (tensor<45x70xf32>) -> tensor<70x45xf32>
  %1 = graph.transpose %d {permutation = array<i64: 1, 0>} : (tensor<45x70xf32>) -> tensor<70x45xf32>
  %2 = graph.sub %0, %b : (tensor<70x45xf32>, tensor<70x45xf32>) -> tensor<70x45xf32>
  %3 = graph.mul %2, %c : (tensor<70x45xf32>, tensor<70x1xf32>) -> tensor<70x45xf32>
  %4 = graph.add %3, %1 : (tensor<70x45xf32>, tensor<70x45xf32>) -> tensor<70x45xf32>
  graph.return %4 : tensor<70x45xf32>
}
graph.step @squares_large(%a: tensor<300x5x401xf32>) -> tensor<5x401x300xf32> {
  %0 = graph.transpose %a {permutation = array<i64: 1, 2, 0>} : (tensor<300x5x401xf32>) -> tensor<5x401x300xf32>
  %1 = graph.neg %0 : (tensor<5x401x300xf32>) -> tensor<5x401x300xf32>
  graph.return %1 : tensor<5x401x300xf32>
}
// Lanes along several dims that are walked as one run, cut into tiles: of 7 x 7 pixels a part of
// a square is left in each.
graph.step @squares_runs(%a: tensor<64x7x7x40xf32>, %b: tensor<40x64x7x7xf32>) -> tensor<40x64x7x7xf32> {
  %0 = graph.transpose %a {permutation = array<i64: 3, 0, 1, 2>} : (tensor<64x7x7x40xf32>) -> tensor<40x64x7x7xf32>
  %1 = graph.mul %0, %b : (tensor<40x64x7x7xf32>, tensor<40x64x7x7xf32>) -> tensor<40x64x7x7xf32>
  graph.return %1 : tensor<40x64x7x7xf32>
}
graph.step @squares_cut(%a: tensor<5x401x300xf32>) -> tensor<300x5x401xf32> {
  %0 = graph.transpose %a {permutation = array<i64: 2, 0, 1>} : (tensor<5x401x300xf32>) -> tensor<300x5x401xf32>
  graph.return %0 : tensor<300x5x401xf32>
}
graph.step @squares_runs_f64(%a: tensor<90x3x5x21xf64>) -> tensor<21x90x3x5xf64> {
  %0 = graph.transpose %a {permutation = array<i64: 3, 0, 1, 2>} : (tensor<90x3x5x21xf64>) -> tensor<21x90x3x5xf64>
  graph.return %0 : tensor<21x90x3x5xf64>
}
graph.step @squares_f64(%a: tensor<13x21xf64>) -> tensor<21x13xf64> {
  %0 = graph.transpose %a {permutation = array<i64: 1, 0>} : (tensor<13x21xf64>) -> tensor<21x13xf64>
  %1 = graph.exp %0 : (tensor<21x13xf64>) -> tensor<21x13xf64>
  graph.return %1 : tensor<21x13xf64>
}
graph.step @squares_bytes(%a: tensor<19x2x13x9xui8>) -> tensor<2x13x9x19xf32> {
  %0 = graph.transpose %a {permutation = array<i64: 1, 2, 3, 0>} : (tensor<19x2x13x9xui8>) -> tensor<2x13x9x19xui8>
  %1 = graph.cast %0 {to = f32} : (tensor<2x13x9x19xui8>) -> tensor<2x13x9x19xf32>
  graph.return %1 : tensor<2x13x9x19xf32>
}
graph.step @squares_bits(%a: tensor<33x40xf32>, %b: tensor<33x40xf32>) -> tensor<40x33xi1> {
  %0 = graph.le %a, %b : (tensor<33x40xf32>, tensor<33x40xf32>) -> tensor<33x40xi1>
  %1 = graph.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<33x40xi1>) -> tensor<40x33xi1>
  graph.return %1 : tensor<40x33xi1>
}
// With zeros, or another number, around, between which an operand lies across the lanes.
graph.step @squares_padded(%a: tensor<3x45x30xf32>, %b: tensor<4x33x48xf32>) -> tensor<4x33x48xf32> {
  %0 = graph.transpose %a {permutation = array<i64: 0, 2, 1>} : (tensor<3x45x30xf32>) -> tensor<3x30x45xf32>
  %1 = graph.exp %0 : (tensor<3x30x45xf32>) -> tensor<3x30x45xf32>
  %2 = graph.pad %1 {low = array<i64: 0, 2, 1>, high = array<i64: 1, 1, 2>, interior = array<i64: 0, 0, 0>, value = 1.5} : (tensor<3x30x45xf32>) -> tensor<4x33x48xf32>
  %3 = graph.mul %2, %b : (tensor<4x33x48xf32>, tensor<4x33x48xf32>) -> tensor<4x33x48xf32>
  graph.return %3 : tensor<4x33x48xf32>
}
graph.step @squares_padded_twice(%a: tensor<64x9x20xf32>, %b: tensor<64x9x20xf32>) -> tensor<11x22x64xf32> {
  %0 = graph.transpose %a {permutation = array<i64: 1, 2, 0>} : (tensor<64x9x20xf32>) -> tensor<9x20x64xf32>
  %1 = graph.pad %0 {low = array<i64: 1, 1, 0>, high = array<i64: 1, 1, 0>, interior = array<i64: 0, 0, 0>, value = 0.0} : (tensor<9x20x64xf32>) -> tensor<11x22x64xf32>
  %2 = graph.transpose %b {permutation = array<i64: 1, 2, 0>} : (tensor<64x9x20xf32>) -> tensor<9x20x64xf32>
  %3 = graph.pad %2 {low = array<i64: 2, 0, 0>, high = array<i64: 0, 2, 0>, interior = array<i64: 0, 0, 0>, value = 0.0} : (tensor<9x20x64xf32>) -> tensor<11x22x64xf32>
  %4 = graph.add %1, %3 : (tensor<11x22x64xf32>, tensor<11x22x64xf32>) -> tensor<11x22x64xf32>
  graph.return %4 : tensor<11x22x64xf32>
}
graph.step @squares_padded_f64(%a: tensor<13x21xf64>) -> tensor<22x16xf64> {
  %0 = graph.transpose %a {permutation = array<i64: 1, 0>} : (tensor<13x21xf64>) -> tensor<21x13xf64>
  %1 = graph.pad %0 {low = array<i64: 1, 3>, high = array<i64: 0, 0>, interior = array<i64: 0, 0>, value = 0.0} : (tensor<21x13xf64>) -> tensor<22x16xf64>
  graph.return %1 : tensor<22x16xf64>
}
// Rows of eight bytes an element would be read too far.
graph.step @squares_wide(%a: tensor<32x17xi64>) -> tensor<17x32xf32> {
  %0 = graph.transpose %a {permutation = array<i64: 1, 0>} : (tensor<32x17xi64>) -> tensor<17x32xi64>
  %1 = graph.cast %0 {to = f32} : (tensor<17x32xi64>) -> tensor<17x32xf32>
  graph.return %1 : tensor<17x32xf32>
}
// A value of interleaved parts that is returned row by row, and one computed from it that lies
// otherwise: each is stored as it lies.
graph.step @interleaved_in_two_orders(%a: tensor<16x1x3x3xf64>, %b: tensor<16x1x3x3xf64>) -> (tensor<16x1x3x6xf64>, tensor<f64>, tensor<16x1x3x6xf64>) {
  %0 = graph.pad %a {graph.orders = [array<i64: 1, 2, 3, 0>], low = array<i64: 0, 0, 0, 1>, high = array<i64: 0, 0, 0, 0>, interior = array<i64: 0, 0, 0, 1>, value = 0.0} : (tensor<16x1x3x3xf64>) -> tensor<16x1x3x6xf64>
  %1 = graph.pad %b {graph.orders = [array<i64: 1, 2, 3, 0>], low = array<i64: 0, 0, 0, 0>, high = array<i64: 0, 0, 0, 1>, interior = array<i64: 0, 0, 0, 1>, value = 0.0} : (tensor<16x1x3x3xf64>) -> tensor<16x1x3x6xf64>
  %2 = graph.add %0, %1 : (tensor<16x1x3x6xf64>, tensor<16x1x3x6xf64>) -> tensor<16x1x3x6xf64>
  %3 = graph.sigmoid %2 {graph.orders = [array<i64: 1, 2, 3, 0>]} : (tensor<16x1x3x6xf64>) -> tensor<16x1x3x6xf64>
  %4 = graph.sum %3 {dims = array<i64: 0, 1, 2, 3>, keepdim = false} : (tensor<16x1x3x6xf64>) -> tensor<f64>
  %5 = graph.mul %3, %3 : (tensor<16x1x3x6xf64>, tensor<16x1x3x6xf64>) -> tensor<16x1x3x6xf64>
  graph.return %2, %4, %5 : tensor<16x1x3x6xf64>, tensor<f64>, tensor<16x1x3x6xf64>
}
