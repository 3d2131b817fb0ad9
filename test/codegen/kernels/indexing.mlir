// Elements at indices, sums at indices: rows and single elements, alone and with what is fused with them.

graph.step @rows(%x: tensor<11x37xf32>, %i: tensor<29x1xi64>) -> tensor<29x37xf32> {
  %0 = graph.gather %x, %i {dim = 0 : i64} : (tensor<11x37xf32>, tensor<29x1xi64>) -> tensor<29x37xf32>
  graph.return %0 : tensor<29x37xf32>
}
graph.step @rows_f64(%x: tensor<7x40xf64>, %i: tensor<64x1xi64>) -> tensor<64x40xf64> {
  %0 = graph.gather %x, %i {dim = 0 : i64} : (tensor<7x40xf64>, tensor<64x1xi64>) -> tensor<64x40xf64>
  graph.return %0 : tensor<64x40xf64>
}
graph.step @elements(%x: tensor<3x13x17xf32>, %i: tensor<3x9x17xi64>) -> tensor<3x9x17xf32> {
  %0 = graph.gather %x, %i {dim = 1 : i64} : (tensor<3x13x17xf32>, tensor<3x9x17xi64>) -> tensor<3x9x17xf32>
  graph.return %0 : tensor<3x9x17xf32>
}
graph.step @elements_of_rows(%x: tensor<33x9xf32>, %i: tensor<33x21xi64>) -> tensor<33x21xf32> {
  %0 = graph.gather %x, %i {dim = 1 : i64} : (tensor<33x9xf32>, tensor<33x21xi64>) -> tensor<33x21xf32>
  graph.return %0 : tensor<33x21xf32>
}
graph.step @columns(%x: tensor<33x9xf32>, %i: tensor<1x21xi64>) -> tensor<33x21xf32> {
  %0 = graph.gather %x, %i {dim = 1 : i64} : (tensor<33x9xf32>, tensor<1x21xi64>) -> tensor<33x21xf32>
  graph.return %0 : tensor<33x21xf32>
}
graph.step @one_of_each_row(%x: tensor<50x6xf64>, %i: tensor<50x1xi64>) -> tensor<50x1xf64> {
  %0 = graph.gather %x, %i {dim = 1 : i64} : (tensor<50x6xf64>, tensor<50x1xi64>) -> tensor<50x1xf64>
  graph.return %0 : tensor<50x1xf64>
}
graph.step @vector(%x: tensor<6xi64>, %i: tensor<1003xi64>) -> tensor<1003xi64> {
  %0 = graph.gather %x, %i {dim = 0 : i64} : (tensor<6xi64>, tensor<1003xi64>) -> tensor<1003xi64>
  graph.return %0 : tensor<1003xi64>
}
graph.step @booleans(%x: tensor<6xi1>, %i: tensor<103xi64>) -> tensor<103xi1> {
  %0 = graph.gather %x, %i {dim = 0 : i64} : (tensor<6xi1>, tensor<103xi64>) -> tensor<103xi1>
  graph.return %0 : tensor<103xi1>
}
graph.step @bytes_of_one(%x: tensor<6x5xui8>, %i: tensor<1x1xi64>) -> tensor<1x5xui8> {
  %0 = graph.gather %x, %i {dim = 0 : i64} : (tensor<6x5xui8>, tensor<1x1xi64>) -> tensor<1x5xui8>
  graph.return %0 : tensor<1x5xui8>
}
// An index that is an element itself.
graph.step @chain(%x: tensor<6xi64>, %i: tensor<50xi64>) -> tensor<50xi64> {
  %0 = graph.gather %x, %i {dim = 0 : i64} : (tensor<6xi64>, tensor<50xi64>) -> tensor<50xi64>
  %1 = graph.gather %x, %0 {dim = 0 : i64} : (tensor<6xi64>, tensor<50xi64>) -> tensor<50xi64>
  graph.return %1 : tensor<50xi64>
}
// What it reads is computed in the same kernel, and so is what reads it.
graph.step @fused(%x: tensor<9x20xf32>, %i: tensor<31xi64>, %b: tensor<20xf32>) -> (tensor<31x20xf32>, tensor<31xf32>) {
  %k = graph.reshape %i {shape = array<i64: 31, 1>} : (tensor<31xi64>) -> tensor<31x1xi64>
  %e = graph.exp %x : (tensor<9x20xf32>) -> tensor<9x20xf32>
  %0 = graph.gather %e, %k {dim = 0 : i64} : (tensor<9x20xf32>, tensor<31x1xi64>) -> tensor<31x20xf32>
  %1 = graph.add %0, %b : (tensor<31x20xf32>, tensor<20xf32>) -> tensor<31x20xf32>
  %2 = graph.sum %1 {dims = array<i64: 1>, keepdim = false} : (tensor<31x20xf32>) -> tensor<31xf32>
  graph.return %1, %2 : tensor<31x20xf32>, tensor<31xf32>
}
// Through a transpose and backwards, into padding.
graph.step @of_views(%x: tensor<20x9xf32>, %i: tensor<7x1xi64>) -> tensor<8x44xf32> {
  %t = graph.transpose %x {permutation = array<i64: 1, 0>} : (tensor<20x9xf32>) -> tensor<9x20xf32>
  %f = graph.flip %t {dims = array<i64: 0, 1>} : (tensor<9x20xf32>) -> tensor<9x20xf32>
  %0 = graph.gather %f, %i {dim = 0 : i64} : (tensor<9x20xf32>, tensor<7x1xi64>) -> tensor<7x20xf32>
  %p = graph.pad %0 {low = array<i64: 1, 3>, high = array<i64: 0, 2>, interior = array<i64: 0, 1>, value = 7.0 : f64} : (tensor<7x20xf32>) -> tensor<8x44xf32>
  graph.return %p : tensor<8x44xf32>
}
graph.step @into_a_product(%x: tensor<9x24xf32>, %i: tensor<40x1xi64>, %w: tensor<24x33xf32>) -> tensor<40x33xf32> {
  %0 = graph.gather %x, %i {dim = 0 : i64} : (tensor<9x24xf32>, tensor<40x1xi64>) -> tensor<40x24xf32>
  %1 = graph.matmul %0, %w {spec = "mk,kn->mn"} : (tensor<40x24xf32>, tensor<24x33xf32>) -> tensor<40x33xf32>
  %2 = graph.add %1, %1 : (tensor<40x33xf32>, tensor<40x33xf32>) -> tensor<40x33xf32>
  graph.return %2 : tensor<40x33xf32>
}
graph.step @beside_a_product(%x: tensor<9x33xf32>, %i: tensor<40x1xi64>, %a: tensor<40x24xf32>, %w: tensor<24x33xf32>) -> tensor<40x33xf32> {
  %0 = graph.gather %x, %i {dim = 0 : i64} : (tensor<9x33xf32>, tensor<40x1xi64>) -> tensor<40x33xf32>
  %1 = graph.matmul %a, %w {spec = "mk,kn->mn"} : (tensor<40x24xf32>, tensor<24x33xf32>) -> tensor<40x33xf32>
  %2 = graph.add %1, %0 : (tensor<40x33xf32>, tensor<40x33xf32>) -> tensor<40x33xf32>
  graph.return %2 : tensor<40x33xf32>
}
graph.step @of_a_product(%a: tensor<9x24xf32>, %w: tensor<24x33xf32>, %i: tensor<40x1xi64>) -> tensor<40x33xf32> {
  %1 = graph.matmul %a, %w {spec = "mk,kn->mn"} : (tensor<9x24xf32>, tensor<24x33xf32>) -> tensor<9x33xf32>
  %r = graph.relu %1 : (tensor<9x33xf32>) -> tensor<9x33xf32>
  %0 = graph.gather %r, %i {dim = 0 : i64} : (tensor<9x33xf32>, tensor<40x1xi64>) -> tensor<40x33xf32>
  graph.return %0 : tensor<40x33xf32>
}
graph.step @many_windows(%x: tensor<9x40xf32>, %i: tensor<40x1xi64>) -> (tensor<1x1x8x8xf32>, tensor<1x1x8x8xui8>) {
  %0 = graph.gather %x, %i {dim = 0 : i64} : (tensor<9x40xf32>, tensor<40x1xi64>) -> tensor<40x40xf32>
  %1 = graph.reshape %0 {shape = array<i64: 1, 1, 40, 40>} : (tensor<40x40xf32>) -> tensor<1x1x40x40xf32>
  %2, %3 = graph.max_pool2d %1 {kernel = array<i64: 5, 5>, stride = array<i64: 5, 5>, padding = array<i64: 0, 0>} : (tensor<1x1x40x40xf32>) -> (tensor<1x1x8x8xf32>, tensor<1x1x8x8xui8>)
  graph.return %2, %3 : tensor<1x1x8x8xf32>, tensor<1x1x8x8xui8>
}
graph.step @add_rows(%i: tensor<29x1xi64>, %x: tensor<29x37xf32>) -> tensor<11x37xf32> {
  %0 = graph.scatter_add %i, %x {dim = 0 : i64, size = 11 : i64} : (tensor<29x1xi64>, tensor<29x37xf32>) -> tensor<11x37xf32>
  graph.return %0 : tensor<11x37xf32>
}
// In tiles of columns and of rows.
graph.step @add_many_rows(%i: tensor<2000x1xi64>, %x: tensor<2000x160xf32>) -> tensor<611x160xf32> {
  %0 = graph.scatter_add %i, %x {dim = 0 : i64, size = 611 : i64} : (tensor<2000x1xi64>, tensor<2000x160xf32>) -> tensor<611x160xf32>
  graph.return %0 : tensor<611x160xf32>
}
graph.step @add_elements(%i: tensor<3x9x17xi64>, %x: tensor<3x9x17xf32>) -> tensor<3x13x17xf32> {
  %0 = graph.scatter_add %i, %x {dim = 1 : i64, size = 13 : i64} : (tensor<3x9x17xi64>, tensor<3x9x17xf32>) -> tensor<3x13x17xf32>
  graph.return %0 : tensor<3x13x17xf32>
}
graph.step @add_to_rows(%i: tensor<33x21xi64>, %x: tensor<33x21xf64>) -> tensor<33x9xf64> {
  %0 = graph.scatter_add %i, %x {dim = 1 : i64, size = 9 : i64} : (tensor<33x21xi64>, tensor<33x21xf64>) -> tensor<33x9xf64>
  graph.return %0 : tensor<33x9xf64>
}
graph.step @add_to_vector(%i: tensor<5003xi64>, %x: tensor<5003xf32>) -> tensor<7xf32> {
  %0 = graph.scatter_add %i, %x {dim = 0 : i64, size = 7 : i64} : (tensor<5003xi64>, tensor<5003xf32>) -> tensor<7xf32>
  graph.return %0 : tensor<7xf32>
}
graph.step @greatest_rows(%i: tensor<29x1xi64>, %x: tensor<29x37xf32>) -> tensor<11x37xf32> {
  %0 = graph.scatter_amax %i, %x {dim = 0 : i64, size = 11 : i64} : (tensor<29x1xi64>, tensor<29x37xf32>) -> tensor<11x37xf32>
  graph.return %0 : tensor<11x37xf32>
}
graph.step @greatest_of_many_rows(%i: tensor<2000x1xi64>, %x: tensor<2000x160xf32>) -> tensor<611x160xf32> {
  %0 = graph.scatter_amax %i, %x {dim = 0 : i64, size = 611 : i64} : (tensor<2000x1xi64>, tensor<2000x160xf32>) -> tensor<611x160xf32>
  graph.return %0 : tensor<611x160xf32>
}
// Indices that each column has for itself, along the first dim and along the last, more columns than threads, and rows in turns of several threads.
graph.step @scatter_of_columns(%i: tensor<300x70xi64>, %x: tensor<300x70xf32>) -> tensor<90x70xf32> {
  %0 = graph.scatter_add %i, %x {dim = 0 : i64, size = 90 : i64} : (tensor<300x70xi64>, tensor<300x70xf32>) -> tensor<90x70xf32>
  graph.return %0 : tensor<90x70xf32>
}
graph.step @scatter_of_rows(%i: tensor<5x700xi64>, %x: tensor<5x700xf64>) -> tensor<5x330xf64> {
  %0 = graph.scatter_add %i, %x {dim = 1 : i64, size = 330 : i64} : (tensor<5x700xi64>, tensor<5x700xf64>) -> tensor<5x330xf64>
  graph.return %0 : tensor<5x330xf64>
}
graph.step @scatter_in_batches(%i: tensor<3x400x1xi64>, %x: tensor<3x400x33xf32>) -> tensor<3x120x33xf32> {
  %0 = graph.scatter_amax %i, %x {dim = 1 : i64, size = 120 : i64} : (tensor<3x400x1xi64>, tensor<3x400x33xf32>) -> tensor<3x120x33xf32>
  graph.return %0 : tensor<3x120x33xf32>
}
graph.step @scatter_of_many(%i: tensor<4100x1xi64>, %x: tensor<4100x300xf32>, %y: tensor<9x300xf32>) -> tensor<9x300xf32> {
  %0 = graph.scatter_add %i, %x {dim = 0 : i64, size = 9 : i64} : (tensor<4100x1xi64>, tensor<4100x300xf32>) -> tensor<9x300xf32>
  %1 = graph.mul %0, %y : (tensor<9x300xf32>, tensor<9x300xf32>) -> tensor<9x300xf32>
  graph.return %1 : tensor<9x300xf32>
}
graph.step @greatest_elements(%i: tensor<3x9x17xi64>, %x: tensor<3x9x17xf64>) -> tensor<3x13x17xf64> {
  %0 = graph.scatter_amax %i, %x {dim = 1 : i64, size = 13 : i64} : (tensor<3x9x17xi64>, tensor<3x9x17xf64>) -> tensor<3x13x17xf64>
  graph.return %0 : tensor<3x13x17xf64>
}
graph.step @greatest_integers(%i: tensor<503xi64>, %x: tensor<503xi32>, %y: tensor<503xi64>) -> (tensor<6xi32>, tensor<6xi64>) {
  %0 = graph.scatter_amax %i, %x {dim = 0 : i64, size = 6 : i64} : (tensor<503xi64>, tensor<503xi32>) -> tensor<6xi32>
  %1 = graph.scatter_amax %i, %y {dim = 0 : i64, size = 6 : i64} : (tensor<503xi64>, tensor<503xi64>) -> tensor<6xi64>
  graph.return %0, %1 : tensor<6xi32>, tensor<6xi64>
}
// What the rows are is computed on the way, and so is what becomes of the maxima.
graph.step @greatest_of_computed(%i: tensor<29x1xi64>, %x: tensor<29x16xf32>) -> tensor<11x16xf32> {
  %e = graph.exp %x : (tensor<29x16xf32>) -> tensor<29x16xf32>
  %0 = graph.scatter_amax %i, %e {dim = 0 : i64, size = 11 : i64} : (tensor<29x1xi64>, tensor<29x16xf32>) -> tensor<11x16xf32>
  %r = graph.relu %0 : (tensor<11x16xf32>) -> tensor<11x16xf32>
  graph.return %r : tensor<11x16xf32>
}
// A histogram.
graph.step @count(%i: tensor<503xi64>) -> tensor<6xi64> {
  %o = graph.full {value = 1.0 : f64, type = tensor<503xi64>} : () -> tensor<503xi64>
  %0 = graph.scatter_add %i, %o {dim = 0 : i64, size = 6 : i64} : (tensor<503xi64>, tensor<503xi64>) -> tensor<6xi64>
  graph.return %0 : tensor<6xi64>
}
graph.step @add_columns(%i: tensor<1x21xi64>, %x: tensor<33x21xi32>) -> tensor<33x9xi32> {
  %0 = graph.scatter_add %i, %x {dim = 1 : i64, size = 9 : i64} : (tensor<1x21xi64>, tensor<33x21xi32>) -> tensor<33x9xi32>
  graph.return %0 : tensor<33x9xi32>
}
graph.step @add_fused(%i: tensor<29x1xi64>, %x: tensor<29x16xf32>, %w: tensor<11x16xf32>) -> (tensor<11x16xf32>, tensor<16xf32>) {
  %e = graph.mul %x, %x : (tensor<29x16xf32>, tensor<29x16xf32>) -> tensor<29x16xf32>
  %0 = graph.scatter_add %i, %e {dim = 0 : i64, size = 11 : i64} : (tensor<29x1xi64>, tensor<29x16xf32>) -> tensor<11x16xf32>
  %1 = graph.sub %w, %0 : (tensor<11x16xf32>, tensor<11x16xf32>) -> tensor<11x16xf32>
  %2 = graph.sum %1 {dims = array<i64: 0>, keepdim = false} : (tensor<11x16xf32>) -> tensor<16xf32>
  graph.return %1, %2 : tensor<11x16xf32>, tensor<16xf32>
}
graph.step @add_padded(%i: tensor<31x1xi64>, %x: tensor<29x16xf32>) -> tensor<6x23xf32> {
  %p = graph.pad %x {low = array<i64: 1, 3>, high = array<i64: 1, 4>, interior = array<i64: 0, 0>, value = 1.5 : f64} : (tensor<29x16xf32>) -> tensor<31x23xf32>
  %0 = graph.scatter_add %i, %p {dim = 0 : i64, size = 6 : i64} : (tensor<31x1xi64>, tensor<31x23xf32>) -> tensor<6x23xf32>
  graph.return %0 : tensor<6x23xf32>
}
graph.step @embedding_step(%i: tensor<200x1xi64>, %w: tensor<300x96xf32>, %dy: tensor<200x96xf32>) -> tensor<300x96xf32> {
  %0 = graph.scatter_add %i, %dy {dim = 0 : i64, size = 300 : i64} : (tensor<200x1xi64>, tensor<200x96xf32>) -> tensor<300x96xf32>
  %l = graph.full {value = 0.1 : f64, type = tensor<f32>} : () -> tensor<f32>
  %1 = graph.mul %0, %l : (tensor<300x96xf32>, tensor<f32>) -> tensor<300x96xf32>
  %2 = graph.sub %w, %1 : (tensor<300x96xf32>, tensor<300x96xf32>) -> tensor<300x96xf32>
  graph.return %2 : tensor<300x96xf32>
}
// A slice at an index that is data, along each dim.
graph.step @update(%i: tensor<1xi64>, %s: tensor<3x1x21xf32>, %x: tensor<3x40x21xf32>) -> tensor<3x40x21xf32> {
  %0 = graph.update_slice %i, %s, %x {dim = 1 : i64} : (tensor<1xi64>, tensor<3x1x21xf32>, tensor<3x40x21xf32>) -> tensor<3x40x21xf32>
  graph.return %0 : tensor<3x40x21xf32>
}
graph.step @update_innermost(%i: tensor<1x1x1xi64>, %s: tensor<3x21x1xf32>, %x: tensor<3x21x40xf32>) -> tensor<3x21x40xf32> {
  %0 = graph.update_slice %i, %s, %x {dim = 2 : i64} : (tensor<1x1x1xi64>, tensor<3x21x1xf32>, tensor<3x21x40xf32>) -> tensor<3x21x40xf32>
  graph.return %0 : tensor<3x21x40xf32>
}
graph.step @update_computed(%i: tensor<i64>, %s: tensor<33x1xf32>, %b: tensor<33x1xf32>, %x: tensor<33x50xf32>) -> tensor<33x50xf32> {
  %a = graph.add %s, %b : (tensor<33x1xf32>, tensor<33x1xf32>) -> tensor<33x1xf32>
  %t = graph.tanh %a : (tensor<33x1xf32>) -> tensor<33x1xf32>
  %0 = graph.update_slice %i, %t, %x {dim = 1 : i64} : (tensor<i64>, tensor<33x1xf32>, tensor<33x50xf32>) -> tensor<33x50xf32>
  graph.return %0 : tensor<33x50xf32>
}
graph.step @update_bf16(%i: tensor<1xi64>, %s: tensor<1x21xf32>, %x: tensor<40x21xbf16>) -> tensor<40x21xbf16> {
  %r = graph.cast %s {to = bf16} : (tensor<1x21xf32>) -> tensor<1x21xbf16>
  %0 = graph.update_slice %i, %r, %x {dim = 0 : i64} : (tensor<1xi64>, tensor<1x21xbf16>, tensor<40x21xbf16>) -> tensor<40x21xbf16>
  graph.return %0 : tensor<40x21xbf16>
}
graph.step @update_booleans(%i: tensor<1xi64>, %s: tensor<1x21xi1>, %x: tensor<40x21xi1>) -> tensor<40x21xi1> {
  %0 = graph.update_slice %i, %s, %x {dim = 0 : i64} : (tensor<1xi64>, tensor<1x21xi1>, tensor<40x21xi1>) -> tensor<40x21xi1>
  graph.return %0 : tensor<40x21xi1>
}
// In place of what was there: nothing but the slice is written.
graph.step @update_in_place(%i: tensor<1xi64>, %s: tensor<3x1x21xf32>, %x: tensor<3x40x21xf32>) -> tensor<3x40x21xf32> {
  %e = graph.exp %x : (tensor<3x40x21xf32>) -> tensor<3x40x21xf32>
  %0 = graph.update_slice %i, %s, %e {dim = 1 : i64} : (tensor<1xi64>, tensor<3x1x21xf32>, tensor<3x40x21xf32>) -> tensor<3x40x21xf32>
  graph.return %0 : tensor<3x40x21xf32>
}
graph.step @update_innermost_in_place(%i: tensor<i64>, %s: tensor<33x1xf64>, %b: tensor<33x1xf64>, %x: tensor<33x50xf64>) -> tensor<33x50xf64> {
  %e = graph.exp %x : (tensor<33x50xf64>) -> tensor<33x50xf64>
  %a = graph.add %s, %b : (tensor<33x1xf64>, tensor<33x1xf64>) -> tensor<33x1xf64>
  %t = graph.tanh %a : (tensor<33x1xf64>) -> tensor<33x1xf64>
  %0 = graph.update_slice %i, %t, %e {dim = 1 : i64} : (tensor<i64>, tensor<33x1xf64>, tensor<33x50xf64>) -> tensor<33x50xf64>
  graph.return %0 : tensor<33x50xf64>
}
graph.step @update_bf16_in_place(%i: tensor<1xi64>, %s: tensor<1x37xf32>, %x: tensor<40x37xf32>) -> tensor<40x37xbf16> {
  %m = graph.mul %x, %x : (tensor<40x37xf32>, tensor<40x37xf32>) -> tensor<40x37xf32>
  %b = graph.cast %m {to = bf16} : (tensor<40x37xf32>) -> tensor<40x37xbf16>
  %r = graph.cast %s {to = bf16} : (tensor<1x37xf32>) -> tensor<1x37xbf16>
  %0 = graph.update_slice %i, %r, %b {dim = 0 : i64} : (tensor<1xi64>, tensor<1x37xbf16>, tensor<40x37xbf16>) -> tensor<40x37xbf16>
  graph.return %0 : tensor<40x37xbf16>
}
