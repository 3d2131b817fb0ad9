// RUN: dl-opt %s --split-input-file --verify-diagnostics

// The second error of each is from the verifier; the front end shows the first.

graph.step @elements(%x: tensor<4x1024x768xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{view: [4,1024,768] has 3145728 elements, cannot become [4,1024,11,69] (3108864)}}
  %0 = graph.reshape %x {shape = array<i64: 4, 1024, 11, 69>} : (tensor<4x1024x768xf32>) -> tensor<4x1024x11x69xf32>
  graph.return
}

// -----

graph.step @negative(%x: tensor<4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{view: the shape is [-1,-4], each must be at least 0}}
  %0 = graph.reshape %x {shape = array<i64: -1, -4>} : (tensor<4xf32>) -> tensor<4xf32>
  graph.return
}

// -----

graph.step @permute_dim(%x: tensor<4x5xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{permute: dim 2 is out of range for [4,5] (dims are -2..1)}}
  %0 = graph.transpose %x {permutation = array<i64: 0, 2>} : (tensor<4x5xf32>) -> tensor<4x5xf32>
  graph.return
}

// -----

graph.step @permute_twice(%x: tensor<4x5xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{permute: [0,0] does not name each dim of [4,5] once}}
  %0 = graph.transpose %x {permutation = array<i64: 0, 0>} : (tensor<4x5xf32>) -> tensor<4x4xf32>
  graph.return
}

// -----

graph.step @permute_short(%x: tensor<4x5xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{permute: [0] does not name each dim of [4,5] once}}
  %0 = graph.transpose %x {permutation = array<i64: 0>} : (tensor<4x5xf32>) -> tensor<4xf32>
  graph.return
}

// -----

graph.step @expand(%x: tensor<3x4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expand: [3,4] cannot become [6,4]: only dims of size 1 and new leading dims grow}}
  %0 = graph.expand %x {shape = array<i64: 6, 4>} : (tensor<3x4xf32>) -> tensor<6x4xf32>
  graph.return
}

// -----

graph.step @expand_rank(%x: tensor<3x4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expand: [3,4] cannot become [4]}}
  %0 = graph.expand %x {shape = array<i64: 4>} : (tensor<3x4xf32>) -> tensor<4xf32>
  graph.return
}

// -----

graph.step @pad_count(%x: tensor<3x4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{pad: high needs 2 numbers, got [1]}}
  %0 = graph.pad %x {low = array<i64: 0, 0>, high = array<i64: 1>, interior = array<i64: 0, 0>, value = 0.0} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  graph.return
}

// -----

graph.step @pad_negative(%x: tensor<3xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{pad: low is [-1], each must be at least 0}}
  %0 = graph.pad %x {low = array<i64: -1>, high = array<i64: 0>, interior = array<i64: 0>, value = 0.0} : (tensor<3xf32>) -> tensor<2xf32>
  graph.return
}

// -----

graph.step @slice(%x: tensor<3x4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{slice: elements 1..5 of dim 1 leave [3,4]}}
  %0 = graph.slice %x {offsets = array<i64: 0, 1>, sizes = array<i64: 3, 3>, strides = array<i64: 1, 2>} : (tensor<3x4xf32>) -> tensor<3x3xf32>
  graph.return
}

// -----

graph.step @cat(%x: tensor<3x4xf32>, %y: tensor<2x5xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{cat: sizes must match except in dim 0, got [3,4] and [2,5] (tensor 1)}}
  %0 = graph.cat %x, %y {dim = 0} : (tensor<3x4xf32>, tensor<2x5xf32>) -> tensor<5x4xf32>
  graph.return
}

// -----

graph.step @cat_rank(%x: tensor<3x4xf32>, %y: tensor<4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{cat: sizes must match except in dim 0, got [3,4] and [4] (tensor 1)}}
  %0 = graph.cat %x, %y {dim = 0} : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  graph.return
}

// -----

graph.step @cat_scalars(%x: tensor<f32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{cat: scalars cannot be concatenated; use stack}}
  %0 = graph.cat %x, %x {dim = 0} : (tensor<f32>, tensor<f32>) -> tensor<2xf32>
  graph.return
}

// -----

graph.step @cat_elements(%x: tensor<3xf32>, %y: tensor<3xi64>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{cat: the element types differ: f32 [3] and i64 [3]; convert one with .to()}}
  %0 = graph.cat %x, %y {dim = 0} : (tensor<3xf32>, tensor<3xi64>) -> tensor<6xf32>
  graph.return
}

// -----

graph.step @cat_dim(%x: tensor<3xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{cat: dim 1 is out of range for [3] (dims are -1..0)}}
  %0 = graph.cat %x, %x {dim = 1} : (tensor<3xf32>, tensor<3xf32>) -> tensor<6xf32>
  graph.return
}

// -----

graph.step @slice_far(%x: tensor<3x4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{slice: elements 1..9223372036854775807 of dim 1 leave [3,4]}}
  %0 = graph.slice %x {offsets = array<i64: 0, 1>, sizes = array<i64: 3, 3>, strides = array<i64: 1, 9223372036854775807>} : (tensor<3x4xf32>) -> tensor<3x3xf32>
  graph.return
}

// -----

// One element has no next one.
graph.step @slice_one(%x: tensor<4xf32>) {
  %0 = graph.slice %x {offsets = array<i64: 3>, sizes = array<i64: 1>, strides = array<i64: 9223372036854775807>} : (tensor<4xf32>) -> tensor<1xf32>
  graph.return
}

// -----

graph.step @pad_far(%x: tensor<4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{pad: [4611686018427387904] between the elements of [4] is too much}}
  %0 = graph.pad %x {low = array<i64: 0>, high = array<i64: 0>, interior = array<i64: 4611686018427387904>, value = 0.0} : (tensor<4xf32>) -> tensor<4xf32>
  graph.return
}

// -----

graph.step @pad_wide(%x: tensor<4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{pad: [9223372036854775807] and [0] around [4] is too much}}
  %0 = graph.pad %x {low = array<i64: 9223372036854775807>, high = array<i64: 0>, interior = array<i64: 0>, value = 0.0} : (tensor<4xf32>) -> tensor<4xf32>
  graph.return
}

// -----

graph.step @flip_dim(%x: tensor<4x5xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{flip: dim 2 is out of range for [4,5]}}
  %0 = graph.flip %x {dims = array<i64: 2>} : (tensor<4x5xf32>) -> tensor<4x5xf32>
  graph.return
}

// -----

graph.step @flip_twice(%x: tensor<4x5xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{flip: dim 1 appears twice in [1,1]}}
  %0 = graph.flip %x {dims = array<i64: 1, 1>} : (tensor<4x5xf32>) -> tensor<4x5xf32>
  graph.return
}
