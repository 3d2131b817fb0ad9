// RUN: dl-opt %s --decompose --verify-backward | FileCheck %s

// What has no loop nest is written with ops that have one.
// CHECK-LABEL: @softmax
// CHECK: graph.amax
// CHECK: graph.exp
// CHECK: [[SUM:%.*]] = graph.sum
// CHECK: graph.div {{.*}}, [[SUM]]
// CHECK-NOT: graph.softmax
graph.step @softmax(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = graph.softmax %x {dim = 1} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  graph.return %0 : tensor<2x3xf32>
}
