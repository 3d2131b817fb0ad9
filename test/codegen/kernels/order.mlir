// Running sums, recurrences, running maxima and sorting along any dim.

graph.step @cumsum_vector(%x: tensor<1003xf64>) -> tensor<1003xf64> {
  %0 = graph.cumsum %x {dim = 0 : i64, reverse = false} : (tensor<1003xf64>) -> tensor<1003xf64>
  graph.return %0 : tensor<1003xf64>
}
graph.step @cumsum_rows(%x: tensor<33x21xf32>) -> tensor<33x21xf32> {
  %0 = graph.cumsum %x {dim = 1 : i64, reverse = false} : (tensor<33x21xf32>) -> tensor<33x21xf32>
  graph.return %0 : tensor<33x21xf32>
}
graph.step @cumsum_columns(%x: tensor<33x41xf32>) -> tensor<33x41xf32> {
  %0 = graph.cumsum %x {dim = 0 : i64, reverse = true} : (tensor<33x41xf32>) -> tensor<33x41xf32>
  graph.return %0 : tensor<33x41xf32>
}
graph.step @cumsum_middle(%x: tensor<5x33x19xi64>) -> tensor<5x33x19xi64> {
  %0 = graph.cumsum %x {dim = 1 : i64, reverse = false} : (tensor<5x33x19xi64>) -> tensor<5x33x19xi64>
  graph.return %0 : tensor<5x33x19xi64>
}
graph.step @cumsum_large(%x: tensor<64x50x200xf32>) -> tensor<64x50x200xf32> {
  %0 = graph.cumsum %x {dim = 1 : i64, reverse = true} : (tensor<64x50x200xf32>) -> tensor<64x50x200xf32>
  graph.return %0 : tensor<64x50x200xf32>
}
graph.step @cumsum_of_one(%x: tensor<1xf32>) -> tensor<1xf32> {
  %0 = graph.cumsum %x {dim = 0 : i64, reverse = false} : (tensor<1xf32>) -> tensor<1xf32>
  graph.return %0 : tensor<1xf32>
}
graph.step @cumsum_fused(%x: tensor<6x40xf32>) -> (tensor<6x40xf32>, tensor<6x1xf32>) {
  %e = graph.exp %x : (tensor<6x40xf32>) -> tensor<6x40xf32>
  %0 = graph.cumsum %e {dim = 1 : i64, reverse = false} : (tensor<6x40xf32>) -> tensor<6x40xf32>
  %1 = graph.div %e, %0 : (tensor<6x40xf32>, tensor<6x40xf32>) -> tensor<6x40xf32>
  %2 = graph.sum %1 {dims = array<i64: 1>, keepdim = true} : (tensor<6x40xf32>) -> tensor<6x1xf32>
  graph.return %1, %2 : tensor<6x40xf32>, tensor<6x1xf32>
}
graph.step @cumsum_padded(%x: tensor<6x40xf32>) -> tensor<13x47xf32> {
  %p = graph.pad %x {low = array<i64: 1, 3>, high = array<i64: 1, 4>, interior = array<i64: 1, 0>, value = 1.5 : f64} : (tensor<6x40xf32>) -> tensor<13x47xf32>
  %0 = graph.cumsum %p {dim = 0 : i64, reverse = false} : (tensor<13x47xf32>) -> tensor<13x47xf32>
  graph.return %0 : tensor<13x47xf32>
}
graph.step @recurrence_vector(%a: tensor<1003xf64>, %b: tensor<1003xf64>) -> tensor<1003xf64> {
  %0 = graph.linear_recurrence %a, %b {dim = 0 : i64} : (tensor<1003xf64>, tensor<1003xf64>) -> tensor<1003xf64>
  graph.return %0 : tensor<1003xf64>
}
graph.step @recurrence_rows(%a: tensor<33x21xf32>, %b: tensor<33x21xf32>) -> tensor<33x21xf32> {
  %0 = graph.linear_recurrence %a, %b {dim = 1 : i64, reverse = true} : (tensor<33x21xf32>, tensor<33x21xf32>) -> tensor<33x21xf32>
  graph.return %0 : tensor<33x21xf32>
}
graph.step @recurrence_columns(%a: tensor<33x41xf32>, %b: tensor<33x41xf32>) -> tensor<33x41xf32> {
  %0 = graph.linear_recurrence %a, %b {dim = 0 : i64} : (tensor<33x41xf32>, tensor<33x41xf32>) -> tensor<33x41xf32>
  graph.return %0 : tensor<33x41xf32>
}
graph.step @recurrence_middle(%a: tensor<5x33x19xi64>, %b: tensor<5x33x19xi64>) -> tensor<5x33x19xi64> {
  %0 = graph.linear_recurrence %a, %b {dim = 1 : i64, reverse = true} : (tensor<5x33x19xi64>, tensor<5x33x19xi64>) -> tensor<5x33x19xi64>
  graph.return %0 : tensor<5x33x19xi64>
}
graph.step @recurrence_one(%a: tensor<1xf32>, %b: tensor<1xf32>) -> tensor<1xf32> {
  %0 = graph.linear_recurrence %a, %b {dim = 0 : i64} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  graph.return %0 : tensor<1xf32>
}
graph.step @recurrence_fused(%x: tensor<6x40xf32>, %y: tensor<6x40xf32>) -> tensor<6x40xf32> {
  %a = graph.sigmoid %x : (tensor<6x40xf32>) -> tensor<6x40xf32>
  %0 = graph.linear_recurrence %a, %y {dim = 1 : i64} : (tensor<6x40xf32>, tensor<6x40xf32>) -> tensor<6x40xf32>
  %1 = graph.tanh %0 : (tensor<6x40xf32>) -> tensor<6x40xf32>
  graph.return %1 : tensor<6x40xf32>
}
graph.step @argcummax_vector(%x: tensor<1003xf64>) -> tensor<1003xi64> {
  %0 = graph.argcummax %x {dim = 0 : i64} : (tensor<1003xf64>) -> tensor<1003xi64>
  graph.return %0 : tensor<1003xi64>
}
graph.step @argcummax_rows(%x: tensor<33x21xf32>) -> tensor<33x21xi64> {
  %0 = graph.argcummax %x {dim = 1 : i64} : (tensor<33x21xf32>) -> tensor<33x21xi64>
  graph.return %0 : tensor<33x21xi64>
}
graph.step @argcummax_columns(%x: tensor<33x41xf32>) -> tensor<33x41xi64> {
  %0 = graph.argcummax %x {dim = 0 : i64} : (tensor<33x41xf32>) -> tensor<33x41xi64>
  graph.return %0 : tensor<33x41xi64>
}
graph.step @argcummax_middle(%x: tensor<5x33x19xi64>) -> tensor<5x33x19xi64> {
  %0 = graph.argcummax %x {dim = 1 : i64} : (tensor<5x33x19xi64>) -> tensor<5x33x19xi64>
  graph.return %0 : tensor<5x33x19xi64>
}
graph.step @argcummax_ints(%x: tensor<7x90xi32>) -> tensor<7x90xi64> {
  %0 = graph.argcummax %x {dim = 1 : i64} : (tensor<7x90xi32>) -> tensor<7x90xi64>
  graph.return %0 : tensor<7x90xi64>
}
// Equal values, and numbers that are none.
graph.step @argcummax_ties(%x: tensor<9x33xf32>) -> tensor<9x33xi64> {
  %f = graph.floor %x : (tensor<9x33xf32>) -> tensor<9x33xf32>
  %0 = graph.argcummax %f {dim = 1 : i64} : (tensor<9x33xf32>) -> tensor<9x33xi64>
  graph.return %0 : tensor<9x33xi64>
}
graph.step @argcummax_nan(%x: tensor<9x33xf32>) -> tensor<9x33xi64> {
  %l = graph.log %x : (tensor<9x33xf32>) -> tensor<9x33xf32>
  %0 = graph.argcummax %l {dim = 0 : i64} : (tensor<9x33xf32>) -> tensor<9x33xi64>
  graph.return %0 : tensor<9x33xi64>
}
// Rows that are long and few: threads of a block have a part each, the last of them nothing. Backwards, of integers, with equal values and numbers that are none,
// and with factors whose product is no number any more where nothing has been added yet.
graph.step @scans_of_long_rows(%x: tensor<3x1100xf32>, %i: tensor<2x700xi64>, %a: tensor<2x1500xf64>, %b: tensor<2x1500xf64>) -> (tensor<3x1100xf32>, tensor<2x700xi64>, tensor<2x1500xf64>, tensor<3x1100xi64>, tensor<3x1100xi64>, tensor<2x1500xf64>) {
  %0 = graph.cumsum %x {dim = 1 : i64} : (tensor<3x1100xf32>) -> tensor<3x1100xf32>
  %1 = graph.cumsum %i {dim = 1 : i64, reverse = true} : (tensor<2x700xi64>) -> tensor<2x700xi64>
  %2 = graph.linear_recurrence %a, %b {dim = 1 : i64} : (tensor<2x1500xf64>, tensor<2x1500xf64>) -> tensor<2x1500xf64>
  %f = graph.floor %x : (tensor<3x1100xf32>) -> tensor<3x1100xf32>
  %3 = graph.argcummax %f {dim = 1 : i64} : (tensor<3x1100xf32>) -> tensor<3x1100xi64>
  %l = graph.log %x : (tensor<3x1100xf32>) -> tensor<3x1100xf32>
  %4 = graph.argcummax %l {dim = 1 : i64} : (tensor<3x1100xf32>) -> tensor<3x1100xi64>
  %many = graph.full {type = tensor<2x1500xf64>, value = 1.0e100 : f64} : () -> tensor<2x1500xf64>
  %none = graph.full {type = tensor<2x1500xf64>, value = 0.0 : f64} : () -> tensor<2x1500xf64>
  %5 = graph.linear_recurrence %many, %none {dim = 1 : i64} : (tensor<2x1500xf64>, tensor<2x1500xf64>) -> tensor<2x1500xf64>
  graph.return %0, %1, %2, %3, %4, %5 : tensor<3x1100xf32>, tensor<2x700xi64>, tensor<2x1500xf64>, tensor<3x1100xi64>, tensor<3x1100xi64>, tensor<2x1500xf64>
}
graph.step @sort_vector(%x: tensor<1003xf32>) -> tensor<1003xi64> {
  %0 = graph.argsort %x {dim = 0 : i64, descending = false} : (tensor<1003xf32>) -> tensor<1003xi64>
  graph.return %0 : tensor<1003xi64>
}
graph.step @sort_rows(%x: tensor<33x21xf64>) -> tensor<33x21xi64> {
  %0 = graph.argsort %x {dim = 1 : i64, descending = true} : (tensor<33x21xf64>) -> tensor<33x21xi64>
  graph.return %0 : tensor<33x21xi64>
}
graph.step @sort_columns(%x: tensor<64x7xf32>) -> tensor<64x7xi64> {
  %0 = graph.argsort %x {dim = 0 : i64, descending = false} : (tensor<64x7xf32>) -> tensor<64x7xi64>
  graph.return %0 : tensor<64x7xi64>
}
// Only the first ones.
graph.step @first_one(%x: tensor<1003xf32>) -> tensor<1xi64> {
  %0 = graph.argsort %x {dim = 0 : i64, descending = true, count = 1 : i64} : (tensor<1003xf32>) -> tensor<1xi64>
  graph.return %0 : tensor<1xi64>
}
graph.step @first_few(%x: tensor<33x21xf64>) -> tensor<33x3xi64> {
  %0 = graph.argsort %x {dim = 1 : i64, descending = false, count = 3 : i64} : (tensor<33x21xf64>) -> tensor<33x3xi64>
  graph.return %0 : tensor<33x3xi64>
}
graph.step @first_columns(%x: tensor<64x7xf32>) -> tensor<5x7xi64> {
  %0 = graph.argsort %x {dim = 0 : i64, descending = true, count = 5 : i64} : (tensor<64x7xf32>) -> tensor<5x7xi64>
  graph.return %0 : tensor<5x7xi64>
}
graph.step @first_some(%x: tensor<9x200xi64>) -> tensor<9x40xi64> {
  %0 = graph.argsort %x {dim = 1 : i64, descending = false, count = 40 : i64} : (tensor<9x200xi64>) -> tensor<9x40xi64>
  graph.return %0 : tensor<9x40xi64>
}
graph.step @first_half(%x: tensor<6x50xf32>) -> tensor<6x25xi64> {
  %0 = graph.argsort %x {dim = 1 : i64, descending = true, count = 25 : i64} : (tensor<6x50xf32>) -> tensor<6x25xi64>
  graph.return %0 : tensor<6x25xi64>
}
graph.step @first_most(%x: tensor<6x50xf32>) -> tensor<6x26xi64> {
  %0 = graph.argsort %x {dim = 1 : i64, descending = false, count = 26 : i64} : (tensor<6x50xf32>) -> tensor<6x26xi64>
  graph.return %0 : tensor<6x26xi64>
}
graph.step @first_ties(%x: tensor<9x330xf32>) -> (tensor<9x7xi64>, tensor<9x100xi64>) {
  %f = graph.floor %x : (tensor<9x330xf32>) -> tensor<9x330xf32>
  %0 = graph.argsort %f {dim = 1 : i64, descending = false, count = 7 : i64} : (tensor<9x330xf32>) -> tensor<9x7xi64>
  %1 = graph.argsort %f {dim = 1 : i64, descending = true, count = 100 : i64} : (tensor<9x330xf32>) -> tensor<9x100xi64>
  graph.return %0, %1 : tensor<9x7xi64>, tensor<9x100xi64>
}
graph.step @first_nan(%x: tensor<9x330xf32>) -> (tensor<9x7xi64>, tensor<9x100xi64>) {
  %l = graph.log %x : (tensor<9x330xf32>) -> tensor<9x330xf32>
  %0 = graph.argsort %l {dim = 1 : i64, descending = true, count = 7 : i64} : (tensor<9x330xf32>) -> tensor<9x7xi64>
  %1 = graph.argsort %l {dim = 1 : i64, descending = false, count = 100 : i64} : (tensor<9x330xf32>) -> tensor<9x100xi64>
  graph.return %0, %1 : tensor<9x7xi64>, tensor<9x100xi64>
}
// All in order already, and the other way: each comes before the last one kept.
graph.step @first_falling(%x: tensor<3x200xf32>) -> (tensor<3x9xi64>, tensor<3x9xi64>) {
  %r = graph.iota {dim = 1, type = tensor<3x200xi64>} : () -> tensor<3x200xi64>
  %0 = graph.argsort %r {dim = 1 : i64, descending = true, count = 9 : i64} : (tensor<3x200xi64>) -> tensor<3x9xi64>
  %1 = graph.argsort %r {dim = 1 : i64, descending = false, count = 9 : i64} : (tensor<3x200xi64>) -> tensor<3x9xi64>
  graph.return %0, %1 : tensor<3x9xi64>, tensor<3x9xi64>
}
// Equal values stay in order.
graph.step @sort_ties(%x: tensor<9x33xi64>) -> (tensor<9x33xi64>, tensor<9x33xi64>) {
  %0 = graph.argsort %x {dim = 1 : i64, descending = false} : (tensor<9x33xi64>) -> tensor<9x33xi64>
  %1 = graph.argsort %x {dim = 1 : i64, descending = true} : (tensor<9x33xi64>) -> tensor<9x33xi64>
  graph.return %0, %1 : tensor<9x33xi64>, tensor<9x33xi64>
}
graph.step @sort_bytes(%x: tensor<100xui8>) -> (tensor<100xi64>, tensor<100xi64>) {
  %k = graph.full {value = 250.0 : f64, type = tensor<ui8>} : () -> tensor<ui8>
  %m = graph.maximum %x, %k : (tensor<100xui8>, tensor<ui8>) -> tensor<100xui8>
  %0 = graph.argsort %x {dim = 0 : i64, descending = false} : (tensor<100xui8>) -> tensor<100xi64>
  %1 = graph.argsort %m {dim = 0 : i64, descending = false} : (tensor<100xui8>) -> tensor<100xi64>
  graph.return %0, %1 : tensor<100xi64>, tensor<100xi64>
}
graph.step @sort_booleans(%x: tensor<37xi1>) -> tensor<37xi64> {
  %0 = graph.argsort %x {dim = 0 : i64, descending = true} : (tensor<37xi1>) -> tensor<37xi64>
  graph.return %0 : tensor<37xi64>
}
// About half are logarithms of negative numbers: they are the greatest.
graph.step @sort_nan(%x: tensor<6x7xf32>) -> (tensor<6x7xi64>, tensor<6x7xi64>) {
  %l = graph.log %x : (tensor<6x7xf32>) -> tensor<6x7xf32>
  %0 = graph.argsort %l {dim = 1 : i64, descending = false} : (tensor<6x7xf32>) -> tensor<6x7xi64>
  %1 = graph.argsort %l {dim = 1 : i64, descending = true} : (tensor<6x7xf32>) -> tensor<6x7xi64>
  graph.return %0, %1 : tensor<6x7xi64>, tensor<6x7xi64>
}
// By digits: long rows of all types, many of them equal, some of them -0, of
// both infinities, or no numbers.
graph.step @sort_long(%x: tensor<3x500xf64>, %y: tensor<500x3xf32>, %b: tensor<2x300xbf16>) -> (tensor<3x500xi64>, tensor<3x500xi64>, tensor<500x3xi64>, tensor<500x3xi64>, tensor<2x300xi64>, tensor<2x300xi64>) {
  %0 = graph.argsort %x {dim = 1 : i64, descending = false} : (tensor<3x500xf64>) -> tensor<3x500xi64>
  %1 = graph.argsort %x {dim = 1 : i64, descending = true} : (tensor<3x500xf64>) -> tensor<3x500xi64>
  %2 = graph.argsort %y {dim = 0 : i64, descending = false} : (tensor<500x3xf32>) -> tensor<500x3xi64>
  %3 = graph.argsort %y {dim = 0 : i64, descending = true} : (tensor<500x3xf32>) -> tensor<500x3xi64>
  %z = graph.cast %b {to = f32} : (tensor<2x300xbf16>) -> tensor<2x300xf32>
  %4 = graph.argsort %z {dim = 1 : i64, descending = false} : (tensor<2x300xf32>) -> tensor<2x300xi64>
  %5 = graph.argsort %z {dim = 1 : i64, descending = true} : (tensor<2x300xf32>) -> tensor<2x300xi64>
  graph.return %0, %1, %2, %3, %4, %5 : tensor<3x500xi64>, tensor<3x500xi64>, tensor<500x3xi64>, tensor<500x3xi64>, tensor<2x300xi64>, tensor<2x300xi64>
}
graph.step @sort_long_ties(%x: tensor<3x500xf32>) -> (tensor<3x500xi64>, tensor<3x500xi64>, tensor<3x500xi64>, tensor<3x500xi64>, tensor<3x500xi64>, tensor<3x500xi64>, tensor<3x500xi64>, tensor<3x500xi64>) {
  %f = graph.floor %x : (tensor<3x500xf32>) -> tensor<3x500xf32>
  %k = graph.full {value = 0.0 : f64, type = tensor<f32>} : () -> tensor<f32>
  %z = graph.mul %f, %k : (tensor<3x500xf32>, tensor<f32>) -> tensor<3x500xf32>
  %i = graph.div %f, %z : (tensor<3x500xf32>, tensor<3x500xf32>) -> tensor<3x500xf32>
  %n = graph.sqrt %f : (tensor<3x500xf32>) -> tensor<3x500xf32>
  %0 = graph.argsort %f {dim = 1 : i64, descending = false} : (tensor<3x500xf32>) -> tensor<3x500xi64>
  %1 = graph.argsort %f {dim = 1 : i64, descending = true} : (tensor<3x500xf32>) -> tensor<3x500xi64>
  %2 = graph.argsort %z {dim = 1 : i64, descending = false} : (tensor<3x500xf32>) -> tensor<3x500xi64>
  %3 = graph.argsort %z {dim = 1 : i64, descending = true} : (tensor<3x500xf32>) -> tensor<3x500xi64>
  %4 = graph.argsort %i {dim = 1 : i64, descending = false} : (tensor<3x500xf32>) -> tensor<3x500xi64>
  %5 = graph.argsort %i {dim = 1 : i64, descending = true} : (tensor<3x500xf32>) -> tensor<3x500xi64>
  %6 = graph.argsort %n {dim = 1 : i64, descending = false} : (tensor<3x500xf32>) -> tensor<3x500xi64>
  %7 = graph.argsort %n {dim = 1 : i64, descending = true} : (tensor<3x500xf32>) -> tensor<3x500xi64>
  graph.return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<3x500xi64>, tensor<3x500xi64>, tensor<3x500xi64>, tensor<3x500xi64>, tensor<3x500xi64>, tensor<3x500xi64>, tensor<3x500xi64>, tensor<3x500xi64>
}
graph.step @sort_long_integers(%x: tensor<3x500xi64>, %y: tensor<500x3xi32>, %b: tensor<2x300xi1>) -> (tensor<3x500xi64>, tensor<3x500xi64>, tensor<500x3xi64>, tensor<500x3xi64>, tensor<2x300xi64>, tensor<2x300xi64>) {
  %k = graph.full {value = 3037000499.0 : f64, type = tensor<i64>} : () -> tensor<i64>
  %w = graph.mul %x, %k : (tensor<3x500xi64>, tensor<i64>) -> tensor<3x500xi64>
  %0 = graph.argsort %w {dim = 1 : i64, descending = false} : (tensor<3x500xi64>) -> tensor<3x500xi64>
  %1 = graph.argsort %x {dim = 1 : i64, descending = true} : (tensor<3x500xi64>) -> tensor<3x500xi64>
  %2 = graph.argsort %y {dim = 0 : i64, descending = false} : (tensor<500x3xi32>) -> tensor<500x3xi64>
  %3 = graph.argsort %y {dim = 0 : i64, descending = true} : (tensor<500x3xi32>) -> tensor<500x3xi64>
  %4 = graph.argsort %b {dim = 1 : i64, descending = false} : (tensor<2x300xi1>) -> tensor<2x300xi64>
  %5 = graph.argsort %b {dim = 1 : i64, descending = true} : (tensor<2x300xi1>) -> tensor<2x300xi64>
  graph.return %0, %1, %2, %3, %4, %5 : tensor<3x500xi64>, tensor<3x500xi64>, tensor<500x3xi64>, tensor<500x3xi64>, tensor<2x300xi64>, tensor<2x300xi64>
}
// The first ones of rows longer than a block's memory, which is filled again and again; rows and columns of which a tile has one.
graph.step @first_of_long(%x: tensor<2x9001xf32>, %y: tensor<17000x1xi64>, %z: tensor<300x40xf32>) -> (tensor<2x70xi64>, tensor<30x1xi64>, tensor<300x40xi64>) {
  %0 = graph.argsort %x {dim = 1 : i64, descending = true, count = 70 : i64} : (tensor<2x9001xf32>) -> tensor<2x70xi64>
  %1 = graph.argsort %y {dim = 0 : i64, descending = false, count = 30 : i64} : (tensor<17000x1xi64>) -> tensor<30x1xi64>
  %2 = graph.argsort %z {dim = 0 : i64, descending = false} : (tensor<300x40xf32>) -> tensor<300x40xi64>
  graph.return %0, %1, %2 : tensor<2x70xi64>, tensor<30x1xi64>, tensor<300x40xi64>
}
graph.step @first_bytes(%x: tensor<100xui8>) -> (tensor<1xi64>, tensor<1xi64>) {
  %0 = graph.argsort %x {dim = 0 : i64, descending = false, count = 1 : i64} : (tensor<100xui8>) -> tensor<1xi64>
  %1 = graph.argsort %x {dim = 0 : i64, descending = true, count = 1 : i64} : (tensor<100xui8>) -> tensor<1xi64>
  graph.return %0, %1 : tensor<1xi64>, tensor<1xi64>
}
graph.step @sort_one(%x: tensor<5x1xf32>) -> tensor<5x1xi64> {
  %0 = graph.argsort %x {dim = 1 : i64, descending = false} : (tensor<5x1xf32>) -> tensor<5x1xi64>
  graph.return %0 : tensor<5x1xi64>
}
graph.step @top_three(%x: tensor<8x50xf32>) -> (tensor<8x3xi64>, tensor<8x3xf32>) {
  %0 = graph.argsort %x {dim = 1 : i64, descending = true} : (tensor<8x50xf32>) -> tensor<8x50xi64>
  %k = graph.slice %0 {offsets = array<i64: 0, 0>, sizes = array<i64: 8, 3>, strides = array<i64: 1, 1>} : (tensor<8x50xi64>) -> tensor<8x3xi64>
  %1 = graph.gather %x, %k {dim = 1 : i64} : (tensor<8x50xf32>, tensor<8x3xi64>) -> tensor<8x3xf32>
  graph.return %k, %1 : tensor<8x3xi64>, tensor<8x3xf32>
}
graph.step @flipped(%x: tensor<7x19x5xf32>) -> (tensor<7x19x5xf32>, tensor<7x19xf32>) {
  %0 = graph.flip %x {dims = array<i64: 0, 2>} : (tensor<7x19x5xf32>) -> tensor<7x19x5xf32>
  %1 = graph.sum %0 {dims = array<i64: 2>, keepdim = false} : (tensor<7x19x5xf32>) -> tensor<7x19xf32>
  graph.return %0, %1 : tensor<7x19x5xf32>, tensor<7x19xf32>
}
graph.step @flipped_product(%x: tensor<40x24xf32>, %w: tensor<24x33xf32>) -> tensor<40x33xf32> {
  %f = graph.flip %x {dims = array<i64: 1>} : (tensor<40x24xf32>) -> tensor<40x24xf32>
  %g = graph.flip %w {dims = array<i64: 1>} : (tensor<24x33xf32>) -> tensor<24x33xf32>
  %1 = graph.matmul %f, %g {spec = "mk,kn->mn"} : (tensor<40x24xf32>, tensor<24x33xf32>) -> tensor<40x33xf32>
  graph.return %1 : tensor<40x33xf32>
}
// As many as are kept in order while the others come, and one more; many are equal.
graph.step @as_many_as_are_inserted(%x: tensor<5x900xf32>, %y: tensor<900x3xf64>) -> (tensor<5x64xi64>, tensor<5x65xi64>, tensor<17x3xi64>) {
  %c = graph.full {value = 8.0, type = tensor<f32>} : () -> tensor<f32>
  %m = graph.mul %x, %c : (tensor<5x900xf32>, tensor<f32>) -> tensor<5x900xf32>
  %i = graph.cast %m {to = i32} : (tensor<5x900xf32>) -> tensor<5x900xi32>
  %0 = graph.argsort %i {dim = 1 : i64, descending = true, count = 64 : i64} : (tensor<5x900xi32>) -> tensor<5x64xi64>
  %1 = graph.argsort %i {dim = 1 : i64, descending = false, count = 65 : i64} : (tensor<5x900xi32>) -> tensor<5x65xi64>
  %2 = graph.argsort %y {dim = 0 : i64, descending = false, count = 17 : i64} : (tensor<900x3xf64>) -> tensor<17x3xi64>
  graph.return %0, %1, %2 : tensor<5x64xi64>, tensor<5x65xi64>, tensor<17x3xi64>
}
