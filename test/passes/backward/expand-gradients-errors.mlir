// RUN: dl-opt %s --expand-gradients --split-input-file --verify-diagnostics

graph.state @"fc1.bias" {type = tensor<f32>, role = "parameter"}
graph.state @"fc1.weight" {type = tensor<f32>, role = "parameter"}
graph.step @independent(%v: tensor<f32> state @"fc1.bias", %w: tensor<f32> state @"fc1.weight") -> tensor<f32> {
  %y = graph.exp %v : (tensor<f32>) -> tensor<f32>
  // expected-error@+1 {{backward: the loss does not depend on 'fc1.weight'}}
  %g = graph.gradients %y, %w : (tensor<f32>, tensor<f32>) -> tensor<f32>
  graph.return %g : tensor<f32>
}

// -----

graph.state @w {type = tensor<f32>, role = "parameter"}
graph.step @detached(%w: tensor<f32> state @w) -> tensor<f32> {
  %d = graph.detach %w : (tensor<f32>) -> tensor<f32>
  %y = graph.exp %d : (tensor<f32>) -> tensor<f32>
  // expected-error@+1 {{backward: the loss does not depend on 'w'}}
  %g = graph.gradients %y, %w : (tensor<f32>, tensor<f32>) -> tensor<f32>
  graph.return %g : tensor<f32>
}

// -----

graph.state @w {type = tensor<1x1x1x1xf32>, role = "parameter"}
graph.step @no_gradient(%dy: tensor<1x1x1x1xf32> state @w, %i: tensor<1x1x1x1xui8>) -> tensor<1x1x1x1xf32> {
  // expected-error@+1 {{backward: max_pool2d_grad has no gradient}}
  %0 = graph.max_pool2d_grad %dy, %i {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>, input_shape = array<i64: 1, 1, 2, 2>} : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xui8>) -> tensor<1x1x2x2xf32>
  %y = graph.sum %0 {dims = array<i64: 0, 1, 2, 3>} : (tensor<1x1x2x2xf32>) -> tensor<f32>
  %g = graph.gradients %y, %dy : (tensor<f32>, tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
  graph.return %g : tensor<1x1x1x1xf32>
}
