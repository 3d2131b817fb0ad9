// RUN: dl-opt %s --expand-gradients | FileCheck %s

// Two uses of w: their gradients are added.
// CHECK-LABEL: @two_uses
// CHECK: [[Y:%.*]] = graph.mul %arg0, %arg0
// CHECK: [[ONE:%.*]] = graph.full {type = tensor<f32>, value = 1.000000e+00 : f64}
// CHECK: [[A:%.*]] = graph.mul [[ONE]], %arg0
// CHECK: [[B:%.*]] = graph.mul [[ONE]], %arg0
// CHECK: [[SUM:%.*]] = graph.add [[A]], [[B]]
// CHECK: return [[Y]], [[SUM]]
// CHECK-NOT: graph.gradients
graph.step @two_uses(%w: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %y = graph.mul %w, %w : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %g = graph.gradients %y, %w : (tensor<f32>, tensor<f32>) -> tensor<f32>
  graph.return %y, %g : tensor<f32>, tensor<f32>
}

// Nothing is computed for x, which no one asked for, nor through a detach.
// CHECK-LABEL: @only_what_is_asked
// CHECK: graph.mul %arg0, %arg1
// CHECK: [[ONE:%.*]] = graph.full
// CHECK: [[G:%.*]] = graph.mul [[ONE]], %arg1
// CHECK-NEXT: return [[G]]
graph.step @only_what_is_asked(%w: tensor<f32>, %x: tensor<f32>) -> tensor<f32> {
  %y = graph.mul %w, %x : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %d = graph.detach %y : (tensor<f32>) -> tensor<f32>
  %z = graph.mul %d, %d : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %s = graph.add %y, %z : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %g = graph.gradients %s, %w : (tensor<f32>, tensor<f32>) -> tensor<f32>
  graph.return %g : tensor<f32>
}

// CHECK-LABEL: @second_order
// CHECK-NOT: graph.gradients
// CHECK: return
graph.step @second_order(%w: tensor<f32>) -> tensor<f32> {
  %y = graph.exp %w : (tensor<f32>) -> tensor<f32>
  %g = graph.gradients %y, %w : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %h = graph.gradients %g, %w : (tensor<f32>, tensor<f32>) -> tensor<f32>
  graph.return %h : tensor<f32>
}
