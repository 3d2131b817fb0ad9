// RUN: dl-opt %s --print-gradients --no-output | FileCheck %s

// CHECK-LABEL: graph.step @gradient.sum
// CHECK: [[KEPT:%.*]] = graph.reshape %arg1 {shape = array<i64: 2, 1>}
// CHECK: graph.expand [[KEPT]] {shape = array<i64: 2, 3>}
graph.step @sum(%x: tensor<2x3xf32>) {
  %0 = graph.sum %x {dims = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
  graph.return
}

// Equal maxima share.
// CHECK-LABEL: graph.step @gradient.amax
// CHECK: [[IS:%.*]] = graph.eq %arg0
// CHECK: [[ONES:%.*]] = graph.cast [[IS]]
// CHECK: [[COUNT:%.*]] = graph.sum [[ONES]]
// CHECK: graph.div %{{.*}}, [[COUNT]]
graph.step @amax(%x: tensor<2x3xf32>) {
  %0 = graph.amax %x {dims = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
  graph.return
}

// To the index alone.
// CHECK-LABEL: graph.step @gradient.max
// CHECK: %{{.*}}, [[INDICES:%.*]] = graph.max
// CHECK: graph.iota
// CHECK: graph.reshape [[INDICES]]
// CHECK: graph.eq
graph.step @max(%x: tensor<2x3xf32>) {
  %0:2 = graph.max %x {dim = 1} : (tensor<2x3xf32>) -> (tensor<2xf32>, tensor<2xi64>)
  graph.return
}
