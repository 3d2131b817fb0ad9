// RUN: dl-opt %s --print-gradients --evaluate --decompose | FileCheck %s

// Both gradients come from the result.
// CHECK-LABEL: graph.step @gradient.softmax
// CHECK: [[Y:%.*]] = graph.softmax
// CHECK: graph.mul %arg1, [[Y]]
// CHECK-LABEL: graph.step @gradient.log_softmax
// CHECK: [[Y:%.*]] = graph.log_softmax
// CHECK: graph.sum %arg1
// CHECK: graph.exp [[Y]]

// CHECK: @f #0 f64 [1,2] [0.43782349911
// CHECK: @f #1 f64 [1,2] [-0.825939419879, -0.575939419879]

// CHECK-LABEL: graph.step @f
// CHECK: [[MAX:%.*]] = graph.amax %arg0 {dims = array<i64: 1>, keepdim = true}
// CHECK: [[X:%.*]] = graph.sub %arg0, [[MAX]]
// CHECK: [[E:%.*]] = graph.exp [[X]]
// CHECK: [[SUM:%.*]] = graph.sum [[E]] {dims = array<i64: 1>, keepdim = true}
// CHECK: graph.div [[E]], [[SUM]]
// CHECK: [[LOG:%.*]] = graph.log
// CHECK: graph.sub %{{.*}}, [[LOG]]
graph.step @f(%x: tensor<1x2xf64>) -> (tensor<1x2xf64>, tensor<1x2xf64>) {
  %0 = graph.softmax %x {dim = 1} : (tensor<1x2xf64>) -> tensor<1x2xf64>
  %1 = graph.log_softmax %x {dim = 1} : (tensor<1x2xf64>) -> tensor<1x2xf64>
  graph.return %0, %1 : tensor<1x2xf64>, tensor<1x2xf64>
}
