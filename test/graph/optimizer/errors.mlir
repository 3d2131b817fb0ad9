// RUN: dl-opt %s --split-input-file --verify-diagnostics

// The second error of each is from the verifier; the front end shows the first.

graph.step @rate(%p: tensor<4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{SGD: lr must not be negative, got -1}}
  %0 = graph.sgd %p, %p {lr = -1.0} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  graph.return
}

// -----

graph.step @rate_is_nan(%p: tensor<4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{SGD: lr is not a number}}
  %0 = graph.sgd %p, %p {lr = 0x7FF8000000000000 : f64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  graph.return
}

// -----

graph.step @momentum(%p: tensor<4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{SGD: momentum must not be negative, got -0.5}}
  %0:2 = graph.sgd %p, %p, %p {lr = 1.0, momentum = -0.5} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  graph.return
}

// -----

graph.step @decay(%p: tensor<4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{SGD: weight_decay must not be negative, got -0.5}}
  %0 = graph.sgd %p, %p {lr = 1.0, weight_decay = -0.5} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  graph.return
}

// -----

graph.step @nesterov(%p: tensor<4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{SGD: nesterov needs a momentum and no dampening}}
  %0 = graph.sgd %p, %p {lr = 1.0, nesterov = true} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  graph.return
}

// -----

graph.step @buffer(%p: tensor<4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{SGD: a momentum buffer goes with a momentum, and only with it}}
  %0 = graph.sgd %p, %p {lr = 1.0, momentum = 0.9} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  graph.return
}

// -----

graph.step @buffer_type(%p: tensor<4xf32>, %b: tensor<3xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{SGD: the momentum buffer is f32 [3], the parameter f32 [4]}}
  %0:2 = graph.sgd %p, %p, %b {lr = 1.0, momentum = 0.9} : (tensor<4xf32>, tensor<4xf32>, tensor<3xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  graph.return
}

// -----

graph.step @gradient(%p: tensor<4xf32>, %g: tensor<3xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{SGD: the gradient is f32 [3], the parameter f32 [4]}}
  %0 = graph.sgd %p, %g {lr = 1.0} : (tensor<4xf32>, tensor<3xf32>) -> tensor<4xf32>
  graph.return
}

// -----

graph.step @adam_eps(%p: tensor<4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{Adam: eps must not be negative, got -1}}
  %0:3 = graph.adam %p, %p, %p, %p {lr = 1.0, eps = -1.0} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  graph.return
}

// -----

graph.step @adam_beta(%p: tensor<4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{Adam: beta2 must be below 1, got 1}}
  %0:3 = graph.adam %p, %p, %p, %p {lr = 1.0, beta2 = 1.0} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  graph.return
}

// -----

graph.step @adamw_beta(%p: tensor<4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{AdamW: beta1 must not be negative, got -0.5}}
  %0:3 = graph.adam %p, %p, %p, %p {lr = 1.0, beta1 = -0.5, decoupled = true} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  graph.return
}

// -----

graph.step @adam_slot(%p: tensor<4xf32>, %b: tensor<3xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{Adam: the exp_avg_sq is f32 [3], the parameter f32 [4]}}
  %0:3 = graph.adam %p, %p, %p, %b {lr = 1.0} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<3xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  graph.return
}

// -----

graph.step @adam_call(%p: tensor<4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{Adam: call 2 of 2}}
  %0:3 = graph.adam %p, %p, %p, %p {lr = 1.0, calls = 2, call = 2} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  graph.return
}

// -----

graph.step @number(%p: tensor<4xf32>, %n: tensor<f64>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{SGD: there is no number 1 among the operands}}
  %0 = graph.sgd %p, %p, %n {lr = #graph.operand<1>} : (tensor<4xf32>, tensor<4xf32>, tensor<f64>) -> tensor<4xf32>
  graph.return
}

// -----

graph.step @number_type(%p: tensor<4xf32>, %n: tensor<f32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{SGD: a number among the operands is f32 [], not f64 []}}
  %0 = graph.sgd %p, %p, %n {lr = #graph.operand<0>} : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  graph.return
}

// -----

graph.step @count(%p: tensor<4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{Adam: count is computed in the step}}
  %0:3 = graph.adam %p, %p, %p, %p {lr = 1.0, count = 3.0} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  graph.return
}
