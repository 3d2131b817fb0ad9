// Products of one row with a matrix whose rows are far apart, in blocks of 16 k: lanes that are no multiple of anything,
// more than wait together, batches, epilogues, rows that are computed before.

graph.step @rest(%a: tensor<1x70xf32>, %b: tensor<70x333xf32>) -> tensor<1x333xf32> {
  %0 = "graph.matmul"(%a, %b) {spec = "mk,kn->mn"} : (tensor<1x70xf32>, tensor<70x333xf32>) -> tensor<1x333xf32>
  graph.return %0 : tensor<1x333xf32>
}
graph.step @vector(%a: tensor<96xf32>, %b: tensor<96x640xf32>) -> tensor<640xf32> {
  %0 = "graph.matmul"(%a, %b) {spec = "k,kn->n"} : (tensor<96xf32>, tensor<96x640xf32>) -> tensor<640xf32>
  graph.return %0 : tensor<640xf32>
}
graph.step @more_than_wait(%a: tensor<1x40xf32>, %b: tensor<40x9001xf32>) -> tensor<1x9001xf32> {
  %0 = "graph.matmul"(%a, %b) {spec = "mk,kn->mn"} : (tensor<1x40xf32>, tensor<40x9001xf32>) -> tensor<1x9001xf32>
  graph.return %0 : tensor<1x9001xf32>
}
graph.step @double(%a: tensor<1x45xf64>, %b: tensor<45x210xf64>) -> tensor<1x210xf64> {
  %0 = "graph.matmul"(%a, %b) {spec = "mk,kn->mn"} : (tensor<1x45xf64>, tensor<45x210xf64>) -> tensor<1x210xf64>
  graph.return %0 : tensor<1x210xf64>
}
graph.step @heads(%a: tensor<3x4x1x50xf32>, %b: tensor<3x4x50x200xf32>) -> tensor<3x4x1x200xf32> {
  %0 = "graph.matmul"(%a, %b) {spec = "abmk,abkn->abmn"} : (tensor<3x4x1x50xf32>, tensor<3x4x50x200xf32>) -> tensor<3x4x1x200xf32>
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
