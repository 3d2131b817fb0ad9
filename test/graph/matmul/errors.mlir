// RUN: dl-opt %s --split-input-file --verify-diagnostics

// The second error of each is from the verifier; the front end shows the first.

graph.step @spec(%a: tensor<2x3xf32>, %b: tensor<3x5xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{matmul: the spec "mk,kn" is not like "mk,kn->mn"}}
  %0 = graph.matmul %a, %b {spec = "mk,kn"} : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  graph.return
}

// -----

graph.step @letters(%a: tensor<2x3xf32>, %b: tensor<3x5xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{matmul: the spec "m1,1n->mn" is not like "mk,kn->mn"}}
  %0 = graph.matmul %a, %b {spec = "m1,1n->mn"} : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  graph.return
}

// -----

graph.step @diagonal(%a: tensor<3x3xf32>, %b: tensor<3x5xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{matmul: 'k' names two dims of one tensor in "kk,kn->n"}}
  %0 = graph.matmul %a, %b {spec = "kk,kn->n"} : (tensor<3x3xf32>, tensor<3x5xf32>) -> tensor<5xf32>
  graph.return
}

// -----

graph.step @alone(%a: tensor<2x3xf32>, %b: tensor<3x5xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{matmul: 'm' of "mk,kn->n" is 2 and only in [2,3]; sum over it first}}
  %0 = graph.matmul %a, %b {spec = "mk,kn->n"} : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<5xf32>
  graph.return
}

// -----

graph.step @ranks(%a: tensor<3xf32>, %b: tensor<3x5xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{matmul: "mk" names 2 dims, [3] has 1}}
  %0 = graph.matmul %a, %b {spec = "mk,kn->mn"} : (tensor<3xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  graph.return
}

// -----

graph.step @sizes(%a: tensor<2x3xf32>, %b: tensor<4x5xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{matmul: 'k' of "mk,kn->mn" is 3 in [2,3] and 4 in [4,5]}}
  %0 = graph.matmul %a, %b {spec = "mk,kn->mn"} : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  graph.return
}

// -----

graph.step @element(%a: tensor<2x3xf32>, %b: tensor<3x5xf64>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{matmul: the element types differ: f32 [2,3] and f64 [3,5]}}
  %0 = graph.matmul %a, %b {spec = "mk,kn->mn"} : (tensor<2x3xf32>, tensor<3x5xf64>) -> tensor<2x5xf32>
  graph.return
}

// -----

graph.step @float_only(%a: tensor<2x3xi64>, %b: tensor<3x5xi64>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{matmul: needs a floating-point tensor, got i64 [2,3]}}
  %0 = graph.matmul %a, %b {spec = "mk,kn->mn"} : (tensor<2x3xi64>, tensor<3x5xi64>) -> tensor<2x5xi64>
  graph.return
}
