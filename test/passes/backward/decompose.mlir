// RUN: dl-opt %s --decompose --verify-backward | FileCheck %s

// A linear layer on vectors is a product of matrices.
// CHECK-LABEL: @linear
// CHECK: [[X:%.*]] = graph.reshape %arg0 {shape = array<i64: 6, 4>}
// CHECK: [[Y:%.*]] = graph.matmul [[X]], %arg1 {transpose_b = true}
// CHECK: graph.reshape [[Y]] {shape = array<i64: 2, 3, 5>}
func.func @linear(%x: tensor<2x3x4xf32>, %w: tensor<5x4xf32>) -> tensor<2x3x5xf32> {
  %0 = graph.linear %x, %w : (tensor<2x3x4xf32>, tensor<5x4xf32>) -> tensor<2x3x5xf32>
  return %0 : tensor<2x3x5xf32>
}
