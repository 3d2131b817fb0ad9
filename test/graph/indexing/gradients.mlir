// RUN: dl-opt %s --print-gradients --no-output | FileCheck %s

// Each is the other's transpose.
// CHECK-LABEL: graph.step @gradient.gather
// CHECK: graph.scatter_add %arg1, %arg2 {dim = 0 : i64, size = 6 : i64}
graph.step @gather(%x: tensor<6x4xf32>, %i: tensor<5x1xi64>) {
  %0 = graph.gather %x, %i {dim = 0} : (tensor<6x4xf32>, tensor<5x1xi64>) -> tensor<5x4xf32>
  graph.return
}

// Equal maxima share it.
// CHECK-LABEL: graph.step @gradient.scatter_amax
// CHECK: %[[MOST:.*]] = graph.gather %{{.*}}, %arg0 {dim = 0 : i64}
// CHECK: %[[IS:.*]] = graph.eq %arg1, %[[MOST]]
// CHECK: %[[ONES:.*]] = graph.cast %[[IS]]
// CHECK: graph.scatter_add %arg0, %[[ONES]] {dim = 0 : i64, size = 6 : i64}
// CHECK: graph.div
// CHECK: graph.select %[[IS]]
graph.step @scatter_amax(%i: tensor<5x1xi64>, %x: tensor<5x4xf32>) {
  %0 = graph.scatter_amax %i, %x {dim = 0, size = 6} : (tensor<5x1xi64>, tensor<5x4xf32>) -> tensor<6x4xf32>
  graph.return
}

// CHECK-LABEL: graph.step @gradient.scatter_add
// CHECK: graph.gather %arg2, %arg0 {dim = 0 : i64}
graph.step @scatter_add(%i: tensor<5x1xi64>, %x: tensor<5x4xf32>) {
  %0 = graph.scatter_add %i, %x {dim = 0, size = 6} : (tensor<5x1xi64>, tensor<5x4xf32>) -> tensor<6x4xf32>
  graph.return
}
