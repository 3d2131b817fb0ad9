// RUN: dl-opt %s --print-costs --no-output | FileCheck %s

// A product counts two operations for each step.
// CHECK: graph.matmul flops 48
// CHECK-NEXT: graph.transpose flops 0
graph.step @f(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>) -> tensor<4x2xf32> {
  %0 = graph.matmul %x, %y {spec = "mk,kn->mn"} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %1 = graph.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<2x4xf32>) -> tensor<4x2xf32>
  graph.return %1 : tensor<4x2xf32>
}
