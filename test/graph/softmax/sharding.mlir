// RUN: dl-opt %s --print-sharding-rules --no-output | FileCheck %s
// RUN: dl-opt %s --decompose --print-sharding-rules --no-output | FileCheck %s --check-prefix=PARTS

// CHECK: graph.softmax ([i, j]) -> ([i, j]) i=4 j=6:blocked(normalised)

// Decomposed, the dim can be split: a maximum and a sum become partial.
// PARTS: graph.amax ([i, j]) -> ([i, 1]) i=4 j=6:max through 0: max
// PARTS-NEXT: graph.sub ([i, j], [i, 1]) -> ([i, j]) i=4 j=6
// PARTS-NEXT: graph.exp
// PARTS-NEXT: graph.sum ([i, j]) -> ([i, 1]) i=4 j=6:sum through 0: sum
// PARTS-NEXT: graph.div ([i, j], [i, 1]) -> ([i, j]) i=4 j=6 through 0: sum
graph.step @f(%x: tensor<4x6xf64>) -> tensor<4x6xf64> {
  %0 = graph.softmax %x {dim = 1} : (tensor<4x6xf64>) -> tensor<4x6xf64>
  graph.return %0 : tensor<4x6xf64>
}
