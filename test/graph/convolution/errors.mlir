// RUN: dl-opt %s --split-input-file --verify-diagnostics

// The second error of each is from the verifier; the front end shows the first.

graph.step @channels(%x: tensor<4x3x28x28xf32>, %w: tensor<10x1x5x5xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{conv2d: input [4,3,28,28] has 3 channels, the layer expects 1 (weight [10,1,5,5])}}
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<4x3x28x28xf32>, tensor<10x1x5x5xf32>) -> tensor<4x10x24x24xf32>
  graph.return
}

// -----

graph.step @kernel(%x: tensor<4x1x3x3xf32>, %w: tensor<10x1x6x5xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{conv2d: the kernel [6,5] is larger than the input [4,1,3,3] with padding [1,1]}}
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<4x1x3x3xf32>, tensor<10x1x6x5xf32>) -> tensor<4x10x1x1xf32>
  graph.return
}

// -----

graph.step @rank(%x: tensor<1x28x28xf32>, %w: tensor<10x1x5x5xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{conv2d: the input [batch,channels,h,w] has 4 dims, got [1,28,28]}}
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<1x28x28xf32>, tensor<10x1x5x5xf32>) -> tensor<10x24x24xf32>
  graph.return
}

// -----

graph.step @weight_rank(%x: tensor<1x1x28x28xf32>, %w: tensor<10x5xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{conv2d: the weight [out,in,kh,kw] has 4 dims, got [10,5]}}
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<1x1x28x28xf32>, tensor<10x5xf32>) -> tensor<1x10x24x24xf32>
  graph.return
}

// -----

graph.step @stride(%x: tensor<1x1x8x8xf32>, %w: tensor<2x1x3x3xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{conv2d: stride is [0,1], each must be at least 1}}
  %0 = graph.conv2d %x, %w {stride = array<i64: 0, 1>, padding = array<i64: 0, 0>} : (tensor<1x1x8x8xf32>, tensor<2x1x3x3xf32>) -> tensor<1x2x6x6xf32>
  graph.return
}

// -----

graph.step @padding(%x: tensor<1x1x8x8xf32>, %w: tensor<2x1x3x3xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{conv2d: padding needs 2 numbers, got [1]}}
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 1>} : (tensor<1x1x8x8xf32>, tensor<2x1x3x3xf32>) -> tensor<1x2x8x8xf32>
  graph.return
}

// -----

graph.step @bytes(%x: tensor<4x1x28x28xui8>, %w: tensor<10x1x5x5xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{conv2d: needs a floating-point tensor, got u8 [4,1,28,28]; use .to(dl::kFloat)}}
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<4x1x28x28xui8>, tensor<10x1x5x5xf32>) -> tensor<4x10x24x24xf32>
  graph.return
}

// -----

graph.step @input_grad(%dy: tensor<1x2x5x6xf32>, %w: tensor<2x1x3x3xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{conv2d_input_grad: the gradient [1,2,5,6] does not have the result's shape [1,2,6,6]}}
  %0 = graph.conv2d_input_grad %dy, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, input_shape = array<i64: 1, 1, 8, 8>} : (tensor<1x2x5x6xf32>, tensor<2x1x3x3xf32>) -> tensor<1x1x8x8xf32>
  graph.return
}

// -----

graph.step @input_grad_channels(%dy: tensor<1x2x6x6xf32>, %w: tensor<2x1x3x3xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{conv2d_input_grad: input_shape [1,4,8,8] does not have the channels of the weight [2,1,3,3]}}
  %0 = graph.conv2d_input_grad %dy, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, input_shape = array<i64: 1, 4, 8, 8>} : (tensor<1x2x6x6xf32>, tensor<2x1x3x3xf32>) -> tensor<1x4x8x8xf32>
  graph.return
}

// -----

graph.step @weight_grad(%x: tensor<1x1x8x8xf32>, %dy: tensor<1x2x5x6xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{conv2d_weight_grad: the gradient [1,2,5,6] does not have the result's shape [1,2,6,6]}}
  %0 = graph.conv2d_weight_grad %x, %dy {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, kernel = array<i64: 3, 3>} : (tensor<1x1x8x8xf32>, tensor<1x2x5x6xf32>) -> tensor<2x1x3x3xf32>
  graph.return
}

// -----

graph.step @groups(%x: tensor<1x6x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{conv2d: 6 channels cannot be split into 4 groups}}
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, groups = 4} : (tensor<1x6x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  graph.return
}

// -----

graph.step @no_groups(%x: tensor<1x6x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{conv2d: groups is 0, must be at least 1}}
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, groups = 0} : (tensor<1x6x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  graph.return
}

// -----

graph.step @group_channels(%x: tensor<1x6x8x8xf32>, %w: tensor<4x2x3x3xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{conv2d: input [1,6,8,8] has 6 channels, the layer expects 4 in 2 groups (weight [4,2,3,3])}}
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, groups = 2} : (tensor<1x6x8x8xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x6x6xf32>
  graph.return
}

// -----

graph.step @group_rank(%x: tensor<1x2x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{conv2d: [1,2,3,8,8] and [4,3,3,3] differ in rank}}
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, groups = 2} : (tensor<1x2x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  graph.return
}

// -----

graph.step @dilation(%x: tensor<1x1x8x8xf32>, %w: tensor<2x1x3x3xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{conv2d: the kernel [3,3] with dilation [1,4] is larger than the input [1,1,8,8] with padding [0,0]}}
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, dilation = array<i64: 1, 4>} : (tensor<1x1x8x8xf32>, tensor<2x1x3x3xf32>) -> tensor<1x2x6x6xf32>
  graph.return
}

// -----

graph.step @no_dilation(%x: tensor<1x1x8x8xf32>, %w: tensor<2x1x3x3xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{conv2d: dilation is [0,1], each must be at least 1}}
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, dilation = array<i64: 0, 1>} : (tensor<1x1x8x8xf32>, tensor<2x1x3x3xf32>) -> tensor<1x2x6x6xf32>
  graph.return
}
