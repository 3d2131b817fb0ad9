// RUN: dl-opt %s --print-sharding-rules=shards=3 --no-output | FileCheck %s

// CHECK-LABEL: graph.sum ([j, i, k]) -> ([i]) i=3 j=2:sum k=4:sum through 0: sum
// A part without elements adds nothing.
// CHECK: factor 2 part 2 of 3:
// CHECK-NEXT: graph.full {type = tensor<3xf64>, value = 0.000000e+00 : f64}
// CHECK-LABEL: graph.amax ([i, j, k]) -> ([i, j, 1]) i=2 j=3 k=4:max through 0: max
// CHECK: factor 2 part 2 of 3:
// CHECK-NEXT: graph.full {type = tensor<2x3x1xf64>, value = 0xFFF0000000000000 : f64}
// Values and positions would have to be merged together.
// CHECK-LABEL: graph.max ([i, j, k]) -> ([i, j], [i, j]) i=2 j=3 k=4:blocked(index merge)
// CHECK-LABEL: graph.argmax ([k, i, j]) -> ([i, j]) i=3 j=4 k=2:blocked(index merge)
graph.step @f(%x: tensor<2x3x4xf64>) {
  %0 = graph.sum %x {dims = array<i64: 0, 2>} : (tensor<2x3x4xf64>) -> tensor<3xf64>
  %1 = graph.amax %x {dims = array<i64: 2>, keepdim = true} : (tensor<2x3x4xf64>) -> tensor<2x3x1xf64>
  %2, %3 = graph.max %x {dim = 2} : (tensor<2x3x4xf64>) -> (tensor<2x3xf64>, tensor<2x3xi64>)
  %4 = graph.argmax %x {dim = 0} : (tensor<2x3x4xf64>) -> tensor<3x4xi64>
  graph.return
}
