// Elementwise chains and reductions.

graph.step @broadcast(%a: tensor<5x1x7xf32>, %b: tensor<3x1xf32>, %c: tensor<f32>) -> tensor<5x3x7xf32> {
  %0 = "graph.add"(%a, %b) : (tensor<5x1x7xf32>, tensor<3x1xf32>) -> tensor<5x3x7xf32>
  %1 = "graph.mul"(%0, %c) : (tensor<5x3x7xf32>, tensor<f32>) -> tensor<5x3x7xf32>
  %2 = "graph.tanh"(%1) : (tensor<5x3x7xf32>) -> tensor<5x3x7xf32>
  graph.return %2 : tensor<5x3x7xf32>
}
graph.step @flat(%a: tensor<40x10x24x24xf32>, %b: tensor<40x10x24x24xf32>) -> tensor<40x10x24x24xf32> {
  %0 = "graph.sub"(%a, %b) : (tensor<40x10x24x24xf32>, tensor<40x10x24x24xf32>) -> tensor<40x10x24x24xf32>
  graph.return %0 : tensor<40x10x24x24xf32>
}
graph.step @channels(%a: tensor<4x10x5x7xf32>, %b: tensor<10x1x1xf32>) -> tensor<4x10x5x7xf32> {
  %0 = "graph.sub"(%a, %b) : (tensor<4x10x5x7xf32>, tensor<10x1x1xf32>) -> tensor<4x10x5x7xf32>
  graph.return %0 : tensor<4x10x5x7xf32>
}
graph.step @transpose(%a: tensor<6x7x9xf32>) -> tensor<9x6x7xf32> {
  %0 = "graph.transpose"(%a) {permutation = array<i64: 2, 0, 1>} : (tensor<6x7x9xf32>) -> tensor<9x6x7xf32>
  %1 = "graph.exp"(%0) : (tensor<9x6x7xf32>) -> tensor<9x6x7xf32>
  graph.return %1 : tensor<9x6x7xf32>
}
graph.step @sum_rows(%a: tensor<64x50xf32>) -> tensor<64xf32> {
  %0 = "graph.sum"(%a) {dims = array<i64: 1>, keepdim = false} : (tensor<64x50xf32>) -> tensor<64xf32>
  graph.return %0 : tensor<64xf32>
}
graph.step @sum_columns(%a: tensor<64x50xf32>) -> tensor<50xf32> {
  %0 = "graph.sum"(%a) {dims = array<i64: 0>, keepdim = false} : (tensor<64x50xf32>) -> tensor<50xf32>
  graph.return %0 : tensor<50xf32>
}
graph.step @sum_channels(%a: tensor<4x10x24x24xf32>) -> tensor<10xf32> {
  %0 = "graph.sum"(%a) {dims = array<i64: 0, 2, 3>, keepdim = false} : (tensor<4x10x24x24xf32>) -> tensor<10xf32>
  graph.return %0 : tensor<10xf32>
}
graph.step @sum_all(%a: tensor<3x5x77xf64>) -> tensor<f64> {
  %0 = "graph.sum"(%a) {dims = array<i64: 0, 1, 2>, keepdim = false} : (tensor<3x5x77xf64>) -> tensor<f64>
  graph.return %0 : tensor<f64>
}
graph.step @argmax(%a: tensor<100x10xf32>) -> tensor<100xi64> {
  %0 = "graph.argmax"(%a) {dim = 1 : i64, keepdim = false} : (tensor<100x10xf32>) -> tensor<100xi64>
  graph.return %0 : tensor<100xi64>
}
graph.step @argmax_columns(%a: tensor<37x40xf32>) -> tensor<1x40xi64> {
  %0 = "graph.argmax"(%a) {dim = 0 : i64, keepdim = true} : (tensor<37x40xf32>) -> tensor<1x40xi64>
  graph.return %0 : tensor<1x40xi64>
}
graph.step @log_softmax(%a: tensor<64x10xf32>) -> tensor<64x10xf32> {
  %0 = "graph.log_softmax"(%a) {dim = 1 : i64} : (tensor<64x10xf32>) -> tensor<64x10xf32>
  graph.return %0 : tensor<64x10xf32>
}
graph.step @softmax_wide(%a: tensor<300x65xf32>) -> tensor<300x65xf32> {
  %0 = "graph.softmax"(%a) {dim = 1 : i64} : (tensor<300x65xf32>) -> tensor<300x65xf32>
  graph.return %0 : tensor<300x65xf32>
}
graph.step @nll(%a: tensor<64x6xf32>, %t: tensor<64xi64>) -> tensor<f32> {
  %0 = "graph.log_softmax"(%a) {dim = 1 : i64} : (tensor<64x6xf32>) -> tensor<64x6xf32>
  %1 = "graph.nll_loss"(%0, %t) {ignore_index = -100 : i64, reduction = "mean"} : (tensor<64x6xf32>, tensor<64xi64>) -> tensor<f32>
  graph.return %1 : tensor<f32>
}
graph.step @accuracy(%a: tensor<1000x6xf32>, %t: tensor<1000xi64>) -> tensor<f32> {
  %0 = "graph.argmax"(%a) {dim = 1 : i64, keepdim = false} : (tensor<1000x6xf32>) -> tensor<1000xi64>
  %1 = "graph.eq"(%0, %t) : (tensor<1000xi64>, tensor<1000xi64>) -> tensor<1000xi1>
  %2 = "graph.cast"(%1) {to = f32} : (tensor<1000xi1>) -> tensor<1000xf32>
  %3 = "graph.sum"(%2) {dims = array<i64: 0>, keepdim = false} : (tensor<1000xf32>) -> tensor<f32>
  graph.return %3 : tensor<f32>
}
graph.step @select_bool(%a: tensor<33xf32>, %b: tensor<33xf32>) -> (tensor<33xi1>, tensor<33xf32>) {
  %0 = "graph.lt"(%a, %b) : (tensor<33xf32>, tensor<33xf32>) -> tensor<33xi1>
  %1 = "graph.select"(%0, %a, %b) : (tensor<33xi1>, tensor<33xf32>, tensor<33xf32>) -> tensor<33xf32>
  graph.return %0, %1 : tensor<33xi1>, tensor<33xf32>
}
graph.step @dropout(%a: tensor<64x50xf32>, %s: tensor<8xi64>) -> tensor<64x50xf32> {
  %0 = "graph.dropout"(%a, %s) {p = 0.5 : f64, key = 1234567890123 : i64, channelwise = false} : (tensor<64x50xf32>, tensor<8xi64>) -> tensor<64x50xf32>
  graph.return %0 : tensor<64x50xf32>
}
graph.step @dropout2d(%a: tensor<4x20x8x8xf32>, %s: tensor<8xi64>) -> tensor<4x20x8x8xf32> {
  %0 = "graph.dropout"(%a, %s) {p = 0.3 : f64, key = 99 : i64, channelwise = true} : (tensor<4x20x8x8xf32>, tensor<8xi64>) -> tensor<4x20x8x8xf32>
  graph.return %0 : tensor<4x20x8x8xf32>
}
graph.step @scalar(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %0 = "graph.mul"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  graph.return %0 : tensor<f32>
}
graph.step @mean_variance(%a: tensor<500x33xf32>) -> tensor<500x33xf32> {
  %0 = "graph.sum"(%a) {dims = array<i64: 1>, keepdim = true} : (tensor<500x33xf32>) -> tensor<500x1xf32>
  %n = "graph.full"() {value = 33.0 : f64, type = tensor<f32>} : () -> tensor<f32>
  %1 = "graph.div"(%0, %n) : (tensor<500x1xf32>, tensor<f32>) -> tensor<500x1xf32>
  %2 = "graph.sub"(%a, %1) : (tensor<500x33xf32>, tensor<500x1xf32>) -> tensor<500x33xf32>
  %3 = "graph.mul"(%2, %2) : (tensor<500x33xf32>, tensor<500x33xf32>) -> tensor<500x33xf32>
  %4 = "graph.sum"(%3) {dims = array<i64: 1>, keepdim = true} : (tensor<500x33xf32>) -> tensor<500x1xf32>
  %5 = "graph.div"(%2, %4) : (tensor<500x33xf32>, tensor<500x1xf32>) -> tensor<500x33xf32>
  graph.return %5 : tensor<500x33xf32>
}
// Padding whose last lanes lie in the upper half of a vector with a masked store.
graph.step @pad_tail(%x: tensor<5x4x1x22xf32>) -> tensor<5x4x7x26xf32> {
  %0 = "graph.pad"(%x) {low = array<i64: 0, 0, 2, 2>, high = array<i64: 0, 0, 4, 2>, interior = array<i64: 0, 0, 2, 0>, value = 0.0 : f64} : (tensor<5x4x1x22xf32>) -> tensor<5x4x7x26xf32>
  graph.return %0 : tensor<5x4x7x26xf32>
}
// Arguments lie in [-1, 1], so this runs from the pole to log(2).
graph.step @log1p(%a: tensor<37x29xf32>) -> tensor<37x29xf32> {
  %0 = "graph.log1p"(%a) : (tensor<37x29xf32>) -> tensor<37x29xf32>
  graph.return %0 : tensor<37x29xf32>
}
// Relative errors near 0, where log(1 + x) keeps one digit in f32 and seven in f64.
graph.step @log1p_near_zero(%a: tensor<37x29xf32>) -> tensor<37x29xf32> {
  %e = "graph.full"() {value = 1.0e-6 : f64, type = tensor<f32>} : () -> tensor<f32>
  %0 = "graph.mul"(%a, %e) : (tensor<37x29xf32>, tensor<f32>) -> tensor<37x29xf32>
  %1 = "graph.log1p"(%0) : (tensor<37x29xf32>) -> tensor<37x29xf32>
  %2 = "graph.div"(%1, %e) : (tensor<37x29xf32>, tensor<f32>) -> tensor<37x29xf32>
  graph.return %2 : tensor<37x29xf32>
}
graph.step @log1p_near_zero_f64(%a: tensor<7x29xf64>) -> tensor<7x29xf64> {
  %e = "graph.full"() {value = 1.0e-9 : f64, type = tensor<f64>} : () -> tensor<f64>
  %0 = "graph.mul"(%a, %e) : (tensor<7x29xf64>, tensor<f64>) -> tensor<7x29xf64>
  %1 = "graph.log1p"(%0) : (tensor<7x29xf64>) -> tensor<7x29xf64>
  %2 = "graph.div"(%1, %e) : (tensor<7x29xf64>, tensor<f64>) -> tensor<7x29xf64>
  graph.return %2 : tensor<7x29xf64>
}
// What has no quotient: infinities and NaN for x < -1, huge numbers, the pole, zeros with their signs.
graph.step @log1p_limits(%a: tensor<67xf32>) -> (tensor<67xf32>, tensor<67xf32>, tensor<67xf32>, tensor<67xf32>) {
  %zero = "graph.full"() {value = 0.0 : f64, type = tensor<f32>} : () -> tensor<f32>
  %one = "graph.full"() {value = 1.0 : f64, type = tensor<f32>} : () -> tensor<f32>
  %huge = "graph.full"() {value = 3.0e38 : f64, type = tensor<f32>} : () -> tensor<f32>
  %0 = "graph.div"(%a, %zero) : (tensor<67xf32>, tensor<f32>) -> tensor<67xf32>
  %infinities = "graph.log1p"(%0) : (tensor<67xf32>) -> tensor<67xf32>
  %1 = "graph.mul"(%a, %huge) : (tensor<67xf32>, tensor<f32>) -> tensor<67xf32>
  %large = "graph.log1p"(%1) : (tensor<67xf32>) -> tensor<67xf32>
  %2 = "graph.mul"(%a, %zero) : (tensor<67xf32>, tensor<f32>) -> tensor<67xf32>
  %3 = "graph.sub"(%2, %one) : (tensor<67xf32>, tensor<f32>) -> tensor<67xf32>
  %pole = "graph.log1p"(%3) : (tensor<67xf32>) -> tensor<67xf32>
  %4 = "graph.log1p"(%2) : (tensor<67xf32>) -> tensor<67xf32>
  %signs = "graph.div"(%one, %4) : (tensor<f32>, tensor<67xf32>) -> tensor<67xf32>
  graph.return %infinities, %large, %pole, %signs : tensor<67xf32>, tensor<67xf32>, tensor<67xf32>, tensor<67xf32>
}
// Two results of one pass, the second computed from the first: momentum and weight.
graph.step @one_after_the_other(%v: tensor<37x29xf32>, %g: tensor<37x29xf32>, %w: tensor<37x29xf32>) -> (tensor<37x29xf32>, tensor<37x29xf32>) {
  %0 = graph.add %v, %g : (tensor<37x29xf32>, tensor<37x29xf32>) -> tensor<37x29xf32>
  %1 = graph.sub %w, %0 : (tensor<37x29xf32>, tensor<37x29xf32>) -> tensor<37x29xf32>
  graph.return %0, %1 : tensor<37x29xf32>, tensor<37x29xf32>
}
// What follows a sum along the lanes.
graph.step @behind_a_sum(%x: tensor<23x700xf32>, %y: tensor<23xf32>) -> (tensor<23xf32>, tensor<23xi1>) {
  %0 = graph.sum %x {dims = array<i64: 1>} : (tensor<23x700xf32>) -> tensor<23xf32>
  %1 = graph.add %0, %y : (tensor<23xf32>, tensor<23xf32>) -> tensor<23xf32>
  %2 = graph.le %1, %y : (tensor<23xf32>, tensor<23xf32>) -> tensor<23xi1>
  graph.return %1, %2 : tensor<23xf32>, tensor<23xi1>
}
// Results that have nothing in common but their points: one pass.
graph.step @beside(%v: tensor<37x29xf32>, %g: tensor<37x29xf32>, %w: tensor<37x29xf32>) -> (tensor<37x29xf32>, tensor<37x29xf32>, tensor<37x29xf32>) {
  %0 = graph.mul %g, %g : (tensor<37x29xf32>, tensor<37x29xf32>) -> tensor<37x29xf32>
  %1 = graph.add %v, %g : (tensor<37x29xf32>, tensor<37x29xf32>) -> tensor<37x29xf32>
  %2 = graph.sub %w, %w : (tensor<37x29xf32>, tensor<37x29xf32>) -> tensor<37x29xf32>
  %3 = graph.add %0, %2 : (tensor<37x29xf32>, tensor<37x29xf32>) -> tensor<37x29xf32>
  graph.return %3, %1, %0 : tensor<37x29xf32>, tensor<37x29xf32>, tensor<37x29xf32>
}

