// RUN: dl-opt %s --split-input-file --verify-diagnostics

// The second error of each is from the verifier; the front end shows the first.

graph.step @no_tensor() {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{full: the type 'f32' is not a tensor of this dialect}}
  %0 = graph.full {value = 1.0, type = f32} : () -> tensor<f32>
  graph.return
}

// -----

graph.step @dynamic() {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{full: the type 'tensor<?xf32>' is not a tensor of this dialect}}
  %0 = graph.full {value = 1.0, type = tensor<?xf32>} : () -> tensor<1xf32>
  graph.return
}

// -----

graph.step @dim() {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{iota: dim 2 is out of range for [4,5] (dims are -2..1)}}
  %0 = graph.iota {dim = 2, type = tensor<4x5xf32>} : () -> tensor<4x5xf32>
  graph.return
}

// -----

graph.step @bools() {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{iota: needs numbers, got bool [4]}}
  %0 = graph.iota {dim = 0, type = tensor<4xi1>} : () -> tensor<4xi1>
  graph.return
}
