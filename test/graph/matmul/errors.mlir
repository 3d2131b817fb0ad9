// RUN: dl-opt %s --split-input-file --verify-diagnostics

// The second error of each is from the verifier; the front end shows the first.

func.func @features(%x: tensor<4x1024x3072xf32>, %w: tensor<768x2304xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{linear: input [4,1024,3072] has 3072 features, the layer expects 2304 (weight [768,2304])}}
  %0 = graph.linear %x, %w : (tensor<4x1024x3072xf32>, tensor<768x2304xf32>) -> tensor<4x1024x768xf32>
  return
}

// -----

func.func @linear_scalar(%x: tensor<f32>, %w: tensor<2x3xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{linear: the input needs a dim of 3 features, got a scalar}}
  %0 = graph.linear %x, %w : (tensor<f32>, tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @linear_weight(%x: tensor<3xf32>, %w: tensor<3xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{linear: the weight is [out_features,in_features], got [3]}}
  %0 = graph.linear %x, %w : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @linear_float(%x: tensor<3xi64>, %w: tensor<2x3xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{linear: needs a floating-point tensor, got i64 [3]}}
  %0 = graph.linear %x, %w : (tensor<3xi64>, tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @inner(%a: tensor<2x3xf32>, %b: tensor<4x5xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{matmul: cannot multiply [2,3] with [4,5]: 3 columns meet 4 rows}}
  %0 = graph.matmul %a, %b : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @inner_transposed(%a: tensor<2x3xf32>, %b: tensor<4x5xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{matmul: cannot multiply [2,3] (transposed) with [4,5] (transposed): 2 columns meet 5 rows}}
  %0 = graph.matmul %a, %b {transpose_a = true, transpose_b = true} : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @ranks(%a: tensor<3xf32>, %b: tensor<3x5xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{matmul: needs two matrices or two batches of matrices, got [3] and [3,5]}}
  %0 = graph.matmul %a, %b : (tensor<3xf32>, tensor<3x5xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @batches(%a: tensor<2x3x4xf32>, %b: tensor<3x4x5xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{matmul: the batches of [2,3,4] and [3,4,5] differ}}
  %0 = graph.matmul %a, %b : (tensor<2x3x4xf32>, tensor<3x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @element(%a: tensor<2x3xf32>, %b: tensor<3x5xf64>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{matmul: the element types differ: f32 [2,3] and f64 [3,5]}}
  %0 = graph.matmul %a, %b : (tensor<2x3xf32>, tensor<3x5xf64>) -> tensor<2x5xf32>
  return
}

// -----

func.func @float_only(%a: tensor<2x3xi64>, %b: tensor<3x5xi64>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{matmul: needs a floating-point tensor, got i64 [2,3]}}
  %0 = graph.matmul %a, %b : (tensor<2x3xi64>, tensor<3x5xi64>) -> tensor<2x5xi64>
  return
}
