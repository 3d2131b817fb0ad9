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

// A stationary detach is a constant to the gradient, and none in what the gradient is made of: there a copy reads %x.
// CHECK-LABEL: graph.step @stationary
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>
// CHECK: %[[D:.*]] = graph.sub %[[X]], %[[X]]
// CHECK: %[[COPY:.*]] = graph.sub %[[X]], %[[X]]
// CHECK: graph.mul %{{.*}}, %[[COPY]]
// CHECK-NOT: graph.mul %{{.*}}, %[[D]]
// CHECK: graph.return
graph.step @stationary(%x: tensor<4xf32>) -> tensor<4xf32> {
  %m = graph.detach %x {stationary = true} : (tensor<4xf32>) -> tensor<4xf32>
  %d = graph.sub %x, %m : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %e = graph.mul %d, %d : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = graph.sum %e {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  %g = graph.gradients %y, %x {within_step = true} : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  graph.return %g : tensor<4xf32>
}

// What the outputs depend on through a mask alone, or not at all: zeros.
// CHECK-LABEL: @through_a_mask
// CHECK: graph.sum
// CHECK: [[ZEROS:%.*]] = graph.full {type = tensor<4xf32>, value = 0.0
// CHECK: graph.return [[ZEROS]]
graph.step @through_a_mask(%x: tensor<4xf32>, %g: tensor<4xf32>) -> tensor<4xf32> {
  %zero = graph.full {type = tensor<4xf32>, value = 0.0} : () -> tensor<4xf32>
  %mask = graph.gt %x, %zero : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %kept = graph.select %mask, %g, %zero : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = graph.sum %kept {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  %dx = graph.gradients %y, %x {within_step = true} : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  graph.return %dx : tensor<4xf32>
}
