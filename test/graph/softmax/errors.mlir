// RUN: dl-opt %s --split-input-file --verify-diagnostics

// The second error of each is from the verifier; the front end shows the first.

graph.step @dim(%x: tensor<4x5xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{log_softmax: dim 2 is out of range for [4,5] (dims are -2..1)}}
  %0 = graph.log_softmax %x {dim = 2} : (tensor<4x5xf32>) -> tensor<4x5xf32>
  graph.return
}

// -----

graph.step @float_only(%x: tensor<4x5xi64>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{softmax: needs a floating-point tensor, got i64 [4,5]}}
  %0 = graph.softmax %x {dim = 1} : (tensor<4x5xi64>) -> tensor<4x5xi64>
  graph.return
}
