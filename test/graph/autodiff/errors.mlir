// RUN: dl-opt %s --split-input-file --verify-diagnostics

// The second error of each is from the verifier; the front end shows the first.

graph.step @scalar(%x: tensor<4x10xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{backward: the loss must be a scalar, got [4,10]; use .sum() or .mean()}}
  %0 = graph.gradients %x, %x : (tensor<4x10xf32>, tensor<4x10xf32>) -> tensor<4x10xf32>
  graph.return
}

// -----

graph.step @float_loss(%x: tensor<i64>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{backward: needs a floating-point tensor, got i64 []}}
  %0 = graph.gradients %x, %x : (tensor<i64>, tensor<i64>) -> tensor<i64>
  graph.return
}

// -----

graph.step @float_parameter(%x: tensor<f32>, %p: tensor<3xi64>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{backward: needs a floating-point tensor, got i64 [3]}}
  %0 = graph.gradients %x, %p : (tensor<f32>, tensor<3xi64>) -> tensor<3xi64>
  graph.return
}
