// RUN: dl-opt %s --split-input-file --verify-diagnostics

// The second error of each is from the verifier; the front end shows the first.

graph.step @float_only(%a: tensor<4xi64>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{log: needs a floating-point tensor, got i64 [4]; use .to(dl::kFloat)}}
  %0 = graph.log %a : (tensor<4xi64>) -> tensor<4xi64>
  graph.return
}

// -----

graph.step @log1p_of_integers(%a: tensor<4xi64>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{log1p: needs a floating-point tensor, got i64 [4]; use .to(dl::kFloat)}}
  %0 = graph.log1p %a : (tensor<4xi64>) -> tensor<4xi64>
  graph.return
}

// -----

graph.step @numbers_only(%a: tensor<4xui8>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{add: needs numbers, got u8 [4]; use .to(dl::kFloat) or .to(dl::kInt64)}}
  %0 = graph.add %a, %a : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  graph.return
}

// -----

graph.step @bools_only(%a: tensor<4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{logical_not: needs a bool tensor, got f32 [4]; compare with 0 first}}
  %0 = graph.logical_not %a : (tensor<4xf32>) -> tensor<4xi1>
  graph.return
}

// -----

graph.step @condition_is_bool(%c: tensor<4xi64>, %a: tensor<4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{select: needs a bool tensor, got i64 [4]}}
  %0 = graph.select %c, %a, %a : (tensor<4xi64>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  graph.return
}

// -----

graph.step @same_element(%a: tensor<3xf32>, %b: tensor<3xi64>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{mul: the element types differ: f32 [3] and i64 [3]; convert one with .to()}}
  %0 = graph.mul %a, %b : (tensor<3xf32>, tensor<3xi64>) -> tensor<3xf32>
  graph.return
}

// -----

graph.step @broadcast(%a: tensor<3x4xf32>, %b: tensor<5xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{add: cannot broadcast [3,4] with [5]}}
  %0 = graph.add %a, %b : (tensor<3x4xf32>, tensor<5xf32>) -> tensor<3x4xf32>
  graph.return
}

// -----

graph.step @result_shape(%a: tensor<3x1xf32>, %b: tensor<5xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{inferred type(s) 'tensor<3x5xf32>' are incompatible with return type(s) of operation 'tensor<3xf32>'}}
  %0 = graph.add %a, %b : (tensor<3x1xf32>, tensor<5xf32>) -> tensor<3xf32>
  graph.return
}

// -----

graph.step @unknown_element(%a: tensor<3xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{cast: the type 'tensor<3xi17>' is not a tensor of this dialect}}
  %0 = graph.cast %a {to = i17} : (tensor<3xf32>) -> tensor<3xi32>
  graph.return
}

// -----

graph.step @integers_only(%a: tensor<4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{floor_divide: needs integers, got f32 [4]; use .to(dl::kInt64)}}
  %0 = graph.floor_divide %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  graph.return
}
