// RUN: dl-opt %s --split-input-file --verify-diagnostics

// The second error of each is from the verifier; the front end shows the first.

graph.step @dim(%x: tensor<4x5xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{sum: dim 3 is out of range for [4,5] (dims are -2..1)}}
  %0 = graph.sum %x {dims = array<i64: 3>} : (tensor<4x5xf32>) -> tensor<4xf32>
  graph.return
}

// -----

graph.step @scalar(%x: tensor<f32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{argmax: dim 0 is out of range: the tensor is a scalar}}
  %0 = graph.argmax %x {dim = 0} : (tensor<f32>) -> tensor<i64>
  graph.return
}

// -----

graph.step @sorted(%x: tensor<4x5xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{amax: the dims [1,0] must be sorted and different}}
  %0 = graph.amax %x {dims = array<i64: 1, 0>} : (tensor<4x5xf32>) -> tensor<f32>
  graph.return
}

// -----

graph.step @bools(%x: tensor<4xi1>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{sum: needs f32, f64, i64 or i32, got bool [4]; use .to(dl::kInt64) or .to(dl::kFloat)}}
  %0 = graph.sum %x {dims = array<i64: 0>} : (tensor<4xi1>) -> tensor<i1>
  graph.return
}

// -----

graph.step @ordered(%x: tensor<4xi1>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{max: needs numbers, got bool [4]; use .to(dl::kInt64)}}
  %0:2 = graph.max %x {dim = 0} : (tensor<4xi1>) -> (tensor<i1>, tensor<i64>)
  graph.return
}

// -----

graph.step @empty(%x: tensor<4x0xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{amax: dim 1 of [4,0] has no elements}}
  %0 = graph.amax %x {dims = array<i64: 1>} : (tensor<4x0xf32>) -> tensor<4xf32>
  graph.return
}
