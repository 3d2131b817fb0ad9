// Products of one row with a matrix whose rows are far apart, in blocks of 32 k: lanes that are no multiple of anything,
// more than wait together, batches, epilogues, rows that are computed before.

graph.step @rest(%a: tensor<1x70xf32>, %b: tensor<70x333xf32>) -> tensor<1x333xf32> {
  %0 = "graph.matmul"(%a, %b) {spec = "mk,kn->mn"} : (tensor<1x70xf32>, tensor<70x333xf32>) -> tensor<1x333xf32>
  graph.return %0 : tensor<1x333xf32>
}
graph.step @vector(%a: tensor<96xf32>, %b: tensor<96x640xf32>) -> tensor<640xf32> {
  %0 = "graph.matmul"(%a, %b) {spec = "k,kn->n"} : (tensor<96xf32>, tensor<96x640xf32>) -> tensor<640xf32>
  graph.return %0 : tensor<640xf32>
}
graph.step @more_than_wait(%a: tensor<1x72xf32>, %b: tensor<72x9001xf32>) -> tensor<1x9001xf32> {
  %0 = "graph.matmul"(%a, %b) {spec = "mk,kn->mn"} : (tensor<1x72xf32>, tensor<72x9001xf32>) -> tensor<1x9001xf32>
  graph.return %0 : tensor<1x9001xf32>
}
graph.step @double(%a: tensor<1x75xf64>, %b: tensor<75x210xf64>) -> tensor<1x210xf64> {
  %0 = "graph.matmul"(%a, %b) {spec = "mk,kn->mn"} : (tensor<1x75xf64>, tensor<75x210xf64>) -> tensor<1x210xf64>
  graph.return %0 : tensor<1x210xf64>
}
graph.step @heads(%a: tensor<3x4x1x66xf32>, %b: tensor<3x4x66x200xf32>) -> tensor<3x4x1x200xf32> {
  %0 = "graph.matmul"(%a, %b) {spec = "abmk,abkn->abmn"} : (tensor<3x4x1x66xf32>, tensor<3x4x66x200xf32>) -> tensor<3x4x1x200xf32>
  graph.return %0 : tensor<3x4x1x200xf32>
}
graph.step @epilogue(%a: tensor<1x64xf32>, %b: tensor<64x300xf32>, %c: tensor<300xf32>, %r: tensor<1x300xf32>) -> tensor<1x300xf32> {
  %0 = "graph.matmul"(%a, %b) {spec = "mk,kn->mn"} : (tensor<1x64xf32>, tensor<64x300xf32>) -> tensor<1x300xf32>
  %1 = "graph.add"(%0, %c) : (tensor<1x300xf32>, tensor<300xf32>) -> tensor<1x300xf32>
  %2 = "graph.tanh"(%1) : (tensor<1x300xf32>) -> tensor<1x300xf32>
  %3 = "graph.add"(%2, %r) : (tensor<1x300xf32>, tensor<1x300xf32>) -> tensor<1x300xf32>
  graph.return %3 : tensor<1x300xf32>
}
graph.step @computed_row(%a: tensor<1x64xf32>, %g: tensor<64xf32>, %b: tensor<64x300xf32>) -> tensor<1x300xf32> {
  %0 = "graph.mul"(%a, %g) : (tensor<1x64xf32>, tensor<64xf32>) -> tensor<1x64xf32>
  %1 = "graph.exp"(%0) : (tensor<1x64xf32>) -> tensor<1x64xf32>
  %2 = "graph.matmul"(%1, %b) {spec = "mk,kn->mn"} : (tensor<1x64xf32>, tensor<64x300xf32>) -> tensor<1x300xf32>
  graph.return %2 : tensor<1x300xf32>
}
graph.step @two_results(%a: tensor<1x64xf32>, %b: tensor<64x300xf32>) -> (tensor<1x300xf32>, tensor<1x300xi1>) {
  %0 = "graph.matmul"(%a, %b) {spec = "mk,kn->mn"} : (tensor<1x64xf32>, tensor<64x300xf32>) -> tensor<1x300xf32>
  %1 = "graph.full"() {type = tensor<f32>, value = 0.0 : f64} : () -> tensor<f32>
  %2 = "graph.gt"(%0, %1) : (tensor<1x300xf32>, tensor<f32>) -> tensor<1x300xi1>
  graph.return %0, %2 : tensor<1x300xf32>, tensor<1x300xi1>
}
graph.step @chosen_matrix(%a: tensor<1x64xf32>, %m: tensor<1x256xi1>, %c: tensor<64x1xf32>, %b: tensor<64x256xf32>) -> (tensor<1x256xf32>, tensor<64x256xf32>) {
  %0 = "graph.select"(%m, %c, %b) : (tensor<1x256xi1>, tensor<64x1xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
  %1 = "graph.matmul"(%a, %0) {spec = "mk,kn->mn"} : (tensor<1x64xf32>, tensor<64x256xf32>) -> tensor<1x256xf32>
  graph.return %1, %0 : tensor<1x256xf32>, tensor<64x256xf32>
}
graph.step @within(%a: tensor<1x64xf32>, %b: tensor<80x500xf32>) -> tensor<1x300xf32> {
  %0 = "graph.slice"(%b) {offsets = array<i64: 9, 101>, sizes = array<i64: 64, 300>, strides = array<i64: 1, 1>} : (tensor<80x500xf32>) -> tensor<64x300xf32>
  %1 = "graph.matmul"(%a, %0) {spec = "mk,kn->mn"} : (tensor<1x64xf32>, tensor<64x300xf32>) -> tensor<1x300xf32>
  graph.return %1 : tensor<1x300xf32>
}
// Of numbers that are stored as bf16, and widened on the way: as blocks, as lanes of which there are few, and along k.
graph.step @stored(%a: tensor<1x70xf32>, %b: tensor<70x333xbf16>, %c: tensor<333xf32>) -> tensor<1x333xf32> {
  %w = "graph.cast"(%b) {to = f32} : (tensor<70x333xbf16>) -> tensor<70x333xf32>
  %0 = "graph.matmul"(%a, %w) {spec = "mk,kn->mn"} : (tensor<1x70xf32>, tensor<70x333xf32>) -> tensor<1x333xf32>
  %1 = "graph.add"(%0, %c) : (tensor<1x333xf32>, tensor<333xf32>) -> tensor<1x333xf32>
  graph.return %1 : tensor<1x333xf32>
}
graph.step @stored_and_rounded(%a: tensor<1x70xf32>, %b: tensor<70x333xbf16>) -> tensor<1x333xf32> {
  %r = "graph.cast"(%a) {to = bf16} : (tensor<1x70xf32>) -> tensor<1x70xbf16>
  %x = "graph.cast"(%r) {to = f32} : (tensor<1x70xbf16>) -> tensor<1x70xf32>
  %w = "graph.cast"(%b) {to = f32} : (tensor<70x333xbf16>) -> tensor<70x333xf32>
  %0 = "graph.matmul"(%x, %w) {spec = "mk,kn->mn"} : (tensor<1x70xf32>, tensor<70x333xf32>) -> tensor<1x333xf32>
  graph.return %0 : tensor<1x333xf32>
}
graph.step @few_stored(%a: tensor<3x1x19xf32>, %b: tensor<3x19x37xbf16>) -> tensor<3x1x37xf32> {
  %w = "graph.cast"(%b) {to = f32} : (tensor<3x19x37xbf16>) -> tensor<3x19x37xf32>
  %0 = "graph.matmul"(%a, %w) {spec = "bmk,bkn->bmn"} : (tensor<3x1x19xf32>, tensor<3x19x37xf32>) -> tensor<3x1x37xf32>
  graph.return %0 : tensor<3x1x37xf32>
}
graph.step @stored_along_k(%a: tensor<1x115xf32>, %b: tensor<77x115xbf16>) -> tensor<1x77xf32> {
  %r = "graph.cast"(%a) {to = bf16} : (tensor<1x115xf32>) -> tensor<1x115xbf16>
  %x = "graph.cast"(%r) {to = f32} : (tensor<1x115xbf16>) -> tensor<1x115xf32>
  %w = "graph.cast"(%b) {to = f32} : (tensor<77x115xbf16>) -> tensor<77x115xf32>
  %0 = "graph.matmul"(%x, %w) {spec = "mk,nk->mn"} : (tensor<1x115xf32>, tensor<77x115xf32>) -> tensor<1x77xf32>
  graph.return %0 : tensor<1x77xf32>
}
graph.step @stored_heads(%a: tensor<2x3x1x64xf32>, %b: tensor<2x3x50x64xbf16>) -> tensor<2x3x1x50xf32> {
  %w = "graph.cast"(%b) {to = f32} : (tensor<2x3x50x64xbf16>) -> tensor<2x3x50x64xf32>
  %0 = "graph.matmul"(%a, %w) {spec = "abmk,abnk->abmn"} : (tensor<2x3x1x64xf32>, tensor<2x3x50x64xf32>) -> tensor<2x3x1x50xf32>
  graph.return %0 : tensor<2x3x1x50xf32>
}
graph.step @stored_for_two(%a: tensor<2x70xf32>, %b: tensor<70x333xbf16>) -> tensor<2x333xf32> {
  %w = "graph.cast"(%b) {to = f32} : (tensor<70x333xbf16>) -> tensor<70x333xf32>
  %0 = "graph.matmul"(%a, %w) {spec = "mk,kn->mn"} : (tensor<2x70xf32>, tensor<70x333xf32>) -> tensor<2x333xf32>
  graph.return %0 : tensor<2x333xf32>
}
