// Products with any number of batch, row, column and summed dims, in any order.

// A linear layer on [B,T,C]: one dim of rows, whatever is elementwise behind it.
graph.step @linear(%x: tensor<5x7x33xf32>, %w: tensor<50x33xf32>, %c: tensor<50xf32>, %r: tensor<5x7x50xf32>) -> tensor<5x7x50xf32> {
  %0 = graph.matmul %x, %w {spec = "btc,oc->bto"} : (tensor<5x7x33xf32>, tensor<50x33xf32>) -> tensor<5x7x50xf32>
  %1 = graph.add %0, %c : (tensor<5x7x50xf32>, tensor<50xf32>) -> tensor<5x7x50xf32>
  %2 = graph.erf %1 : (tensor<5x7x50xf32>) -> tensor<5x7x50xf32>
  %3 = graph.mul %2, %r : (tensor<5x7x50xf32>, tensor<5x7x50xf32>) -> tensor<5x7x50xf32>
  graph.return %3 : tensor<5x7x50xf32>
}
// Random numbers count the elements: rows are divided into b and t for them.
graph.step @linear_dropout(%x: tensor<6x9x20xf32>, %w: tensor<37x20xf32>, %s: tensor<8xi64> scalars) -> tensor<6x9x37xf32> {
  %0 = graph.matmul %x, %w {spec = "btc,oc->bto"} : (tensor<6x9x20xf32>, tensor<37x20xf32>) -> tensor<6x9x37xf32>
  %1 = graph.dropout %0, %s {p = 0.5 : f64, key = 5 : i64, channelwise = false} : (tensor<6x9x37xf32>, tensor<8xi64>) -> tensor<6x9x37xf32>
  graph.return %1 : tensor<6x9x37xf32>
}
// What asks for b or t alone keeps the two apart.
graph.step @linear_of_batch(%x: tensor<5x7x33xf32>, %w: tensor<33x50xf32>, %c: tensor<5x1x1xf32>) -> tensor<5x7x50xf32> {
  %0 = graph.matmul %x, %w {spec = "btc,co->bto"} : (tensor<5x7x33xf32>, tensor<33x50xf32>) -> tensor<5x7x50xf32>
  %1 = graph.add %0, %c : (tensor<5x7x50xf32>, tensor<5x1x1xf32>) -> tensor<5x7x50xf32>
  graph.return %1 : tensor<5x7x50xf32>
}
graph.step @linear_of_time(%x: tensor<40x3x33xf32>, %w: tensor<50x33xf32>, %c: tensor<3x50xf32>) -> tensor<40x3x50xf32> {
  %0 = graph.matmul %x, %w {spec = "btc,oc->bto"} : (tensor<40x3x33xf32>, tensor<50x33xf32>) -> tensor<40x3x50xf32>
  %1 = graph.add %0, %c : (tensor<40x3x50xf32>, tensor<3x50xf32>) -> tensor<40x3x50xf32>
  graph.return %1 : tensor<40x3x50xf32>
}
graph.step @linear_blocked(%x: tensor<3x101x300xf32>, %w: tensor<300x517xf32>, %c: tensor<517xf32>) -> tensor<3x101x517xf32> {
  %0 = graph.matmul %x, %w {spec = "btc,co->bto"} : (tensor<3x101x300xf32>, tensor<300x517xf32>) -> tensor<3x101x517xf32>
  %1 = graph.add %0, %c : (tensor<3x101x517xf32>, tensor<517xf32>) -> tensor<3x101x517xf32>
  graph.return %1 : tensor<3x101x517xf32>
}
graph.step @linear_blocked_apart(%x: tensor<2x301x70xf32>, %w: tensor<517x70xf32>, %c: tensor<2x1x517xf32>) -> tensor<2x301x517xf32> {
  %0 = graph.matmul %x, %w {spec = "btc,oc->bto"} : (tensor<2x301x70xf32>, tensor<517x70xf32>) -> tensor<2x301x517xf32>
  %1 = graph.add %0, %c : (tensor<2x301x517xf32>, tensor<2x1x517xf32>) -> tensor<2x301x517xf32>
  graph.return %1 : tensor<2x301x517xf32>
}
graph.step @linear_narrow(%x: tensor<4x8x96xf32>, %w: tensor<200x96xf32>, %c: tensor<200xf32>) -> tensor<4x8x200xf32> {
  %0 = graph.matmul %x, %w {spec = "btc,oc->bto"} : (tensor<4x8x96xf32>, tensor<200x96xf32>) -> tensor<4x8x200xf32>
  %1 = graph.add %0, %c : (tensor<4x8x200xf32>, tensor<200xf32>) -> tensor<4x8x200xf32>
  graph.return %1 : tensor<4x8x200xf32>
}
graph.step @linear_prologue(%x: tensor<3x5x20xui8>, %w: tensor<50x20xf32>) -> tensor<3x5x50xf32> {
  %0 = graph.cast %x {to = f32} : (tensor<3x5x20xui8>) -> tensor<3x5x20xf32>
  %1 = graph.matmul %0, %w {spec = "btc,oc->bto"} : (tensor<3x5x20xf32>, tensor<50x20xf32>) -> tensor<3x5x50xf32>
  graph.return %1 : tensor<3x5x50xf32>
}
// Both dims of the rows are summed, row by row.
graph.step @weight_grad(%dy: tensor<5x13x37xf32>, %x: tensor<5x13x50xf32>, %w: tensor<37x50xf32>) -> tensor<37x50xf32> {
  %0 = graph.matmul %dy, %x {spec = "bto,btc->oc"} : (tensor<5x13x37xf32>, tensor<5x13x50xf32>) -> tensor<37x50xf32>
  %1 = graph.sub %w, %0 : (tensor<37x50xf32>, tensor<37x50xf32>) -> tensor<37x50xf32>
  graph.return %1 : tensor<37x50xf32>
}
graph.step @weight_grad_blocked(%dy: tensor<9x60x280xf32>, %x: tensor<9x60x300xf32>) -> tensor<280x300xf32> {
  %0 = graph.matmul %dy, %x {spec = "bto,btc->oc"} : (tensor<9x60x280xf32>, tensor<9x60x300xf32>) -> tensor<280x300xf32>
  graph.return %0 : tensor<280x300xf32>
}
// The summed dims of a slice are no neighbours.
graph.step @weight_grad_of_slice(%dy: tensor<5x13x37xf32>, %x: tensor<5x15x50xf32>) -> tensor<37x50xf32> {
  %s = graph.slice %x {offsets = array<i64: 0, 1, 0>, sizes = array<i64: 5, 13, 50>, strides = array<i64: 1, 1, 1>} : (tensor<5x15x50xf32>) -> tensor<5x13x50xf32>
  %0 = graph.matmul %dy, %s {spec = "bto,btc->oc"} : (tensor<5x13x37xf32>, tensor<5x13x50xf32>) -> tensor<37x50xf32>
  graph.return %0 : tensor<37x50xf32>
}
graph.step @linear_of_slice(%x: tensor<5x15x66xf32>, %w: tensor<50x33xf32>) -> tensor<5x14x50xf32> {
  %s = graph.slice %x {offsets = array<i64: 0, 1, 33>, sizes = array<i64: 5, 14, 33>, strides = array<i64: 1, 1, 1>} : (tensor<5x15x66xf32>) -> tensor<5x14x33xf32>
  %0 = graph.matmul %s, %w {spec = "btc,oc->bto"} : (tensor<5x14x33xf32>, tensor<50x33xf32>) -> tensor<5x14x50xf32>
  graph.return %0 : tensor<5x14x50xf32>
}
// Attention without a copy: scores, what they weigh, and both as one batch of heads.
graph.step @scores(%q: tensor<2x19x3x24xf32>, %k: tensor<2x35x3x24xf32>) -> tensor<2x3x19x35xf32> {
  %0 = graph.matmul %q, %k {spec = "bthd,bshd->bhts"} : (tensor<2x19x3x24xf32>, tensor<2x35x3x24xf32>) -> tensor<2x3x19x35xf32>
  graph.return %0 : tensor<2x3x19x35xf32>
}
graph.step @scores_scaled(%q: tensor<2x19x3x8xf64>, %k: tensor<2x5x3x8xf64>, %m: tensor<19x5xf64>) -> tensor<2x3x19x5xf64> {
  %0 = graph.matmul %q, %k {spec = "bthd,bshd->bhts"} : (tensor<2x19x3x8xf64>, tensor<2x5x3x8xf64>) -> tensor<2x3x19x5xf64>
  %1 = graph.add %0, %m : (tensor<2x3x19x5xf64>, tensor<19x5xf64>) -> tensor<2x3x19x5xf64>
  graph.return %1 : tensor<2x3x19x5xf64>
}
graph.step @weighed(%p: tensor<2x3x19x35xf32>, %v: tensor<2x35x3x24xf32>) -> tensor<2x19x3x24xf32> {
  %0 = graph.matmul %p, %v {spec = "bhts,bshd->bthd"} : (tensor<2x3x19x35xf32>, tensor<2x35x3x24xf32>) -> tensor<2x19x3x24xf32>
  graph.return %0 : tensor<2x19x3x24xf32>
}
graph.step @heads(%q: tensor<4x3x17x8xf32>, %k: tensor<4x3x8x21xf32>) -> tensor<4x3x17x21xf32> {
  %0 = graph.matmul %q, %k {spec = "bhtd,bhds->bhts"} : (tensor<4x3x17x8xf32>, tensor<4x3x8x21xf32>) -> tensor<4x3x17x21xf32>
  graph.return %0 : tensor<4x3x17x21xf32>
}
graph.step @heads_of_views(%x: tensor<4x7x36xf32>) -> tensor<4x3x7x7xf32> {
  %0 = graph.reshape %x {shape = array<i64: 4, 7, 3, 12>} : (tensor<4x7x36xf32>) -> tensor<4x7x3x12xf32>
  %1 = graph.transpose %0 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<4x7x3x12xf32>) -> tensor<4x3x7x12xf32>
  %2 = graph.transpose %1 {permutation = array<i64: 0, 1, 3, 2>} : (tensor<4x3x7x12xf32>) -> tensor<4x3x12x7xf32>
  %3 = graph.matmul %1, %2 {spec = "bhtd,bhds->bhts"} : (tensor<4x3x7x12xf32>, tensor<4x3x12x7xf32>) -> tensor<4x3x7x7xf32>
  graph.return %3 : tensor<4x3x7x7xf32>
}
// Several dims of lanes, and several that are summed, neighbours or not.
graph.step @to_heads(%x: tensor<3x11x29xf32>, %w: tensor<29x3x7xf32>) -> tensor<3x11x3x7xf32> {
  %0 = graph.matmul %x, %w {spec = "btc,chd->bthd"} : (tensor<3x11x29xf32>, tensor<29x3x7xf32>) -> tensor<3x11x3x7xf32>
  graph.return %0 : tensor<3x11x3x7xf32>
}
graph.step @to_heads_apart(%x: tensor<3x11x29xf32>, %w: tensor<3x29x7xf32>) -> tensor<3x3x11x7xf32> {
  %0 = graph.matmul %x, %w {spec = "btc,hcd->bhtd"} : (tensor<3x11x29xf32>, tensor<3x29x7xf32>) -> tensor<3x3x11x7xf32>
  graph.return %0 : tensor<3x3x11x7xf32>
}
graph.step @from_heads(%x: tensor<3x11x4x9xf32>, %w: tensor<4x9x50xf32>) -> tensor<3x11x50xf32> {
  %0 = graph.matmul %x, %w {spec = "bthd,hdo->bto"} : (tensor<3x11x4x9xf32>, tensor<4x9x50xf32>) -> tensor<3x11x50xf32>
  graph.return %0 : tensor<3x11x50xf32>
}
graph.step @from_heads_apart(%x: tensor<3x4x11x9xf32>, %w: tensor<4x9x50xf32>) -> tensor<3x11x50xf32> {
  %0 = graph.matmul %x, %w {spec = "bhtd,hdo->bto"} : (tensor<3x4x11x9xf32>, tensor<4x9x50xf32>) -> tensor<3x11x50xf32>
  graph.return %0 : tensor<3x11x50xf32>
}
graph.step @from_heads_rows(%x: tensor<3x4x11x9xf32>, %w: tensor<50x4x9xf32>) -> tensor<3x11x50xf32> {
  %0 = graph.matmul %x, %w {spec = "bhtd,ohd->bto"} : (tensor<3x4x11x9xf32>, tensor<50x4x9xf32>) -> tensor<3x11x50xf32>
  graph.return %0 : tensor<3x11x50xf32>
}
graph.step @from_heads_large(%x: tensor<2x4x301x20xf32>, %w: tensor<4x20x517xf32>) -> tensor<2x301x517xf32> {
  %0 = graph.matmul %x, %w {spec = "bhtd,hdo->bto"} : (tensor<2x4x301x20xf32>, tensor<4x20x517xf32>) -> tensor<2x301x517xf32>
  graph.return %0 : tensor<2x301x517xf32>
}
// The batch is innermost: results are stored one by one.
graph.step @batch_last(%a: tensor<13x17x5xf32>, %b: tensor<5x17x21xf32>) -> tensor<13x21x5xf32> {
  %0 = graph.matmul %a, %b {spec = "mkb,bkn->mnb"} : (tensor<13x17x5xf32>, tensor<5x17x21xf32>) -> tensor<13x21x5xf32>
  graph.return %0 : tensor<13x21x5xf32>
}
graph.step @batch_last_along_k(%a: tensor<5x13x170xf64>, %b: tensor<5x21x170xf64>, %c: tensor<21x1xf64>) -> tensor<13x21x5xf64> {
  %0 = graph.matmul %a, %b {spec = "bmk,bnk->mnb"} : (tensor<5x13x170xf64>, tensor<5x21x170xf64>) -> tensor<13x21x5xf64>
  %1 = graph.add %0, %c : (tensor<13x21x5xf64>, tensor<21x1xf64>) -> tensor<13x21x5xf64>
  graph.return %1 : tensor<13x21x5xf64>
}
graph.step @columns_first(%a: tensor<13x17xf32>, %b: tensor<17x21xf32>) -> tensor<21x13xf32> {
  %0 = graph.matmul %a, %b {spec = "mk,kn->nm"} : (tensor<13x17xf32>, tensor<17x21xf32>) -> tensor<21x13xf32>
  graph.return %0 : tensor<21x13xf32>
}
// Broadcast dims are read again and not repeated.
graph.step @broadcast(%a: tensor<1x13x17xf32>, %b: tensor<6x17x21xf32>) -> tensor<6x13x21xf32> {
  %0 = graph.matmul %a, %b {spec = "Bmk,bkn->bmn"} : (tensor<1x13x17xf32>, tensor<6x17x21xf32>) -> tensor<6x13x21xf32>
  graph.return %0 : tensor<6x13x21xf32>
}
graph.step @broadcast_both(%a: tensor<3x1x13x17xf32>, %b: tensor<1x4x17x21xf32>) -> tensor<3x4x13x21xf32> {
  %0 = graph.matmul %a, %b {spec = "aBmk,Abkn->abmn"} : (tensor<3x1x13x17xf32>, tensor<1x4x17x21xf32>) -> tensor<3x4x13x21xf32>
  graph.return %0 : tensor<3x4x13x21xf32>
}
graph.step @broadcast_back(%dy: tensor<6x13x21xf32>, %b: tensor<6x17x21xf32>) -> tensor<1x13x17xf32> {
  %0 = graph.matmul %dy, %b {spec = "bmn,bkn->Bmk"} : (tensor<6x13x21xf32>, tensor<6x17x21xf32>) -> tensor<1x13x17xf32>
  graph.return %0 : tensor<1x13x17xf32>
}
// Vectors, and what is no product of matrices at all.
graph.step @vector(%x: tensor<3x11x29xf32>, %w: tensor<29xf32>) -> tensor<3x11xf32> {
  %0 = graph.matmul %x, %w {spec = "btc,c->bt"} : (tensor<3x11x29xf32>, tensor<29xf32>) -> tensor<3x11xf32>
  graph.return %0 : tensor<3x11xf32>
}
graph.step @vector_back(%dy: tensor<3x11xf32>, %x: tensor<3x11x29xf32>) -> tensor<29xf32> {
  %0 = graph.matmul %x, %dy {spec = "btc,bt->c"} : (tensor<3x11x29xf32>, tensor<3x11xf32>) -> tensor<29xf32>
  graph.return %0 : tensor<29xf32>
}
graph.step @inner(%a: tensor<333xf32>, %b: tensor<333xf32>) -> tensor<f32> {
  %0 = graph.matmul %a, %b {spec = "k,k->"} : (tensor<333xf32>, tensor<333xf32>) -> tensor<f32>
  graph.return %0 : tensor<f32>
}
graph.step @outer(%a: tensor<13xf32>, %b: tensor<21xf32>, %c: tensor<5xf32>) -> tensor<13x21x5xf32> {
  %0 = graph.matmul %a, %b {spec = "i,j->ij"} : (tensor<13xf32>, tensor<21xf32>) -> tensor<13x21xf32>
  %1 = graph.matmul %0, %c {spec = "ij,k->ijk"} : (tensor<13x21xf32>, tensor<5xf32>) -> tensor<13x21x5xf32>
  graph.return %1 : tensor<13x21x5xf32>
}
graph.step @rows_with_rows(%a: tensor<5x13x29xf32>, %b: tensor<13x5x29xf32>) -> tensor<5x13xf32> {
  %0 = graph.matmul %a, %b {spec = "abk,bak->ab"} : (tensor<5x13x29xf32>, tensor<13x5x29xf32>) -> tensor<5x13xf32>
  graph.return %0 : tensor<5x13xf32>
}
// Behind a convolution, whose images are stored innermost.
graph.step @linear_of_images(%x: tensor<16x3x6x5xf32>, %w: tensor<4x3x2x2xf32>, %v: tensor<7x4xf32>) -> tensor<16x4x5x7xf32> {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<16x3x6x5xf32>, tensor<4x3x2x2xf32>) -> tensor<16x4x5x4xf32>
  %1 = graph.matmul %0, %v {spec = "bcyx,ox->bcyo"} : (tensor<16x4x5x4xf32>, tensor<7x4xf32>) -> tensor<16x4x5x7xf32>
  graph.return %1 : tensor<16x4x5x7xf32>
}
