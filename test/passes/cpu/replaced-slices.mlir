// RUN: dl-opt %s --form-kernels --annotate-kernels 2>/dev/null | FileCheck %s

// A slice of a state is read once and written where it belongs: 8 bytes of the index, and 3 times 64 of the slice. What is no
// state is copied: the slice, and twice the whole.
graph.state @cache {init = {a = 0.0, b = 0.0, key = 0 : i64, kind = "zero"}, role = "cache", type = tensor<1000x16xf32>}
// CHECK-LABEL: graph.step @in_place
// CHECK: bytes = 200 : i64
graph.step @in_place(%i: tensor<1xi64>, %s: tensor<1x16xf32>, %x: tensor<1000x16xf32> state @cache) -> (tensor<1000x16xf32> state @cache) {
  %0 = graph.update_slice %i, %s, %x {dim = 0 : i64} : (tensor<1xi64>, tensor<1x16xf32>, tensor<1000x16xf32>) -> tensor<1000x16xf32>
  graph.return %0 : tensor<1000x16xf32>
}
// CHECK-LABEL: graph.step @copied
// CHECK: bytes = 128072 : i64
graph.step @copied(%i: tensor<1xi64>, %s: tensor<1x16xf32>, %x: tensor<1000x16xf32>) -> tensor<1000x16xf32> {
  %0 = graph.update_slice %i, %s, %x {dim = 0 : i64} : (tensor<1xi64>, tensor<1x16xf32>, tensor<1000x16xf32>) -> tensor<1000x16xf32>
  graph.return %0 : tensor<1000x16xf32>
}
