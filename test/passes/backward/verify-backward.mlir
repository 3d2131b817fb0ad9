// RUN: dl-opt %s --verify-backward --split-input-file --verify-diagnostics

graph.step @gradients(%w: tensor<f32>) -> tensor<f32> {
  // expected-error@+1 {{'graph.gradients' may not remain after the backward phase}}
  %g = graph.gradients %w, %w : (tensor<f32>, tensor<f32>) -> tensor<f32>
  graph.return %g : tensor<f32>
}

// -----

graph.step @optimizer(%p: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'graph.sgd' may not remain after the backward phase}}
  %0 = graph.sgd %p, %p {lr = 0.1} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  graph.return %0 : tensor<4xf32>
}

// -----

graph.step @composite(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'graph.softmax' may not remain after the backward phase}}
  %0 = graph.softmax %x {dim = 0} : (tensor<4xf32>) -> tensor<4xf32>
  graph.return %0 : tensor<4xf32>
}

// -----

graph.step @padded(%x: tensor<1x1x4x4xf32>, %w: tensor<1x1x3x3xf32>) -> tensor<1x1x4x4xf32> {
  // expected-error@+1 {{'graph.conv2d' is not in the simple form that has a loop nest}}
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<1x1x4x4xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x4x4xf32>
  graph.return %0 : tensor<1x1x4x4xf32>
}
