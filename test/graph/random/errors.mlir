// RUN: dl-opt %s --split-input-file --verify-diagnostics

// The second error of each is from the verifier; the front end shows the first.

graph.step @probability(%x: tensor<4xf32>, %s: tensor<8xi64>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{dropout: p must be between 0 and 1, got 1.5}}
  %0 = graph.dropout %x, %s {p = 1.5, key = 1} : (tensor<4xf32>, tensor<8xi64>) -> tensor<4xf32>
  graph.return
}

// -----

graph.step @float_only(%x: tensor<4xi64>, %s: tensor<8xi64>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{dropout: needs a floating-point tensor, got i64 [4]}}
  %0 = graph.dropout %x, %s {p = 0.5, key = 1} : (tensor<4xi64>, tensor<8xi64>) -> tensor<4xi64>
  graph.return
}

// -----

graph.step @channels(%x: tensor<4xf32>, %s: tensor<8xi64>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{dropout2d: needs [batch,channels,...], got [4]}}
  %0 = graph.dropout %x, %s {p = 0.5, key = 1, channelwise = true} : (tensor<4xf32>, tensor<8xi64>) -> tensor<4xf32>
  graph.return
}

// -----

graph.step @scalars(%s: tensor<4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{uniform: the step's scalars are i64 [8], got f32 [4]}}
  %0 = graph.uniform %s {key = 1, type = tensor<2xf32>} : (tensor<4xf32>) -> tensor<2xf32>
  graph.return
}

// -----

graph.step @draws_floats(%s: tensor<8xi64>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{normal: needs a floating-point tensor, got i64 [2]}}
  %0 = graph.normal %s {key = 1, type = tensor<2xi64>} : (tensor<8xi64>) -> tensor<2xi64>
  graph.return
}
