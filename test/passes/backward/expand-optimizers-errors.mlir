// RUN: dl-opt %s --expand-optimizers --split-input-file --verify-diagnostics

graph.step @no_scalars(%p: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // expected-error@+1 {{SGD: dampening needs the step's scalars as an argument}}
  %0:2 = graph.sgd %p, %p, %p {lr = 0.1, momentum = 0.9, dampening = 0.5} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  graph.return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

graph.step @adam_without_scalars(%p: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{Adam needs the step's scalars as an argument}}
  %0:3 = graph.adam %p, %p, %p, %p {lr = 0.1} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  graph.return %0#0 : tensor<4xf32>
}