// Long columns are summed several vectors of a row at a time; the last tile of 128 columns has 76: one
// such row and a part of a vector.
graph.step @long_columns(%x: tensor<300x1100xf32>) -> tensor<1100xf32> {
  %0 = graph.sum %x {dims = array<i64: 0>} : (tensor<300x1100xf32>) -> tensor<1100xf32>
  graph.return %0 : tensor<1100xf32>
}

graph.step @long_columns_with_followers(%x: tensor<8x40x1112xf32>, %b: tensor<1112xf32>) -> (tensor<1112xf32>, tensor<1112xf32>) {
  %0 = graph.sum %x {dims = array<i64: 0, 1>} : (tensor<8x40x1112xf32>) -> tensor<1112xf32>
  %1 = graph.mul %0, %b : (tensor<1112xf32>, tensor<1112xf32>) -> tensor<1112xf32>
  %2 = graph.sub %1, %0 : (tensor<1112xf32>, tensor<1112xf32>) -> tensor<1112xf32>
  graph.return %1, %2 : tensor<1112xf32>, tensor<1112xf32>
}

graph.step @long_columns_beside(%x: tensor<270x570xf64>, %y: tensor<270x570xf64>) -> (tensor<570xf64>, tensor<570xf64>) {
  %0 = graph.sum %x {dims = array<i64: 0>} : (tensor<270x570xf64>) -> tensor<570xf64>
  %1 = graph.mul %x, %y : (tensor<270x570xf64>, tensor<270x570xf64>) -> tensor<270x570xf64>
  %2 = graph.sum %1 {dims = array<i64: 0>} : (tensor<270x570xf64>) -> tensor<570xf64>
  graph.return %0, %2 : tensor<570xf64>, tensor<570xf64>
}

