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

// -----

graph.step @argsort_count(%x: tensor<4x5xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{argsort: the first 6 of 5 elements are wanted}}
  %0 = graph.argsort %x {dim = 1, count = 6} : (tensor<4x5xf32>) -> tensor<4x6xi64>
  graph.return
}

// -----

graph.step @recurrence_shapes(%a: tensor<4x5xf32>, %b: tensor<4x1xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{linear_recurrence: needs two tensors of one type, got f32 [4,5] and f32 [4,1]}}
  %0 = graph.linear_recurrence %a, %b {dim = 1} : (tensor<4x5xf32>, tensor<4x1xf32>) -> tensor<4x5xf32>
  graph.return
}

// -----

graph.step @argcummax_bool(%x: tensor<4xi1>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{argcummax: needs f32, f64, i64 or i32, got bool [4]}}
  %0 = graph.argcummax %x {dim = 0} : (tensor<4xi1>) -> tensor<4xi64>
  graph.return
}
