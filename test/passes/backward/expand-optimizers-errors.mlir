// RUN: dl-opt %s --expand-optimizers --verify-diagnostics

func.func @no_scalars(%p: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // expected-error@+1 {{SGD: dampening needs the step's scalars as an argument}}
  %0:2 = graph.sgd %p, %p, %p {lr = 0.1, momentum = 0.9, dampening = 0.5} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}
