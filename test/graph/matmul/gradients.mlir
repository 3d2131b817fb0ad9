// RUN: dl-opt %s --print-gradients --no-output | FileCheck %s

// CHECK-LABEL: func.func @gradient.matmul
// CHECK: graph.matmul %arg2, %arg1 {transpose_b = true}
// CHECK: graph.matmul %arg0, %arg2 {transpose_a = true}
func.func @plain(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) {
  %0 = graph.matmul %a, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}

// The weight's gradient has the weight's order: no transpose follows.
// CHECK-LABEL: func.func @gradient.linear
// CHECK: [[DY:%.*]] = graph.reshape %arg2 {shape = array<i64: 6, 5>}
// CHECK: graph.matmul [[DY]], %arg1 :
// CHECK: [[X:%.*]] = graph.reshape %arg0 {shape = array<i64: 6, 4>}
// CHECK: graph.matmul [[DY]], [[X]] {transpose_a = true} {{.*}} -> tensor<5x4xf32>
func.func @linear(%x: tensor<2x3x4xf32>, %w: tensor<5x4xf32>) {
  %0 = graph.linear %x, %w : (tensor<2x3x4xf32>, tensor<5x4xf32>) -> tensor<2x3x5xf32>
  return
}
