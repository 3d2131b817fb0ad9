// Contractions: every transposition, sizes that are not multiples of anything, epilogues.

graph.step @nn(%a: tensor<13x37xf32>, %b: tensor<37x70xf32>) -> tensor<13x70xf32> {
  %0 = "graph.matmul"(%a, %b) {spec = "mk,kn->mn"} : (tensor<13x37xf32>, tensor<37x70xf32>) -> tensor<13x70xf32>
  graph.return %0 : tensor<13x70xf32>
}
graph.step @nt_few_rows(%a: tensor<4x83xf32>, %b: tensor<50x83xf32>) -> tensor<4x50xf32> {
  %0 = "graph.matmul"(%a, %b) {spec = "mk,nk->mn"} : (tensor<4x83xf32>, tensor<50x83xf32>) -> tensor<4x50xf32>
  graph.return %0 : tensor<4x50xf32>
}
graph.step @nt_many_rows(%a: tensor<1000x40xf32>, %b: tensor<67x40xf32>) -> tensor<1000x67xf32> {
  %0 = "graph.matmul"(%a, %b) {spec = "mk,nk->mn"} : (tensor<1000x40xf32>, tensor<67x40xf32>) -> tensor<1000x67xf32>
  graph.return %0 : tensor<1000x67xf32>
}
graph.step @tn(%a: tensor<33x50xf32>, %b: tensor<33x130xf32>) -> tensor<50x130xf32> {
  %0 = "graph.matmul"(%a, %b) {spec = "km,kn->mn"} : (tensor<33x50xf32>, tensor<33x130xf32>) -> tensor<50x130xf32>
  graph.return %0 : tensor<50x130xf32>
}
graph.step @tt(%a: tensor<33x50xf32>, %b: tensor<30x33xf32>) -> tensor<50x30xf32> {
  %0 = "graph.matmul"(%a, %b) {spec = "km,nk->mn"} : (tensor<33x50xf32>, tensor<30x33xf32>) -> tensor<50x30xf32>
  graph.return %0 : tensor<50x30xf32>
}
graph.step @batched(%a: tensor<3x7x11xf32>, %b: tensor<3x11x19xf32>) -> tensor<3x7x19xf32> {
  %0 = "graph.matmul"(%a, %b) {spec = "bmk,bkn->bmn"} : (tensor<3x7x11xf32>, tensor<3x11x19xf32>) -> tensor<3x7x19xf32>
  graph.return %0 : tensor<3x7x19xf32>
}
graph.step @one_column(%a: tensor<5x11xf32>, %b: tensor<1x11xf32>) -> tensor<5x1xf32> {
  %0 = "graph.matmul"(%a, %b) {spec = "mk,nk->mn"} : (tensor<5x11xf32>, tensor<1x11xf32>) -> tensor<5x1xf32>
  graph.return %0 : tensor<5x1xf32>
}
graph.step @one_row(%a: tensor<1x11xf32>, %b: tensor<11x5xf32>) -> tensor<1x5xf32> {
  %0 = "graph.matmul"(%a, %b) {spec = "mk,kn->mn"} : (tensor<1x11xf32>, tensor<11x5xf32>) -> tensor<1x5xf32>
  graph.return %0 : tensor<1x5xf32>
}
graph.step @large(%a: tensor<520x300xf32>, %b: tensor<300x528xf32>) -> tensor<520x528xf32> {
  %0 = "graph.matmul"(%a, %b) {spec = "mk,kn->mn"} : (tensor<520x300xf32>, tensor<300x528xf32>) -> tensor<520x528xf32>
  graph.return %0 : tensor<520x528xf32>
}
graph.step @bias_relu(%a: tensor<64x100xf32>, %b: tensor<50x100xf32>, %c: tensor<50xf32>) -> tensor<64x50xf32> {
  %0 = "graph.matmul"(%a, %b) {spec = "mk,nk->mn"} : (tensor<64x100xf32>, tensor<50x100xf32>) -> tensor<64x50xf32>
  %1 = "graph.add"(%0, %c) : (tensor<64x50xf32>, tensor<50xf32>) -> tensor<64x50xf32>
  %2 = "graph.relu"(%1) : (tensor<64x50xf32>) -> tensor<64x50xf32>
  graph.return %2 : tensor<64x50xf32>
}
graph.step @prologue(%a: tensor<9x20xui8>, %b: tensor<20x50xf32>) -> tensor<9x50xf32> {
  %0 = "graph.cast"(%a) {to = f32} : (tensor<9x20xui8>) -> tensor<9x20xf32>
  %1 = "graph.full"() {value = 2.550000e+02 : f64, type = tensor<f32>} : () -> tensor<f32>
  %2 = "graph.div"(%0, %1) : (tensor<9x20xf32>, tensor<f32>) -> tensor<9x20xf32>
  %3 = "graph.matmul"(%2, %b) {spec = "mk,kn->mn"} : (tensor<9x20xf32>, tensor<20x50xf32>) -> tensor<9x50xf32>
  graph.return %3 : tensor<9x50xf32>
}
graph.step @two_results(%a: tensor<33x50xf32>, %b: tensor<33x30xf32>, %m: tensor<50x30xf32>, %w: tensor<50x30xf32>) -> (tensor<50x30xf32>, tensor<50x30xf32>) {
  %0 = "graph.matmul"(%a, %b) {spec = "km,kn->mn"} : (tensor<33x50xf32>, tensor<33x30xf32>) -> tensor<50x30xf32>
  %mu = "graph.full"() {value = 0.9 : f64, type = tensor<f32>} : () -> tensor<f32>
  %1 = "graph.mul"(%m, %mu) : (tensor<50x30xf32>, tensor<f32>) -> tensor<50x30xf32>
  %2 = "graph.add"(%1, %0) : (tensor<50x30xf32>, tensor<50x30xf32>) -> tensor<50x30xf32>
  %3 = "graph.sub"(%w, %2) : (tensor<50x30xf32>, tensor<50x30xf32>) -> tensor<50x30xf32>
  graph.return %2, %3 : tensor<50x30xf32>, tensor<50x30xf32>
}
graph.step @double(%a: tensor<13x37xf64>, %b: tensor<70x37xf64>) -> tensor<13x70xf64> {
  %0 = "graph.matmul"(%a, %b) {spec = "mk,nk->mn"} : (tensor<13x37xf64>, tensor<70x37xf64>) -> tensor<13x70xf64>
  graph.return %0 : tensor<13x70xf64>
}
graph.step @transposed_view(%a: tensor<37x13xf32>, %b: tensor<37x70xf32>) -> tensor<13x70xf32> {
  %t = "graph.transpose"(%a) {permutation = array<i64: 1, 0>} : (tensor<37x13xf32>) -> tensor<13x37xf32>
  %0 = "graph.matmul"(%t, %b) {spec = "mk,kn->mn"} : (tensor<13x37xf32>, tensor<37x70xf32>) -> tensor<13x70xf32>
  graph.return %0 : tensor<13x70xf32>
}
// The row operand is the same for all rows: both result dims could be lanes.
graph.step @expanded_rows(%a: tensor<1x1xf32>, %b: tensor<1x2278xf32>) -> tensor<2x2278xf32> {
  %t = "graph.expand"(%a) {shape = array<i64: 1, 2>} : (tensor<1x1xf32>) -> tensor<1x2xf32>
  %0 = "graph.matmul"(%t, %b) {spec = "km,kn->mn"} : (tensor<1x2xf32>, tensor<1x2278xf32>) -> tensor<2x2278xf32>
  graph.return %0 : tensor<2x2278xf32>
}
graph.step @expanded_few(%a: tensor<1x1xf32>, %b: tensor<1x37xf32>) -> tensor<5x37xf32> {
  %t = "graph.expand"(%a) {shape = array<i64: 1, 5>} : (tensor<1x1xf32>) -> tensor<1x5xf32>
  %0 = "graph.matmul"(%t, %b) {spec = "km,kn->mn"} : (tensor<1x5xf32>, tensor<1x37xf32>) -> tensor<5x37xf32>
  graph.return %0 : tensor<5x37xf32>
}
// Few rows and a matrix along k: lanes run along the rows, and what they sum is transposed.
graph.step @narrow(%a: tensor<32x96xf32>, %b: tensor<200x96xf32>) -> tensor<32x200xf32> {
  %0 = graph.matmul %a, %b {spec = "mk,nk->mn"} : (tensor<32x96xf32>, tensor<200x96xf32>) -> tensor<32x200xf32>
  graph.return %0 : tensor<32x200xf32>
}
// A last square of 11, three vectors of lanes of which the last has 9, an odd k, an epilogue.
graph.step @narrow_rest(%a: tensor<41x101xf32>, %b: tensor<283x101xf32>, %c: tensor<283xf32>, %d: tensor<41x1xf32>) -> (tensor<41x283xf32>, tensor<41x283xi1>) {
  %0 = graph.matmul %a, %b {spec = "mk,nk->mn"} : (tensor<41x101xf32>, tensor<283x101xf32>) -> tensor<41x283xf32>
  %1 = graph.add %0, %c : (tensor<41x283xf32>, tensor<283xf32>) -> tensor<41x283xf32>
  %2 = graph.mul %1, %d : (tensor<41x283xf32>, tensor<41x1xf32>) -> tensor<41x283xf32>
  %3 = graph.relu %2 : (tensor<41x283xf32>) -> tensor<41x283xf32>
  %4 = graph.le %1, %3 : (tensor<41x283xf32>, tensor<41x283xf32>) -> tensor<41x283xi1>
  graph.return %3, %4 : tensor<41x283xf32>, tensor<41x283xi1>
}
// Many tiles, a panel of one vector behind two of two.
graph.step @narrow_tiles(%a: tensor<77x300xf32>, %b: tensor<530x300xf32>) -> tensor<77x530xf32> {
  %0 = graph.matmul %a, %b {spec = "mk,nk->mn"} : (tensor<77x300xf32>, tensor<530x300xf32>) -> tensor<77x530xf32>
  graph.return %0 : tensor<77x530xf32>
}
graph.step @narrow_f64(%a: tensor<13x40xf64>, %b: tensor<93x40xf64>) -> tensor<13x93xf64> {
  %0 = graph.matmul %a, %b {spec = "mk,nk->mn"} : (tensor<13x40xf64>, tensor<93x40xf64>) -> tensor<13x93xf64>
  graph.return %0 : tensor<13x93xf64>
}
// Rows that already lie as lanes do, and others that are computed first.
graph.step @narrow_columns(%a: tensor<120x30xf32>, %b: tensor<100x120xf32>) -> tensor<30x100xf32> {
  %0 = graph.matmul %a, %b {spec = "km,nk->mn"} : (tensor<120x30xf32>, tensor<100x120xf32>) -> tensor<30x100xf32>
  graph.return %0 : tensor<30x100xf32>
}
graph.step @narrow_pixels(%a: tensor<25x144xui8>, %b: tensor<90x144xf32>) -> tensor<25x90xf32> {
  %0 = graph.cast %a {to = f32} : (tensor<25x144xui8>) -> tensor<25x144xf32>
  %1 = graph.matmul %0, %b {spec = "mk,nk->mn"} : (tensor<25x144xf32>, tensor<90x144xf32>) -> tensor<25x90xf32>
  graph.return %1 : tensor<25x90xf32>
}
// Each of a batch.
graph.step @narrow_batch(%a: tensor<3x26x66xf32>, %b: tensor<3x77x66xf32>) -> tensor<3x26x77xf32> {
  %0 = graph.matmul %a, %b {spec = "bmk,bnk->bmn"} : (tensor<3x26x66xf32>, tensor<3x77x66xf32>) -> tensor<3x26x77xf32>
  graph.return %0 : tensor<3x26x77xf32>
}
