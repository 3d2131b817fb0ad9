// Contractions of awkward sizes: one of everything, primes, k blocks, operands that are packed, views and results
// of other ops as operands, epilogues that read other values.

graph.step @outer_product(%a: tensor<37x1xf32>, %b: tensor<1x61xf32>) -> tensor<37x61xf32> {
  %0 = graph.matmul %a, %b {spec = "mk,kn->mn"} : (tensor<37x1xf32>, tensor<1x61xf32>) -> tensor<37x61xf32>
  graph.return %0 : tensor<37x61xf32>
}
graph.step @inner_product(%a: tensor<1x1009xf32>, %b: tensor<1009x1xf32>) -> tensor<1x1xf32> {
  %0 = graph.matmul %a, %b {spec = "mk,kn->mn"} : (tensor<1x1009xf32>, tensor<1009x1xf32>) -> tensor<1x1xf32>
  graph.return %0 : tensor<1x1xf32>
}
graph.step @all_ones(%a: tensor<1x1xf64>, %b: tensor<1x1xf64>) -> tensor<1x1xf64> {
  %0 = graph.matmul %a, %b {spec = "km,nk->mn"} : (tensor<1x1xf64>, tensor<1x1xf64>) -> tensor<1x1xf64>
  graph.return %0 : tensor<1x1xf64>
}
graph.step @one_row_long(%a: tensor<1x1500xf32>, %b: tensor<1500x131xf32>) -> tensor<1x131xf32> {
  %0 = graph.matmul %a, %b {spec = "mk,kn->mn"} : (tensor<1x1500xf32>, tensor<1500x131xf32>) -> tensor<1x131xf32>
  graph.return %0 : tensor<1x131xf32>
}
graph.step @one_column_long(%a: tensor<131x1500xf32>, %b: tensor<1500x1xf32>) -> tensor<131x1xf32> {
  %0 = graph.matmul %a, %b {spec = "mk,kn->mn"} : (tensor<131x1500xf32>, tensor<1500x1xf32>) -> tensor<131x1xf32>
  graph.return %0 : tensor<131x1xf32>
}
graph.step @one_column_transposed(%a: tensor<1500x131xf32>, %b: tensor<1500x1xf32>) -> tensor<131x1xf32> {
  %0 = graph.matmul %a, %b {spec = "km,kn->mn"} : (tensor<1500x131xf32>, tensor<1500x1xf32>) -> tensor<131x1xf32>
  graph.return %0 : tensor<131x1xf32>
}
graph.step @dot_long(%a: tensor<5x1543xf32>, %b: tensor<23x1543xf32>) -> tensor<5x23xf32> {
  %0 = graph.matmul %a, %b {spec = "mk,nk->mn"} : (tensor<5x1543xf32>, tensor<23x1543xf32>) -> tensor<5x23xf32>
  graph.return %0 : tensor<5x23xf32>
}
graph.step @dot_long_f64(%a: tensor<3x1031xf64>, %b: tensor<13x1031xf64>) -> tensor<3x13xf64> {
  %0 = graph.matmul %a, %b {spec = "mk,nk->mn"} : (tensor<3x1031xf64>, tensor<13x1031xf64>) -> tensor<3x13xf64>
  graph.return %0 : tensor<3x13xf64>
}
graph.step @k_blocks(%a: tensor<29x1201xf32>, %b: tensor<1201x97xf32>) -> tensor<29x97xf32> {
  %0 = graph.matmul %a, %b {spec = "mk,kn->mn"} : (tensor<29x1201xf32>, tensor<1201x97xf32>) -> tensor<29x97xf32>
  graph.return %0 : tensor<29x97xf32>
}
graph.step @k_blocks_tt(%a: tensor<1201x21xf32>, %b: tensor<97x1201xf32>) -> tensor<21x97xf32> {
  %0 = graph.matmul %a, %b {spec = "km,nk->mn"} : (tensor<1201x21xf32>, tensor<97x1201xf32>) -> tensor<21x97xf32>
  graph.return %0 : tensor<21x97xf32>
}
// From 256 x 256 results on both operands are packed.
graph.step @packed_nn(%a: tensor<300x257xf32>, %b: tensor<257x515xf32>) -> tensor<300x515xf32> {
  %0 = graph.matmul %a, %b {spec = "mk,kn->mn"} : (tensor<300x257xf32>, tensor<257x515xf32>) -> tensor<300x515xf32>
  graph.return %0 : tensor<300x515xf32>
}
graph.step @packed_nt(%a: tensor<300x257xf32>, %b: tensor<515x257xf32>) -> tensor<300x515xf32> {
  %0 = graph.matmul %a, %b {spec = "mk,nk->mn"} : (tensor<300x257xf32>, tensor<515x257xf32>) -> tensor<300x515xf32>
  graph.return %0 : tensor<300x515xf32>
}
graph.step @packed_tn(%a: tensor<257x300xf32>, %b: tensor<257x515xf32>) -> tensor<300x515xf32> {
  %0 = graph.matmul %a, %b {spec = "km,kn->mn"} : (tensor<257x300xf32>, tensor<257x515xf32>) -> tensor<300x515xf32>
  graph.return %0 : tensor<300x515xf32>
}
graph.step @packed_tt(%a: tensor<257x300xf32>, %b: tensor<515x257xf32>) -> tensor<300x515xf32> {
  %0 = graph.matmul %a, %b {spec = "km,nk->mn"} : (tensor<257x300xf32>, tensor<515x257xf32>) -> tensor<300x515xf32>
  graph.return %0 : tensor<300x515xf32>
}
graph.step @packed_nt_f64(%a: tensor<259x201xf64>, %b: tensor<263x201xf64>) -> tensor<259x263xf64> {
  %0 = graph.matmul %a, %b {spec = "mk,nk->mn"} : (tensor<259x201xf64>, tensor<263x201xf64>) -> tensor<259x263xf64>
  graph.return %0 : tensor<259x263xf64>
}
graph.step @packed_tn_f64(%a: tensor<201x259xf64>, %b: tensor<201x263xf64>) -> tensor<259x263xf64> {
  %0 = graph.matmul %a, %b {spec = "km,kn->mn"} : (tensor<201x259xf64>, tensor<201x263xf64>) -> tensor<259x263xf64>
  graph.return %0 : tensor<259x263xf64>
}
// Several k blocks, the last one odd, and sums that wait between them.
graph.step @packed_k_blocks_nn(%a: tensor<131x1037xf32>, %b: tensor<1037x521xf32>) -> tensor<131x521xf32> {
  %0 = graph.matmul %a, %b {spec = "mk,kn->mn"} : (tensor<131x1037xf32>, tensor<1037x521xf32>) -> tensor<131x521xf32>
  graph.return %0 : tensor<131x521xf32>
}
graph.step @packed_k_blocks_tt(%a: tensor<1037x151xf32>, %b: tensor<521x1037xf32>) -> tensor<151x521xf32> {
  %0 = graph.matmul %a, %b {spec = "km,nk->mn"} : (tensor<1037x151xf32>, tensor<521x1037xf32>) -> tensor<151x521xf32>
  graph.return %0 : tensor<151x521xf32>
}
graph.step @packed_k_blocks_f64(%a: tensor<131x523xf64>, %b: tensor<523x521xf64>) -> tensor<131x521xf64> {
  %0 = graph.matmul %a, %b {spec = "mk,kn->mn"} : (tensor<131x523xf64>, tensor<523x521xf64>) -> tensor<131x521xf64>
  graph.return %0 : tensor<131x521xf64>
}
// More lanes than a block of sums has, and an epilogue.
graph.step @packed_lane_blocks(%a: tensor<67x530xf32>, %b: tensor<530x1063xf32>, %bias: tensor<1063xf32>) -> tensor<67x1063xf32> {
  %0 = graph.matmul %a, %b {spec = "mk,kn->mn"} : (tensor<67x530xf32>, tensor<530x1063xf32>) -> tensor<67x1063xf32>
  %1 = graph.add %0, %bias : (tensor<67x1063xf32>, tensor<1063xf32>) -> tensor<67x1063xf32>
  graph.return %1 : tensor<67x1063xf32>
}
// Rows of 384 at most, and of one more or less.
graph.step @packed_row_blocks(%a: tensor<64x769xf32>, %b: tensor<64x523xf32>) -> tensor<769x523xf32> {
  %0 = graph.matmul %a, %b {spec = "km,kn->mn"} : (tensor<64x769xf32>, tensor<64x523xf32>) -> tensor<769x523xf32>
  graph.return %0 : tensor<769x523xf32>
}
// One row of lanes of two dims, in several tiles; a dim that no operand has.
graph.step @flat_lanes_one_row(%x: tensor<64x690x97xf32>, %w: tensor<1x64x1xf32>) -> tensor<690x97x1xf32> {
  %t = graph.transpose %x {permutation = array<i64: 1, 2, 0>} : (tensor<64x690x97xf32>) -> tensor<690x97x64xf32>
  %e = graph.expand %w {shape = array<i64: 690, 64, 1>} : (tensor<1x64x1xf32>) -> tensor<690x64x1xf32>
  %0 = graph.matmul %t, %e {spec = "bmk,bkn->bmn"} : (tensor<690x97x64xf32>, tensor<690x64x1xf32>) -> tensor<690x97x1xf32>
  graph.return %0 : tensor<690x97x1xf32>
}
graph.step @expanded_rows(%a: tensor<1x71xf32>, %b: tensor<71x130xf32>) -> tensor<350x130xf32> {
  %e = graph.expand %a {shape = array<i64: 350, 71>} : (tensor<1x71xf32>) -> tensor<350x71xf32>
  %0 = graph.matmul %e, %b {spec = "mk,kn->mn"} : (tensor<350x71xf32>, tensor<71x130xf32>) -> tensor<350x130xf32>
  graph.return %0 : tensor<350x130xf32>
}
// So few lanes that rows are read where they are, all in one panel.
graph.step @one_panel_nn(%a: tensor<1031x67xf32>, %b: tensor<67x65xf32>) -> tensor<1031x65xf32> {
  %0 = graph.matmul %a, %b {spec = "mk,kn->mn"} : (tensor<1031x67xf32>, tensor<67x65xf32>) -> tensor<1031x65xf32>
  graph.return %0 : tensor<1031x65xf32>
}
graph.step @one_panel_nt(%a: tensor<1031x67xf32>, %b: tensor<96x67xf32>) -> tensor<1031x96xf32> {
  %0 = graph.matmul %a, %b {spec = "mk,nk->mn"} : (tensor<1031x67xf32>, tensor<96x67xf32>) -> tensor<1031x96xf32>
  graph.return %0 : tensor<1031x96xf32>
}
graph.step @packed_epilogue(%a: tensor<300x70xf32>, %b: tensor<70x517xf32>, %bias: tensor<517xf32>, %rows: tensor<300x1xf32>) -> tensor<300x517xf32> {
  %0 = graph.matmul %a, %b {spec = "mk,kn->mn"} : (tensor<300x70xf32>, tensor<70x517xf32>) -> tensor<300x517xf32>
  %1 = graph.add %0, %bias : (tensor<300x517xf32>, tensor<517xf32>) -> tensor<300x517xf32>
  %2 = graph.mul %1, %rows : (tensor<300x517xf32>, tensor<300x1xf32>) -> tensor<300x517xf32>
  graph.return %2 : tensor<300x517xf32>
}
graph.step @batched_nt(%a: tensor<5x13x29xf32>, %b: tensor<5x17x29xf32>) -> tensor<5x13x17xf32> {
  %0 = graph.matmul %a, %b {spec = "bmk,bnk->bmn"} : (tensor<5x13x29xf32>, tensor<5x17x29xf32>) -> tensor<5x13x17xf32>
  graph.return %0 : tensor<5x13x17xf32>
}
graph.step @batched_tt(%a: tensor<5x29x13xf64>, %b: tensor<5x17x29xf64>) -> tensor<5x13x17xf64> {
  %0 = graph.matmul %a, %b {spec = "bkm,bnk->bmn"} : (tensor<5x29x13xf64>, tensor<5x17x29xf64>) -> tensor<5x13x17xf64>
  graph.return %0 : tensor<5x13x17xf64>
}
// One row and one column a batch: no lanes along any dim but the batch.
graph.step @batched_inner(%a: tensor<7x1x40xf32>, %b: tensor<7x40x1xf32>) -> tensor<7x1x1xf32> {
  %0 = graph.matmul %a, %b {spec = "bmk,bkn->bmn"} : (tensor<7x1x40xf32>, tensor<7x40x1xf32>) -> tensor<7x1x1xf32>
  graph.return %0 : tensor<7x1x1xf32>
}
graph.step @batched_one_column(%a: tensor<7x19x40xf32>, %b: tensor<7x40x1xf32>) -> tensor<7x19x1xf32> {
  %0 = graph.matmul %a, %b {spec = "bmk,bkn->bmn"} : (tensor<7x19x40xf32>, tensor<7x40x1xf32>) -> tensor<7x19x1xf32>
  graph.return %0 : tensor<7x19x1xf32>
}
graph.step @batched_large(%a: tensor<3x260x90xf32>, %b: tensor<3x90x270xf32>) -> tensor<3x260x270xf32> {
  %0 = graph.matmul %a, %b {spec = "bmk,bkn->bmn"} : (tensor<3x260x90xf32>, tensor<3x90x270xf32>) -> tensor<3x260x270xf32>
  graph.return %0 : tensor<3x260x270xf32>
}
graph.step @square_of_one(%a: tensor<41x41xf32>) -> tensor<41x41xf32> {
  %0 = graph.matmul %a, %a {spec = "mk,nk->mn"} : (tensor<41x41xf32>, tensor<41x41xf32>) -> tensor<41x41xf32>
  graph.return %0 : tensor<41x41xf32>
}
graph.step @elementwise_operands(%a: tensor<19x33xf32>, %b: tensor<33x47xf32>) -> tensor<19x47xf32> {
  %0 = graph.exp %a : (tensor<19x33xf32>) -> tensor<19x33xf32>
  %1 = graph.mul %b, %b : (tensor<33x47xf32>, tensor<33x47xf32>) -> tensor<33x47xf32>
  %2 = graph.matmul %0, %1 {spec = "mk,kn->mn"} : (tensor<19x33xf32>, tensor<33x47xf32>) -> tensor<19x47xf32>
  graph.return %2 : tensor<19x47xf32>
}
// Cheap work on arguments is done within the contraction, for both operands.
graph.step @prologues(%a: tensor<50x70xui8>, %b: tensor<70x90xf32>, %c: tensor<90xf32>) -> tensor<50x90xf32> {
  %0 = graph.cast %a {to = f32} : (tensor<50x70xui8>) -> tensor<50x70xf32>
  %1 = graph.mul %b, %c : (tensor<70x90xf32>, tensor<90xf32>) -> tensor<70x90xf32>
  %2 = graph.matmul %0, %1 {spec = "mk,kn->mn"} : (tensor<50x70xf32>, tensor<70x90xf32>) -> tensor<50x90xf32>
  graph.return %2 : tensor<50x90xf32>
}
graph.step @prologue_transposed(%a: tensor<70x200xui8>, %b: tensor<70x90xf32>) -> tensor<200x90xf32> {
  %0 = graph.cast %a {to = f32} : (tensor<70x200xui8>) -> tensor<70x200xf32>
  %1 = graph.matmul %0, %b {spec = "km,kn->mn"} : (tensor<70x200xf32>, tensor<70x90xf32>) -> tensor<200x90xf32>
  graph.return %1 : tensor<200x90xf32>
}
graph.step @prologue_packed(%a: tensor<300x80xui8>, %b: tensor<270x80xf32>) -> tensor<300x270xf32> {
  %0 = graph.cast %a {to = f32} : (tensor<300x80xui8>) -> tensor<300x80xf32>
  %1 = graph.matmul %0, %b {spec = "mk,nk->mn"} : (tensor<300x80xf32>, tensor<270x80xf32>) -> tensor<300x270xf32>
  graph.return %1 : tensor<300x270xf32>
}
graph.step @viewed_3d(%a: tensor<33x4x21xf32>, %b: tensor<4x33x18xf32>) -> tensor<4x21x18xf32> {
  %t = graph.transpose %a {permutation = array<i64: 1, 2, 0>} : (tensor<33x4x21xf32>) -> tensor<4x21x33xf32>
  %0 = graph.matmul %t, %b {spec = "bmk,bkn->bmn"} : (tensor<4x21x33xf32>, tensor<4x33x18xf32>) -> tensor<4x21x18xf32>
  graph.return %0 : tensor<4x21x18xf32>
}
graph.step @expanded_batch(%a: tensor<21x33xf32>, %b: tensor<6x33x18xf32>) -> tensor<6x21x18xf32> {
  %t = graph.expand %a {shape = array<i64: 6, 21, 33>} : (tensor<21x33xf32>) -> tensor<6x21x33xf32>
  %0 = graph.matmul %t, %b {spec = "bmk,bkn->bmn"} : (tensor<6x21x33xf32>, tensor<6x33x18xf32>) -> tensor<6x21x18xf32>
  graph.return %0 : tensor<6x21x18xf32>
}
graph.step @expanded_columns(%a: tensor<21x33xf32>, %b: tensor<33x1xf32>) -> tensor<21x50xf32> {
  %t = graph.expand %b {shape = array<i64: 33, 50>} : (tensor<33x1xf32>) -> tensor<33x50xf32>
  %0 = graph.matmul %a, %t {spec = "mk,kn->mn"} : (tensor<21x33xf32>, tensor<33x50xf32>) -> tensor<21x50xf32>
  graph.return %0 : tensor<21x50xf32>
}
graph.step @expanded_k(%a: tensor<21x1xf32>, %b: tensor<33x50xf32>) -> tensor<21x50xf32> {
  %t = graph.expand %a {shape = array<i64: 21, 33>} : (tensor<21x1xf32>) -> tensor<21x33xf32>
  %0 = graph.matmul %t, %b {spec = "mk,kn->mn"} : (tensor<21x33xf32>, tensor<33x50xf32>) -> tensor<21x50xf32>
  graph.return %0 : tensor<21x50xf32>
}
graph.step @expanded_k_of_lanes(%a: tensor<300x71xf32>, %b: tensor<1x517xf32>) -> tensor<300x517xf32> {
  %t = graph.expand %b {shape = array<i64: 71, 517>} : (tensor<1x517xf32>) -> tensor<71x517xf32>
  %0 = graph.matmul %a, %t {spec = "mk,kn->mn"} : (tensor<300x71xf32>, tensor<71x517xf32>) -> tensor<300x517xf32>
  graph.return %0 : tensor<300x517xf32>
}
graph.step @both_expanded(%a: tensor<1x1xf32>, %b: tensor<1x1xf32>) -> tensor<9x50xf32> {
  %s = graph.expand %a {shape = array<i64: 9, 33>} : (tensor<1x1xf32>) -> tensor<9x33xf32>
  %t = graph.expand %b {shape = array<i64: 33, 50>} : (tensor<1x1xf32>) -> tensor<33x50xf32>
  %0 = graph.matmul %s, %t {spec = "mk,kn->mn"} : (tensor<9x33xf32>, tensor<33x50xf32>) -> tensor<9x50xf32>
  graph.return %0 : tensor<9x50xf32>
}
graph.step @sliced_operand(%a: tensor<40x70xf32>, %b: tensor<35x50xf32>) -> tensor<20x50xf32> {
  %s = graph.slice %a {offsets = array<i64: 1, 0>, sizes = array<i64: 20, 35>, strides = array<i64: 2, 2>} : (tensor<40x70xf32>) -> tensor<20x35xf32>
  %0 = graph.matmul %s, %b {spec = "mk,kn->mn"} : (tensor<20x35xf32>, tensor<35x50xf32>) -> tensor<20x50xf32>
  graph.return %0 : tensor<20x50xf32>
}
graph.step @padded_operand(%a: tensor<17x30xf32>, %b: tensor<33x50xf32>) -> tensor<19x50xf32> {
  %p = graph.pad %a {low = array<i64: 1, 2>, high = array<i64: 1, 1>, interior = array<i64: 0, 0>, value = 0.5 : f64} : (tensor<17x30xf32>) -> tensor<19x33xf32>
  %0 = graph.matmul %p, %b {spec = "mk,kn->mn"} : (tensor<19x33xf32>, tensor<33x50xf32>) -> tensor<19x50xf32>
  graph.return %0 : tensor<19x50xf32>
}
// The epilogue reads values in three other ways, and its result is read by a reduction.
graph.step @epilogue_reads(%a: tensor<45x31xf32>, %b: tensor<31x67xf32>, %m: tensor<45x67xi1>, %r: tensor<45x1xf32>, %t: tensor<67x45xf32>) -> (tensor<45x67xf32>, tensor<45xf32>) {
  %0 = graph.matmul %a, %b {spec = "mk,kn->mn"} : (tensor<45x31xf32>, tensor<31x67xf32>) -> tensor<45x67xf32>
  %1 = graph.sub %0, %r : (tensor<45x67xf32>, tensor<45x1xf32>) -> tensor<45x67xf32>
  %v = graph.transpose %t {permutation = array<i64: 1, 0>} : (tensor<67x45xf32>) -> tensor<45x67xf32>
  %2 = graph.mul %1, %v : (tensor<45x67xf32>, tensor<45x67xf32>) -> tensor<45x67xf32>
  %3 = graph.select %m, %2, %0 : (tensor<45x67xi1>, tensor<45x67xf32>, tensor<45x67xf32>) -> tensor<45x67xf32>
  %4 = graph.sum %3 {dims = array<i64: 1>, keepdim = false} : (tensor<45x67xf32>) -> tensor<45xf32>
  graph.return %3, %4 : tensor<45x67xf32>, tensor<45xf32>
}
// The plain result and two values made of it leave the kernel.
graph.step @three_results(%a: tensor<45x31xf32>, %b: tensor<67x31xf32>) -> (tensor<45x67xf32>, tensor<45x67xf32>, tensor<45x67xi1>) {
  %0 = graph.matmul %a, %b {spec = "mk,nk->mn"} : (tensor<45x31xf32>, tensor<67x31xf32>) -> tensor<45x67xf32>
  %1 = graph.tanh %0 : (tensor<45x67xf32>) -> tensor<45x67xf32>
  %2 = graph.lt %1, %0 : (tensor<45x67xf32>, tensor<45x67xf32>) -> tensor<45x67xi1>
  graph.return %0, %1, %2 : tensor<45x67xf32>, tensor<45x67xf32>, tensor<45x67xi1>
}
graph.step @chain(%a: tensor<30x40xf32>, %b: tensor<40x50xf32>, %c: tensor<20x50xf32>) -> tensor<30x20xf32> {
  %0 = graph.matmul %a, %b {spec = "mk,kn->mn"} : (tensor<30x40xf32>, tensor<40x50xf32>) -> tensor<30x50xf32>
  %1 = graph.relu %0 : (tensor<30x50xf32>) -> tensor<30x50xf32>
  %2 = graph.matmul %1, %c {spec = "mk,nk->mn"} : (tensor<30x50xf32>, tensor<20x50xf32>) -> tensor<30x20xf32>
  graph.return %2 : tensor<30x20xf32>
}
// Forward, loss and both gradients of two layers.
graph.step @two_layers(%x: tensor<16x24xf32>, %w: tensor<40x24xf32>, %v: tensor<10x40xf32>) -> (tensor<40x24xf32>, tensor<10x40xf32>) {
  %0 = graph.matmul %x, %w {spec = "mk,nk->mn"} : (tensor<16x24xf32>, tensor<40x24xf32>) -> tensor<16x40xf32>
  %1 = graph.tanh %0 : (tensor<16x40xf32>) -> tensor<16x40xf32>
  %2 = graph.matmul %1, %v {spec = "mk,nk->mn"} : (tensor<16x40xf32>, tensor<10x40xf32>) -> tensor<16x10xf32>
  %3 = graph.softmax %2 {dim = 1 : i64} : (tensor<16x10xf32>) -> tensor<16x10xf32>
  %4 = graph.matmul %3, %1 {spec = "km,kn->mn"} : (tensor<16x10xf32>, tensor<16x40xf32>) -> tensor<10x40xf32>
  %5 = graph.matmul %3, %v {spec = "mk,kn->mn"} : (tensor<16x10xf32>, tensor<10x40xf32>) -> tensor<16x40xf32>
  %6 = graph.mul %1, %1 : (tensor<16x40xf32>, tensor<16x40xf32>) -> tensor<16x40xf32>
  %one = graph.full {value = 1.0 : f64, type = tensor<f32>} : () -> tensor<f32>
  %7 = graph.sub %one, %6 : (tensor<f32>, tensor<16x40xf32>) -> tensor<16x40xf32>
  %8 = graph.mul %5, %7 : (tensor<16x40xf32>, tensor<16x40xf32>) -> tensor<16x40xf32>
  %9 = graph.matmul %8, %x {spec = "km,kn->mn"} : (tensor<16x40xf32>, tensor<16x24xf32>) -> tensor<40x24xf32>
  graph.return %9, %4 : tensor<40x24xf32>, tensor<10x40xf32>
}
