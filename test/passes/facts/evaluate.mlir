// RUN: dl-opt %s --evaluate --no-output | FileCheck %s

// CHECK: @f #0 f64 [2] [-0.25, -0.5]
graph.step @f(%x: tensor<2xf64>) -> tensor<2xf64> {
  %0 = graph.neg %x : (tensor<2xf64>) -> tensor<2xf64>
  graph.return %0 : tensor<2xf64>
}
