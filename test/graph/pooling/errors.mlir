// RUN: dl-opt %s --split-input-file --verify-diagnostics

// The second error of each is from the verifier; the front end shows the first.

graph.step @rank(%x: tensor<3x8x8xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{max_pool2d: the input is [batch,channels,h,w], got [3,8,8]}}
  %0:2 = graph.max_pool2d %x {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<3x8x8xf32>) -> (tensor<3x4x4xf32>, tensor<3x4x4xui8>)
  graph.return
}

// -----

graph.step @padding(%x: tensor<1x3x8x8xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{max_pool2d: padding [2,0] is more than half of the kernel [3,3]}}
  %0:2 = graph.max_pool2d %x {kernel = array<i64: 3, 3>, stride = array<i64: 2, 2>, padding = array<i64: 2, 0>} : (tensor<1x3x8x8xf32>) -> (tensor<1x3x5x3xf32>, tensor<1x3x5x3xui8>)
  graph.return
}

// -----

graph.step @kernel(%x: tensor<1x3x2x8xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{max_pool2d: the kernel [3,3] is larger than the input [1,3,2,8] with padding [0,0]}}
  %0:2 = graph.max_pool2d %x {kernel = array<i64: 3, 3>, stride = array<i64: 3, 3>, padding = array<i64: 0, 0>} : (tensor<1x3x2x8xf32>) -> (tensor<1x3x1x2xf32>, tensor<1x3x1x2xui8>)
  graph.return
}

// -----

graph.step @float_only(%x: tensor<1x3x8x8xi64>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{max_pool2d: needs a floating-point tensor, got i64 [1,3,8,8]}}
  %0:2 = graph.max_pool2d %x {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<1x3x8x8xi64>) -> (tensor<1x3x4x4xi64>, tensor<1x3x4x4xui8>)
  graph.return
}

// -----

graph.step @grad_shape(%dy: tensor<1x3x4x4xf32>, %i: tensor<1x3x4x4xui8>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{max_pool2d_grad: the gradient [1,3,4,4] and the indices [1,3,4,4] must have the windows' shape [1,3,4,5]}}
  %0 = graph.max_pool2d_grad %dy, %i {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>, input_shape = array<i64: 1, 3, 8, 10>} : (tensor<1x3x4x4xf32>, tensor<1x3x4x4xui8>) -> tensor<1x3x8x10xf32>
  graph.return
}

// -----

graph.step @grad_indices(%dy: tensor<1x3x4x4xf32>, %i: tensor<1x3x4x4xi64>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{max_pool2d_grad: the indices are not those of max_pool2d: i64 [1,3,4,4]}}
  %0 = graph.max_pool2d_grad %dy, %i {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>, input_shape = array<i64: 1, 3, 8, 8>} : (tensor<1x3x4x4xf32>, tensor<1x3x4x4xi64>) -> tensor<1x3x8x8xf32>
  graph.return
}

// -----

graph.step @average(%x: tensor<3x8x8xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{avg_pool2d: the input is [batch,channels,h,w], got [3,8,8]}}
  %0 = graph.sum_pool2d %x {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<3x8x8xf32>) -> tensor<3x4x4xf32>
  graph.return
}

// -----

graph.step @average_padding(%x: tensor<1x3x8x8xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{avg_pool2d: padding [2,0] is more than half of the kernel [3,3]}}
  %0 = graph.sum_pool2d %x {kernel = array<i64: 3, 3>, stride = array<i64: 2, 2>, padding = array<i64: 2, 0>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x5x3xf32>
  graph.return
}

// -----

graph.step @average_grad(%dy: tensor<1x3x4x4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{sum_pool2d_grad: the gradient [1,3,4,4] must have the windows' shape [1,3,5,4]}}
  %0 = graph.sum_pool2d_grad %dy {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>, input_shape = array<i64: 1, 3, 9, 8>, ceil_mode = true} : (tensor<1x3x4x4xf32>) -> tensor<1x3x9x8xf32>
  graph.return
}

// -----

graph.step @window_extent(%x: tensor<1x3x8x8xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{max_pool2d: stride is [1,4611686018427387904], each must be at most 2147483647}}
  %0:2 = graph.max_pool2d %x {kernel = array<i64: 2, 2>, stride = array<i64: 1, 4611686018427387904>, padding = array<i64: 0, 0>} : (tensor<1x3x8x8xf32>) -> (tensor<1x3x7x1xf32>, tensor<1x3x7x1xui8>)
  graph.return
}
