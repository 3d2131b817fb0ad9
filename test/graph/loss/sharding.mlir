// RUN: dl-opt %s --print-sharding-rules --no-output | FileCheck %s
// RUN: dl-opt %s --decompose --print-sharding-rules --no-output | FileCheck %s --check-prefix=PARTS

// CHECK: graph.nll_loss ([i, j], [i]) -> ([]) i=6:sum j=4:blocked(index in payload) through 0: sum
// CHECK-NEXT: graph.nll_loss ([i, j], [i]) -> ([]) i=6:blocked(normalised) j=4:blocked(index in payload) through 0: sum
// CHECK-NEXT: graph.index_check ([i]) -> ([]) i=6:max{{$}}

// Decomposed, classes can be split too: they are counted by an iota.
// PARTS: graph.iota () -> ([1, i]) i=4
// PARTS: graph.eq ([1, j], [i, 1]) -> ([i, j]) i=6 j=4
graph.step @f(%x: tensor<6x4xf64>, %t: tensor<6xi64>) {
  %0 = graph.nll_loss %x, %t {reduction = "sum"} : (tensor<6x4xf64>, tensor<6xi64>) -> tensor<f64>
  %1 = graph.nll_loss %x, %t : (tensor<6x4xf64>, tensor<6xi64>) -> tensor<f64>
  %2 = graph.index_check %t {bound = 4} : (tensor<6xi64>) -> tensor<i32>
  graph.return
}
