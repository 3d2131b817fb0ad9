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

graph.state @w {type = tensor<4xf32>, role = "parameter"}
graph.step @no_gradient(%w: tensor<4xf32> state @w) -> tensor<4xf32> {
  // expected-error@+1 {{backward: sgd has no gradient}}
  %0:2 = graph.sgd %w, %w, %w {lr = 0.1, momentum = 0.9} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %y = graph.sum %0#0 {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  %g = graph.gradients %y, %w : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  graph.return %g : tensor<4xf32>
}