graph.step @long_columns_of_batches(%x: tensor<3x260x1100xf32>) -> tensor<3x1100xf32> {
  %0 = graph.sum %x {dims = array<i64: 1>} : (tensor<3x260x1100xf32>) -> tensor<3x1100xf32>
  graph.return %0 : tensor<3x1100xf32>
}
// The same where the guard is one for all lanes, and half of a vector is left: for AVX-512 LLVM 22 read what is masked off.
graph.step @pad_half(%x: tensor<8x8x11x24xf32>) -> tensor<8x16x17x24xf32> {
  %0 = graph.pad %x {high = array<i64: 0, 4, 3, 0>, interior = array<i64: 0, 0, 0, 0>, low = array<i64: 0, 4, 3, 0>, value = 0.0 : f64} : (tensor<8x8x11x24xf32>) -> tensor<8x16x17x24xf32>
  graph.return %0 : tensor<8x16x17x24xf32>
}
graph.step @pad_half_turned(%x: tensor<8x11x8x24xf32>) -> tensor<8x16x17x24xf32> {
  %0 = graph.transpose %x {permutation = array<i64: 0, 2, 1, 3>} : (tensor<8x11x8x24xf32>) -> tensor<8x8x11x24xf32>
  %1 = graph.pad %0 {high = array<i64: 0, 4, 3, 0>, interior = array<i64: 0, 0, 0, 0>, low = array<i64: 0, 4, 3, 0>, value = 0.0 : f64} : (tensor<8x8x11x24xf32>) -> tensor<8x16x17x24xf32>
  graph.return %1 : tensor<8x16x17x24xf32>
}
// Below the padding's guard: a number for each channel, which is there wherever images are, and one for each row, which is not.
graph.step @padded_with_numbers(%x: tensor<32x5x3x4xf32>, %c: tensor<1x5x1x1xf32>, %r: tensor<1x1x3x1xf32>) -> (tensor<32x5x5x6xf32>, tensor<32x5x5x6xf32>) {
  %0 = graph.mul %x, %c : (tensor<32x5x3x4xf32>, tensor<1x5x1x1xf32>) -> tensor<32x5x3x4xf32>
  %1 = graph.pad %0 {low = array<i64: 0, 0, 1, 1>, high = array<i64: 0, 0, 1, 1>, interior = array<i64: 0, 0, 0, 0>, value = 0.0 : f64} : (tensor<32x5x3x4xf32>) -> tensor<32x5x5x6xf32>
  %2 = graph.add %x, %r : (tensor<32x5x3x4xf32>, tensor<1x1x3x1xf32>) -> tensor<32x5x3x4xf32>
  %3 = graph.pad %2 {low = array<i64: 0, 0, 1, 1>, high = array<i64: 0, 0, 1, 1>, interior = array<i64: 0, 0, 0, 0>, value = 0.0 : f64} : (tensor<32x5x3x4xf32>) -> tensor<32x5x5x6xf32>
  graph.return %1, %3 : tensor<32x5x5x6xf32>, tensor<32x5x5x6xf32>
}
