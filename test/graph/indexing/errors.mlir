// RUN: dl-opt %s --split-input-file --verify-diagnostics

// The second error of each is from the verifier; the front end shows the first.

graph.step @gather_dim(%x: tensor<4x5xf32>, %i: tensor<3x1xi64>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{gather: dim 2 is out of range for [4,5]}}
  %0 = graph.gather %x, %i {dim = 2} : (tensor<4x5xf32>, tensor<3x1xi64>) -> tensor<3x5xf32>
  graph.return
}

// -----

graph.step @gather_element(%x: tensor<4x5xf32>, %i: tensor<3x1xi32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{gather: indices are i64, got i32 [3,1]; use .to(dl::kInt64)}}
  %0 = graph.gather %x, %i {dim = 0} : (tensor<4x5xf32>, tensor<3x1xi32>) -> tensor<3x5xf32>
  graph.return
}

// -----

graph.step @gather_rank(%x: tensor<4x5xf32>, %i: tensor<3xi64>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{gather: indices [3] do not fit [4,5] along dim 0}}
  %0 = graph.gather %x, %i {dim = 0} : (tensor<4x5xf32>, tensor<3xi64>) -> tensor<3x5xf32>
  graph.return
}

// -----

graph.step @gather_shape(%x: tensor<4x5xf32>, %i: tensor<3x2xi64>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{gather: indices [3,2] do not fit [4,5] along dim 0}}
  %0 = graph.gather %x, %i {dim = 0} : (tensor<4x5xf32>, tensor<3x2xi64>) -> tensor<3x5xf32>
  graph.return
}

// -----

graph.step @gather_nothing(%x: tensor<0x5xf32>, %i: tensor<3x1xi64>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{gather: dim 0 of [0,5] has no elements}}
  %0 = graph.gather %x, %i {dim = 0} : (tensor<0x5xf32>, tensor<3x1xi64>) -> tensor<3x5xf32>
  graph.return
}

// -----

graph.step @scatter_shape(%i: tensor<3x1xi64>, %x: tensor<4x5xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{scatter_add: indices [3,1] do not fit [4,5] along dim 0}}
  %0 = graph.scatter_add %i, %x {dim = 0, size = 6} : (tensor<3x1xi64>, tensor<4x5xf32>) -> tensor<6x5xf32>
  graph.return
}

// -----

graph.step @scatter_element(%i: tensor<4x1xi64>, %x: tensor<4x5xi1>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{scatter_add: needs f32, f64, i64 or i32, got bool [4,5]}}
  %0 = graph.scatter_add %i, %x {dim = 0, size = 6} : (tensor<4x1xi64>, tensor<4x5xi1>) -> tensor<6x5xi1>
  graph.return
}

// -----

graph.step @scatter_size(%i: tensor<4x1xi64>, %x: tensor<4x5xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{scatter_add: size is 0, it must be at least 1}}
  %0 = graph.scatter_add %i, %x {dim = 0, size = 0} : (tensor<4x1xi64>, tensor<4x5xf32>) -> tensor<0x5xf32>
  graph.return
}

// -----

graph.step @update_index(%i: tensor<2xi64>, %s: tensor<1x5xf32>, %x: tensor<4x5xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{update_slice: the index is one i64, got i64 [2]}}
  %0 = graph.update_slice %i, %s, %x {dim = 0} : (tensor<2xi64>, tensor<1x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  graph.return
}

// -----

graph.step @update_shape(%i: tensor<i64>, %s: tensor<1x5xf32>, %x: tensor<4x5xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{update_slice: f32 [1,5] is no slice of f32 [4,5] along dim 1}}
  %0 = graph.update_slice %i, %s, %x {dim = 1} : (tensor<i64>, tensor<1x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  graph.return
}
