// Reductions: every position of the reduced dims, ties, chains that read each other's results.

graph.step @sum_one(%a: tensor<1xf32>) -> tensor<f32> {
  %0 = graph.sum %a {dims = array<i64: 0>, keepdim = false} : (tensor<1xf32>) -> tensor<f32>
  graph.return %0 : tensor<f32>
}
graph.step @sum_rank_0(%a: tensor<f32>) -> tensor<f32> {
  %0 = graph.sum %a {dims = array<i64>, keepdim = false} : (tensor<f32>) -> tensor<f32>
  graph.return %0 : tensor<f32>
}
graph.step @sum_of_ones(%a: tensor<5x1x7x1xf32>) -> tensor<5x7xf32> {
  %0 = graph.sum %a {dims = array<i64: 1, 3>, keepdim = false} : (tensor<5x1x7x1xf32>) -> tensor<5x7xf32>
  graph.return %0 : tensor<5x7xf32>
}
graph.step @sum_prime(%a: tensor<100003xf32>) -> tensor<1xf32> {
  %0 = graph.sum %a {dims = array<i64: 0>, keepdim = true} : (tensor<100003xf32>) -> tensor<1xf32>
  graph.return %0 : tensor<1xf32>
}
graph.step @sum_outer_and_inner(%a: tensor<7x11x13xf32>) -> tensor<11xf32> {
  %0 = graph.sum %a {dims = array<i64: 0, 2>, keepdim = false} : (tensor<7x11x13xf32>) -> tensor<11xf32>
  graph.return %0 : tensor<11xf32>
}
graph.step @sum_middle(%a: tensor<7x40x13xf64>) -> tensor<7x1x13xf64> {
  %0 = graph.sum %a {dims = array<i64: 1>, keepdim = true} : (tensor<7x40x13xf64>) -> tensor<7x1x13xf64>
  graph.return %0 : tensor<7x1x13xf64>
}
// Few results of many rows: the gradient of a bias.
graph.step @sum_many_rows(%a: tensor<5000x3xf32>) -> tensor<3xf32> {
  %0 = graph.sum %a {dims = array<i64: 0>, keepdim = false} : (tensor<5000x3xf32>) -> tensor<3xf32>
  graph.return %0 : tensor<3xf32>
}
graph.step @sum_many_columns(%a: tensor<3x5000xf32>) -> tensor<5000xf32> {
  %0 = graph.sum %a {dims = array<i64: 0>, keepdim = false} : (tensor<3x5000xf32>) -> tensor<5000xf32>
  graph.return %0 : tensor<5000xf32>
}
graph.step @sum_i64(%a: tensor<37x29xi64>) -> (tensor<37xi64>, tensor<29xi64>) {
  %0 = graph.sum %a {dims = array<i64: 1>, keepdim = false} : (tensor<37x29xi64>) -> tensor<37xi64>
  %1 = graph.sum %a {dims = array<i64: 0>, keepdim = false} : (tensor<37x29xi64>) -> tensor<29xi64>
  graph.return %0, %1 : tensor<37xi64>, tensor<29xi64>
}
graph.step @sum_i32(%a: tensor<1031xi32>) -> tensor<i32> {
  %0 = graph.sum %a {dims = array<i64: 0>, keepdim = false} : (tensor<1031xi32>) -> tensor<i32>
  graph.return %0 : tensor<i32>
}
graph.step @sum_transposed(%a: tensor<50x70xf32>) -> tensor<70xf32> {
  %0 = graph.transpose %a {permutation = array<i64: 1, 0>} : (tensor<50x70xf32>) -> tensor<70x50xf32>
  %1 = graph.sum %0 {dims = array<i64: 1>, keepdim = false} : (tensor<70x50xf32>) -> tensor<70xf32>
  graph.return %1 : tensor<70xf32>
}
graph.step @sum_expanded(%a: tensor<5x1xf32>) -> tensor<5xf32> {
  %0 = graph.expand %a {shape = array<i64: 5, 300>} : (tensor<5x1xf32>) -> tensor<5x300xf32>
  %1 = graph.sum %0 {dims = array<i64: 1>, keepdim = false} : (tensor<5x300xf32>) -> tensor<5xf32>
  graph.return %1 : tensor<5xf32>
}
graph.step @sum_padded(%a: tensor<9x40xf32>) -> tensor<9xf32> {
  %0 = graph.pad %a {low = array<i64: 0, 3>, high = array<i64: 0, 2>, interior = array<i64: 0, 1>, value = 1.5 : f64} : (tensor<9x40xf32>) -> tensor<9x84xf32>
  %1 = graph.sum %0 {dims = array<i64: 1>, keepdim = false} : (tensor<9x84xf32>) -> tensor<9xf32>
  graph.return %1 : tensor<9xf32>
}
graph.step @amax_all(%a: tensor<13x17x5xf32>) -> tensor<1x1x1xf32> {
  %0 = graph.amax %a {dims = array<i64: 0, 1, 2>, keepdim = true} : (tensor<13x17x5xf32>) -> tensor<1x1x1xf32>
  graph.return %0 : tensor<1x1x1xf32>
}
graph.step @amax_columns(%a: tensor<130x17xf64>) -> tensor<17xf64> {
  %0 = graph.amax %a {dims = array<i64: 0>, keepdim = false} : (tensor<130x17xf64>) -> tensor<17xf64>
  graph.return %0 : tensor<17xf64>
}
// Numbers from 0 to 5: each row has the maximum many times, the first one counts.
graph.step @max_ties_rows(%a: tensor<31x67xi64>) -> (tensor<31xi64>, tensor<31xi64>) {
  %0:2 = graph.max %a {dim = 1 : i64, keepdim = false} : (tensor<31x67xi64>) -> (tensor<31xi64>, tensor<31xi64>)
  graph.return %0#0, %0#1 : tensor<31xi64>, tensor<31xi64>
}
graph.step @max_ties_columns(%a: tensor<31x67xi32>) -> (tensor<1x67xi32>, tensor<1x67xi64>) {
  %0:2 = graph.max %a {dim = 0 : i64, keepdim = true} : (tensor<31x67xi32>) -> (tensor<1x67xi32>, tensor<1x67xi64>)
  graph.return %0#0, %0#1 : tensor<1x67xi32>, tensor<1x67xi64>
}
graph.step @max_ties_floats(%a: tensor<29x200xi32>) -> (tensor<29xf32>, tensor<29xi64>) {
  %0 = graph.cast %a {to = f32} : (tensor<29x200xi32>) -> tensor<29x200xf32>
  %1:2 = graph.max %0 {dim = 1 : i64, keepdim = false} : (tensor<29x200xf32>) -> (tensor<29xf32>, tensor<29xi64>)
  graph.return %1#0, %1#1 : tensor<29xf32>, tensor<29xi64>
}
graph.step @max_middle(%a: tensor<5x70x6xf32>) -> (tensor<5x6xf32>, tensor<5x6xi64>) {
  %0:2 = graph.max %a {dim = 1 : i64, keepdim = false} : (tensor<5x70x6xf32>) -> (tensor<5x6xf32>, tensor<5x6xi64>)
  graph.return %0#0, %0#1 : tensor<5x6xf32>, tensor<5x6xi64>
}
graph.step @max_values_only(%a: tensor<40x23xf32>) -> tensor<40xf32> {
  %0:2 = graph.max %a {dim = 1 : i64, keepdim = false} : (tensor<40x23xf32>) -> (tensor<40xf32>, tensor<40xi64>)
  %1 = graph.exp %0#0 : (tensor<40xf32>) -> tensor<40xf32>
  graph.return %1 : tensor<40xf32>
}
graph.step @argmax_equal(%s: tensor<1x1xf32>) -> tensor<33xi64> {
  %0 = graph.expand %s {shape = array<i64: 33, 100>} : (tensor<1x1xf32>) -> tensor<33x100xf32>
  %1 = graph.argmax %0 {dim = 1 : i64, keepdim = false} : (tensor<33x100xf32>) -> tensor<33xi64>
  graph.return %1 : tensor<33xi64>
}
graph.step @argmax_one(%a: tensor<33x1xf32>) -> tensor<33xi64> {
  %0 = graph.argmax %a {dim = 1 : i64, keepdim = false} : (tensor<33x1xf32>) -> tensor<33xi64>
  graph.return %0 : tensor<33xi64>
}
graph.step @argmax_infinities(%a: tensor<33x50xf32>) -> tensor<33xi64> {
  %z = graph.full {value = 0.0 : f64, type = tensor<f32>} : () -> tensor<f32>
  %one = graph.full {value = 1.0 : f64, type = tensor<f32>} : () -> tensor<f32>
  %0 = graph.abs %a : (tensor<33x50xf32>) -> tensor<33x50xf32>
  %1 = graph.neg %0 : (tensor<33x50xf32>) -> tensor<33x50xf32>
  %2 = graph.div %1, %z : (tensor<33x50xf32>, tensor<f32>) -> tensor<33x50xf32>
  %3 = graph.argmax %2 {dim = 1 : i64, keepdim = false} : (tensor<33x50xf32>) -> tensor<33xi64>
  graph.return %3 : tensor<33xi64>
}
graph.step @softmax_columns(%a: tensor<37x50xf32>) -> tensor<37x50xf32> {
  %0 = graph.softmax %a {dim = 0 : i64} : (tensor<37x50xf32>) -> tensor<37x50xf32>
  graph.return %0 : tensor<37x50xf32>
}
graph.step @softmax_middle(%a: tensor<6x37x50xf32>) -> tensor<6x37x50xf32> {
  %0 = graph.softmax %a {dim = 1 : i64} : (tensor<6x37x50xf32>) -> tensor<6x37x50xf32>
  graph.return %0 : tensor<6x37x50xf32>
}
graph.step @softmax_3d(%a: tensor<6x19x33xf64>) -> tensor<6x19x33xf64> {
  %0 = graph.softmax %a {dim = 2 : i64} : (tensor<6x19x33xf64>) -> tensor<6x19x33xf64>
  graph.return %0 : tensor<6x19x33xf64>
}
graph.step @softmax_of_one(%a: tensor<40x1xf32>) -> tensor<40x1xf32> {
  %0 = graph.softmax %a {dim = 1 : i64} : (tensor<40x1xf32>) -> tensor<40x1xf32>
  graph.return %0 : tensor<40x1xf32>
}
graph.step @log_softmax_tiles(%a: tensor<3000x100xf32>) -> (tensor<3000x100xf32>, tensor<3000xf32>) {
  %0 = graph.log_softmax %a {dim = 1 : i64} : (tensor<3000x100xf32>) -> tensor<3000x100xf32>
  %1 = graph.sum %0 {dims = array<i64: 1>, keepdim = false} : (tensor<3000x100xf32>) -> tensor<3000xf32>
  graph.return %0, %1 : tensor<3000x100xf32>, tensor<3000xf32>
}
graph.step @log_softmax_columns_tiles(%a: tensor<100x3000xf32>) -> tensor<100x3000xf32> {
  %0 = graph.log_softmax %a {dim = 0 : i64} : (tensor<100x3000xf32>) -> tensor<100x3000xf32>
  graph.return %0 : tensor<100x3000xf32>
}
// Rows that are too long for a GPU's shared memory: exponentials wait where the quotients will be stored,
// whatever else is made of both there,
graph.step @long_rows_read_twice(%a: tensor<40x12400xf32>) -> (tensor<40x12400xf32>, tensor<40x12400xf32>) {
  %0 = graph.exp %a : (tensor<40x12400xf32>) -> tensor<40x12400xf32>
  %1 = graph.sum %0 {dims = array<i64: 1>, keepdim = true} : (tensor<40x12400xf32>) -> tensor<40x1xf32>
  %2 = graph.div %0, %1 : (tensor<40x12400xf32>, tensor<40x1xf32>) -> tensor<40x12400xf32>
  %3 = graph.sub %0, %2 : (tensor<40x12400xf32>, tensor<40x12400xf32>) -> tensor<40x12400xf32>
  graph.return %2, %3 : tensor<40x12400xf32>, tensor<40x12400xf32>
}
// and not where a sum reads them last;
graph.step @long_rows_added_up_last(%a: tensor<40x12400xf32>) -> (tensor<40x12400xf32>, tensor<40xf32>) {
  %0 = graph.exp %a : (tensor<40x12400xf32>) -> tensor<40x12400xf32>
  %1 = graph.sum %0 {dims = array<i64: 1>, keepdim = true} : (tensor<40x12400xf32>) -> tensor<40x1xf32>
  %2 = graph.div %0, %1 : (tensor<40x12400xf32>, tensor<40x1xf32>) -> tensor<40x12400xf32>
  %3 = graph.mul %0, %2 : (tensor<40x12400xf32>, tensor<40x12400xf32>) -> tensor<40x12400xf32>
  %4 = graph.sum %3 {dims = array<i64: 1>, keepdim = false} : (tensor<40x12400xf32>) -> tensor<40xf32>
  graph.return %2, %4 : tensor<40x12400xf32>, tensor<40xf32>
}
// in the result that is stored there, which may be another than the first.
graph.step @long_rows_read_later(%a: tensor<40x12400xf32>) -> (tensor<40x12400xf32>, tensor<40x12400xf32>) {
  %0 = graph.exp %a : (tensor<40x12400xf32>) -> tensor<40x12400xf32>
  %1 = graph.sum %0 {dims = array<i64: 1>, keepdim = true} : (tensor<40x12400xf32>) -> tensor<40x1xf32>
  %2 = graph.div %0, %1 : (tensor<40x12400xf32>, tensor<40x1xf32>) -> tensor<40x12400xf32>
  %3 = graph.amax %2 {dims = array<i64: 1>, keepdim = true} : (tensor<40x12400xf32>) -> tensor<40x1xf32>
  %4 = graph.sub %0, %3 : (tensor<40x12400xf32>, tensor<40x1xf32>) -> tensor<40x12400xf32>
  graph.return %2, %4 : tensor<40x12400xf32>, tensor<40x12400xf32>
}
// A scalar between two passes over everything.
graph.step @normalised(%a: tensor<70x90xf32>) -> tensor<70x90xf32> {
  %0 = graph.mul %a, %a : (tensor<70x90xf32>, tensor<70x90xf32>) -> tensor<70x90xf32>
  %1 = graph.sum %0 {dims = array<i64: 0, 1>, keepdim = false} : (tensor<70x90xf32>) -> tensor<f32>
  %2 = graph.sqrt %1 : (tensor<f32>) -> tensor<f32>
  %3 = graph.div %a, %2 : (tensor<70x90xf32>, tensor<f32>) -> tensor<70x90xf32>
  graph.return %3 : tensor<70x90xf32>
}
graph.step @normalised_tiles(%a: tensor<300x700xf32>) -> (tensor<300x700xf32>, tensor<f32>) {
  %0 = graph.abs %a : (tensor<300x700xf32>) -> tensor<300x700xf32>
  %1 = graph.amax %0 {dims = array<i64: 0, 1>, keepdim = false} : (tensor<300x700xf32>) -> tensor<f32>
  %2 = graph.div %a, %1 : (tensor<300x700xf32>, tensor<f32>) -> tensor<300x700xf32>
  graph.return %2, %1 : tensor<300x700xf32>, tensor<f32>
}
graph.step @rows_then_columns(%a: tensor<40x60xf32>) -> (tensor<60xf32>, tensor<f32>) {
  %0 = graph.sum %a {dims = array<i64: 1>, keepdim = true} : (tensor<40x60xf32>) -> tensor<40x1xf32>
  %1 = graph.mul %a, %0 : (tensor<40x60xf32>, tensor<40x1xf32>) -> tensor<40x60xf32>
  %2 = graph.sum %1 {dims = array<i64: 0>, keepdim = false} : (tensor<40x60xf32>) -> tensor<60xf32>
  %3 = graph.amax %2 {dims = array<i64: 0>, keepdim = false} : (tensor<60xf32>) -> tensor<f32>
  graph.return %2, %3 : tensor<60xf32>, tensor<f32>
}
// Batch normalisation of images, by channel.
graph.step @channel_statistics(%a: tensor<4x6x9x11xf32>, %g: tensor<6x1x1xf32>) -> (tensor<4x6x9x11xf32>, tensor<1x6x1x1xf32>) {
  %n = graph.full {value = 396.0 : f64, type = tensor<f32>} : () -> tensor<f32>
  %e = graph.full {value = 1.0e-5 : f64, type = tensor<f32>} : () -> tensor<f32>
  %0 = graph.sum %a {dims = array<i64: 0, 2, 3>, keepdim = true} : (tensor<4x6x9x11xf32>) -> tensor<1x6x1x1xf32>
  %1 = graph.div %0, %n : (tensor<1x6x1x1xf32>, tensor<f32>) -> tensor<1x6x1x1xf32>
  %2 = graph.sub %a, %1 : (tensor<4x6x9x11xf32>, tensor<1x6x1x1xf32>) -> tensor<4x6x9x11xf32>
  %3 = graph.mul %2, %2 : (tensor<4x6x9x11xf32>, tensor<4x6x9x11xf32>) -> tensor<4x6x9x11xf32>
  %4 = graph.sum %3 {dims = array<i64: 0, 2, 3>, keepdim = true} : (tensor<4x6x9x11xf32>) -> tensor<1x6x1x1xf32>
  %5 = graph.div %4, %n : (tensor<1x6x1x1xf32>, tensor<f32>) -> tensor<1x6x1x1xf32>
  %6 = graph.add %5, %e : (tensor<1x6x1x1xf32>, tensor<f32>) -> tensor<1x6x1x1xf32>
  %7 = graph.rsqrt %6 : (tensor<1x6x1x1xf32>) -> tensor<1x6x1x1xf32>
  %8 = graph.mul %2, %7 : (tensor<4x6x9x11xf32>, tensor<1x6x1x1xf32>) -> tensor<4x6x9x11xf32>
  %9 = graph.mul %8, %g : (tensor<4x6x9x11xf32>, tensor<6x1x1xf32>) -> tensor<4x6x9x11xf32>
  graph.return %9, %5 : tensor<4x6x9x11xf32>, tensor<1x6x1x1xf32>
}
graph.step @nll_images(%a: tensor<3x5x7x9xf32>, %t: tensor<3x7x9xi64>) -> tensor<3x7x9xf32> {
  %five = graph.full {value = 5.0 : f64, type = tensor<i64>} : () -> tensor<i64>
  %0 = graph.log_softmax %a {dim = 1 : i64} : (tensor<3x5x7x9xf32>) -> tensor<3x5x7x9xf32>
  %1 = graph.nll_loss %0, %t {ignore_index = 5 : i64, reduction = "none"} : (tensor<3x5x7x9xf32>, tensor<3x7x9xi64>) -> tensor<3x7x9xf32>
  graph.return %1 : tensor<3x7x9xf32>
}
graph.step @index_check(%t: tensor<1009xi64>) -> (tensor<i32>, tensor<i32>, tensor<i32>) {
  %0 = graph.index_check %t {bound = 6 : i64, ignore_index = -100 : i64} : (tensor<1009xi64>) -> tensor<i32>
  %1 = graph.index_check %t {bound = 5 : i64, ignore_index = -100 : i64} : (tensor<1009xi64>) -> tensor<i32>
  %2 = graph.index_check %t {bound = 5 : i64, ignore_index = 5 : i64} : (tensor<1009xi64>) -> tensor<i32>
  graph.return %0, %1, %2 : tensor<i32>, tensor<i32>, tensor<i32>
}
graph.step @any_and_all(%a: tensor<40x33xi1>) -> (tensor<40xi1>, tensor<f32>) {
  %0 = graph.cast %a {to = i64} : (tensor<40x33xi1>) -> tensor<40x33xi64>
  %1 = graph.amax %0 {dims = array<i64: 1>, keepdim = false} : (tensor<40x33xi64>) -> tensor<40xi64>
  %2 = graph.cast %1 {to = i1} : (tensor<40xi64>) -> tensor<40xi1>
  %3 = graph.cast %a {to = f32} : (tensor<40x33xi1>) -> tensor<40x33xf32>
  %4 = graph.sum %3 {dims = array<i64: 0, 1>, keepdim = false} : (tensor<40x33xf32>) -> tensor<f32>
  graph.return %2, %4 : tensor<40xi1>, tensor<f32>
}

