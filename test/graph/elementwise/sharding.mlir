// RUN: dl-opt %s --print-sharding-rules --no-output | FileCheck %s

// CHECK-LABEL: graph.exp ([i, j]) -> ([i, j]) i=2 j=3 through 0: max
// CHECK-NEXT: graph.neg ([i, j]) -> ([i, j]) i=2 j=3 through 0: sum
// What is broadcast is whole on every part.
// CHECK-NEXT: graph.mul ([i, j], [1, j]) -> ([i, j]) i=2 j=3 through 0: sum, 1: sum
// Both must be partial sums, or one a partial maximum.
// CHECK-NEXT: graph.add ([i, j], [j]) -> ([i, j]) i=2 j=3 through 0: max, 1: max, 0+1: sum
// CHECK-NEXT: graph.div ([i, j], []) -> ([i, j]) i=2 j=3 through 0: sum
// CHECK-NEXT: graph.maximum ([i, j], [i, j]) -> ([i, j]) i=2 j=3 through 0: max, 1: max, 0+1: max
// CHECK-NEXT: graph.gt ([i, j], [i, j]) -> ([i, j]) i=2 j=3{{$}}
// CHECK-NEXT: graph.select ([i, j], [i, j], [i, j]) -> ([i, j]) i=2 j=3 through 1: max, 2: max, 1+2: sum, 1+2: max
// CHECK-NEXT: graph.cast ([i, j]) -> ([i, j]) i=2 j=3 through 0: sum, 0: max
graph.step @f(%x: tensor<2x3xf64>, %row: tensor<1x3xf64>, %last: tensor<3xf64>, %s: tensor<f64>) {
  %0 = graph.exp %x : (tensor<2x3xf64>) -> tensor<2x3xf64>
  %1 = graph.neg %0 : (tensor<2x3xf64>) -> tensor<2x3xf64>
  %2 = graph.mul %1, %row : (tensor<2x3xf64>, tensor<1x3xf64>) -> tensor<2x3xf64>
  %3 = graph.add %2, %last : (tensor<2x3xf64>, tensor<3xf64>) -> tensor<2x3xf64>
  %4 = graph.div %3, %s : (tensor<2x3xf64>, tensor<f64>) -> tensor<2x3xf64>
  %5 = graph.maximum %3, %4 : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
  %6 = graph.gt %3, %5 : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xi1>
  %7 = graph.select %6, %3, %5 : (tensor<2x3xi1>, tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
  %8 = graph.cast %7 {to = f32} : (tensor<2x3xf64>) -> tensor<2x3xf32>
  graph.return
}
