// RUN: dl-opt %s --split-input-file --verify-diagnostics

// The second error of each is from the verifier; the front end shows the first.

graph.step @cumsum_dim(%x: tensor<4x5xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{cumsum: dim 2 is out of range for [4,5]}}
  %0 = graph.cumsum %x {dim = 2} : (tensor<4x5xf32>) -> tensor<4x5xf32>
  graph.return
}

// -----

graph.step @cumsum_scalar(%x: tensor<f32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{cumsum: dim 0 is out of range: the tensor is a scalar}}
  %0 = graph.cumsum %x {dim = 0} : (tensor<f32>) -> tensor<f32>
  graph.return
}

// -----

graph.step @cumsum_element(%x: tensor<4xui8>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{cumsum: needs f32, f64, i64 or i32, got u8 [4]}}
  %0 = graph.cumsum %x {dim = 0} : (tensor<4xui8>) -> tensor<4xui8>
  graph.return
}

// -----

graph.step @argsort_dim(%x: tensor<4x5xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{argsort: dim 5 is out of range for [4,5]}}
  %0 = graph.argsort %x {dim = 5} : (tensor<4x5xf32>) -> tensor<4x5xi64>
  graph.return
}