// Sums over the same points, in one pass: along lanes, in chains and with a rest; what follows one of them.
graph.step @sums_beside(%x: tensor<3x5x1123xf32>, %y: tensor<3x5x1123xf32>, %m: tensor<5x1xf32>) -> (tensor<5xf32>, tensor<5xf32>, tensor<5xf32>) {
  %e = graph.exp %x : (tensor<3x5x1123xf32>) -> tensor<3x5x1123xf32>
  %0 = graph.sum %e {dims = array<i64: 0, 2>} : (tensor<3x5x1123xf32>) -> tensor<5xf32>
  %1 = graph.sub %e, %m : (tensor<3x5x1123xf32>, tensor<5x1xf32>) -> tensor<3x5x1123xf32>
  %2 = graph.mul %1, %y : (tensor<3x5x1123xf32>, tensor<3x5x1123xf32>) -> tensor<3x5x1123xf32>
  %3 = graph.sum %2 {dims = array<i64: 0, 2>} : (tensor<3x5x1123xf32>) -> tensor<5xf32>
  %4 = graph.sum %1 {dims = array<i64: 0, 2>} : (tensor<3x5x1123xf32>) -> tensor<5xf32>
  %5 = graph.mul %3, %0 : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
  graph.return %0, %5, %4 : tensor<5xf32>, tensor<5xf32>, tensor<5xf32>
}
// More than are added up together, in f64, of columns.
graph.step @many_sums_beside_f64(%z: tensor<257x37xf64>, %y: tensor<257x37xf64>) -> (tensor<37xf64>, tensor<37xf64>, tensor<37xf64>, tensor<37xf64>, tensor<37xf64>) {
  %x = graph.exp %z : (tensor<257x37xf64>) -> tensor<257x37xf64>
  %0 = graph.sum %x {dims = array<i64: 0>} : (tensor<257x37xf64>) -> tensor<37xf64>
  %a = graph.mul %x, %y : (tensor<257x37xf64>, tensor<257x37xf64>) -> tensor<257x37xf64>
  %1 = graph.sum %a {dims = array<i64: 0>} : (tensor<257x37xf64>) -> tensor<37xf64>
  %b = graph.mul %x, %x : (tensor<257x37xf64>, tensor<257x37xf64>) -> tensor<257x37xf64>
  %2 = graph.sum %b {dims = array<i64: 0>} : (tensor<257x37xf64>) -> tensor<37xf64>
  %c = graph.sub %x, %y : (tensor<257x37xf64>, tensor<257x37xf64>) -> tensor<257x37xf64>
  %3 = graph.sum %c {dims = array<i64: 0>} : (tensor<257x37xf64>) -> tensor<37xf64>
  %d = graph.add %x, %y : (tensor<257x37xf64>, tensor<257x37xf64>) -> tensor<257x37xf64>
  %4 = graph.sum %d {dims = array<i64: 0>} : (tensor<257x37xf64>) -> tensor<37xf64>
  graph.return %0, %1, %2, %3, %4 : tensor<37xf64>, tensor<37xf64>, tensor<37xf64>, tensor<37xf64>, tensor<37xf64>
}
// One sum needs another one: two passes.
graph.step @sum_of_a_sum(%x: tensor<5x2048xf32>) -> (tensor<5xf32>, tensor<5xf32>) {
  %0 = graph.sum %x {dims = array<i64: 1>, keepdim = true} : (tensor<5x2048xf32>) -> tensor<5x1xf32>
  %1 = graph.mul %x, %0 : (tensor<5x2048xf32>, tensor<5x1xf32>) -> tensor<5x2048xf32>
  %2 = graph.sum %1 {dims = array<i64: 1>} : (tensor<5x2048xf32>) -> tensor<5xf32>
  %3 = graph.sum %x {dims = array<i64: 1>} : (tensor<5x2048xf32>) -> tensor<5xf32>
  graph.return %2, %3 : tensor<5xf32>, tensor<5xf32>
}
// Integers, in windows.
graph.step @integer_sums_beside(%x: tensor<9001x2x5xi64>) -> (tensor<9001xi64>, tensor<9001xi64>) {
  %y = graph.add %x, %x : (tensor<9001x2x5xi64>, tensor<9001x2x5xi64>) -> tensor<9001x2x5xi64>
  %0 = graph.sum %y {dims = array<i64: 1, 2>} : (tensor<9001x2x5xi64>) -> tensor<9001xi64>
  %1 = graph.mul %y, %x : (tensor<9001x2x5xi64>, tensor<9001x2x5xi64>) -> tensor<9001x2x5xi64>
  %2 = graph.sum %1 {dims = array<i64: 1, 2>} : (tensor<9001x2x5xi64>) -> tensor<9001xi64>
  graph.return %0, %2 : tensor<9001xi64>, tensor<9001xi64>
}
// Columns of two, of six and of seven vectors and a rest, by one sum and by two.
graph.step @columns_of_vectors(%a: tensor<300x32xf32>, %b: tensor<300x96xf32>, %c: tensor<300x117xf32>) -> (tensor<32xf32>, tensor<96xf32>, tensor<96xf32>, tensor<117xf32>, tensor<117xf32>) {
  %0 = graph.sum %a {dims = array<i64: 0>, keepdim = false} : (tensor<300x32xf32>) -> tensor<32xf32>
  %1 = graph.sum %b {dims = array<i64: 0>, keepdim = false} : (tensor<300x96xf32>) -> tensor<96xf32>
  %2 = graph.mul %b, %b : (tensor<300x96xf32>, tensor<300x96xf32>) -> tensor<300x96xf32>
  %3 = graph.sum %2 {dims = array<i64: 0>, keepdim = false} : (tensor<300x96xf32>) -> tensor<96xf32>
  %4 = graph.sum %c {dims = array<i64: 0>, keepdim = false} : (tensor<300x117xf32>) -> tensor<117xf32>
  %5 = graph.mul %c, %c : (tensor<300x117xf32>, tensor<300x117xf32>) -> tensor<300x117xf32>
  %6 = graph.sum %5 {dims = array<i64: 0>, keepdim = false} : (tensor<300x117xf32>) -> tensor<117xf32>
  graph.return %0, %1, %3, %4, %6 : tensor<32xf32>, tensor<96xf32>, tensor<96xf32>, tensor<117xf32>, tensor<117xf32>
}
// Statistics of groups of images that lie side by side, of which all elements are made: few groups, and long ones.
graph.step @groups_of_images(%x: tensor<3x700x32xf32>, %dy: tensor<3x700x32xf32>) -> tensor<3x700x32xf32> {
  %0 = graph.mul %x, %dy : (tensor<3x700x32xf32>, tensor<3x700x32xf32>) -> tensor<3x700x32xf32>
  %1 = graph.sum %0 {dims = array<i64: 1>, keepdim = true} : (tensor<3x700x32xf32>) -> tensor<3x1x32xf32>
  %2 = graph.sum %dy {dims = array<i64: 1>, keepdim = true} : (tensor<3x700x32xf32>) -> tensor<3x1x32xf32>
  %3 = graph.mul %1, %x : (tensor<3x1x32xf32>, tensor<3x700x32xf32>) -> tensor<3x700x32xf32>
  %4 = graph.add %3, %2 : (tensor<3x700x32xf32>, tensor<3x1x32xf32>) -> tensor<3x700x32xf32>
  graph.return %4 : tensor<3x700x32xf32>
}
