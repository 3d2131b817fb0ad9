// RUN: dl-opt %s --split-input-file --verify-diagnostics

// The second error of each is from the verifier; the front end shows the first.

graph.step @target_shape(%p: tensor<4x10xf32>, %t: tensor<5xi64>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{nll_loss: input [4,10] needs a target [4], got [5]}}
  %0 = graph.nll_loss %p, %t : (tensor<4x10xf32>, tensor<5xi64>) -> tensor<f32>
  graph.return
}

// -----

graph.step @target_type(%p: tensor<4x10xf32>, %t: tensor<4xui8>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{nll_loss: the target holds class indices, i64, got u8 [4]; use .to(dl::kInt64)}}
  %0 = graph.nll_loss %p, %t : (tensor<4x10xf32>, tensor<4xui8>) -> tensor<f32>
  graph.return
}

// -----

graph.step @rank(%p: tensor<4xf32>, %t: tensor<4xi64>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{nll_loss: the input is [batch,classes,...], got [4]}}
  %0 = graph.nll_loss %p, %t : (tensor<4xf32>, tensor<4xi64>) -> tensor<f32>
  graph.return
}

// -----

graph.step @reduction(%p: tensor<4x10xf32>, %t: tensor<4xi64>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{nll_loss: reduction is "mean", "sum" or "none", got "avg"}}
  %0 = graph.nll_loss %p, %t {reduction = "avg"} : (tensor<4x10xf32>, tensor<4xi64>) -> tensor<f32>
  graph.return
}

// -----

graph.step @float_only(%p: tensor<4x10xi64>, %t: tensor<4xi64>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{nll_loss: needs a floating-point tensor, got i64 [4,10]}}
  %0 = graph.nll_loss %p, %t : (tensor<4x10xi64>, tensor<4xi64>) -> tensor<i64>
  graph.return
}

// -----

graph.step @check(%t: tensor<4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{index_check: indices are i64, got f32 [4]}}
  %0 = graph.index_check %t {bound = 3} : (tensor<4xf32>) -> tensor<i32>
  graph.return
}

// -----

graph.step @index_check_start(%t: tensor<4xi64>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{index_check: start [1,2] for indices [4]: one number, where there are items}}
  %0 = graph.index_check %t {bound = 3, start = array<i64: 1, 2>} : (tensor<4xi64>) -> tensor<i32>
  graph.return
}
