// RUN: dl-opt %s --expand-gradients --split-input-file --verify-diagnostics

graph.state @"fc1.bias" {type = tensor<f32>, role = "parameter"}
graph.state @"fc1.weight" {type = tensor<f32>, role = "parameter"}
graph.step @independent(%v: tensor<f32> state @"fc1.bias", %w: tensor<f32> state @"fc1.weight") -> tensor<f32> {
  %y = graph.exp %v : (tensor<f32>) -> tensor<f32>
  // expected-warning@+1 {{backward: 'fc1.weight' gets no gradient here: the loss does not depend on it}}
  %g = graph.gradients %y, %w : (tensor<f32>, tensor<f32>) -> tensor<f32>
  graph.return %g : tensor<f32>
}

// -----

graph.state @w {type = tensor<f32>, role = "parameter"}
graph.step @detached(%w: tensor<f32> state @w) -> tensor<f32> {
  %d = graph.detach %w : (tensor<f32>) -> tensor<f32>
  %y = graph.exp %d : (tensor<f32>) -> tensor<f32>
  // expected-warning@+1 {{backward: 'w' gets no gradient here: the loss does not depend on it}}
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

// -----

// What there is no gradient of stays as it is, and so does what is remembered of it.
graph.state @v {type = tensor<4xf32>, role = "parameter"}
graph.state @w {type = tensor<4xf32>, role = "parameter"}
graph.state @m {type = tensor<4xf32>, role = "parameter"}
graph.step @left_alone(%v: tensor<4xf32> state @v, %w: tensor<4xf32> state @w, %m: tensor<4xf32> state @m, %c: tensor<f32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %e = graph.exp %v : (tensor<4xf32>) -> tensor<4xf32>
  %y = graph.sum %e {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  // expected-warning@+1 {{backward: 'w' gets no gradient here: the loss does not depend on it}}
  %g:2 = graph.gradients %y, %v, %w : (tensor<f32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %clipped = graph.mul %g#1, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %0:2 = graph.sgd %w, %clipped, %m {lr = 0.1, momentum = 0.9} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %1 = graph.sgd %v, %g#0 {lr = 0.1} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  graph.return %0#0, %0#1, %1, %clipped : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
