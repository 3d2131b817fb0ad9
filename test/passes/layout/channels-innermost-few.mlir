// RUN: dl-opt --channels-innermost=few-images --split-input-file %s | FileCheck %s

// On CPUs: a step that trains on few images, and its evaluation of more, which batch-innermost takes.
// CHECK: graph.state @w {{.*}}layout = array<i64: 0, 2, 3, 1>
// CHECK-LABEL: graph.step @train
// CHECK: graph.conv2d %{{.*}}orders = [array<i64: 0, 2, 3, 1>]
// CHECK: graph.conv2d_weight_grad %{{.*}}orders = [array<i64: 0, 2, 3, 1>]
// CHECK-LABEL: graph.step @eval
// CHECK-NOT: orders
graph.state @w {type = tensor<16x16x3x3xf32>, role = "parameter", init = {kind = "zero", a = 0.0 : f64, b = 0.0 : f64, key = 0 : i64}}
graph.step @train(%x: tensor<2x16x9x9xf32> input 0, %w: tensor<16x16x3x3xf32> state @w) -> (tensor<2x16xf32>, tensor<16x16x3x3xf32> state @w) {
  %0 = graph.relu %x : (tensor<2x16x9x9xf32>) -> tensor<2x16x9x9xf32>
  %1 = graph.conv2d %0, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<2x16x9x9xf32>, tensor<16x16x3x3xf32>) -> tensor<2x16x7x7xf32>
  %2 = graph.amax %1 {dims = array<i64: 2, 3>, keepdim = false} : (tensor<2x16x7x7xf32>) -> tensor<2x16xf32>
  %3 = graph.conv2d_weight_grad %0, %1 {kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<2x16x9x9xf32>, tensor<2x16x7x7xf32>) -> tensor<16x16x3x3xf32>
  %4 = graph.sub %w, %3 : (tensor<16x16x3x3xf32>, tensor<16x16x3x3xf32>) -> tensor<16x16x3x3xf32>
  graph.return %2, %4 : tensor<2x16xf32>, tensor<16x16x3x3xf32>
}
graph.step @eval(%x: tensor<16x16x9x9xf32> input 0, %w: tensor<16x16x3x3xf32> state @w) -> tensor<16x16xf32> {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<16x16x9x9xf32>, tensor<16x16x3x3xf32>) -> tensor<16x16x7x7xf32>
  %1 = graph.amax %0 {dims = array<i64: 2, 3>, keepdim = false} : (tensor<16x16x7x7xf32>) -> tensor<16x16xf32>
  graph.return %1 : tensor<16x16xf32>
}

// -----
// The other way round filters stay as the step that trains wants them.
// CHECK-NOT: layout
// CHECK-LABEL: graph.step @train
// CHECK-NOT: orders
// CHECK-LABEL: graph.step @eval
// CHECK-NOT: orders
graph.state @w {type = tensor<16x16x3x3xf32>, role = "parameter", init = {kind = "zero", a = 0.0 : f64, b = 0.0 : f64, key = 0 : i64}}
graph.step @train(%x: tensor<16x16x9x9xf32> input 0, %dy: tensor<16x16x7x7xf32> input 1, %w: tensor<16x16x3x3xf32> state @w) -> (tensor<16x16x3x3xf32> state @w) {
  %0 = graph.conv2d_weight_grad %x, %dy {kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<16x16x9x9xf32>, tensor<16x16x7x7xf32>) -> tensor<16x16x3x3xf32>
  %1 = graph.sub %w, %0 : (tensor<16x16x3x3xf32>, tensor<16x16x3x3xf32>) -> tensor<16x16x3x3xf32>
  graph.return %1 : tensor<16x16x3x3xf32>
}
graph.step @eval(%x: tensor<2x16x9x9xf32> input 0, %w: tensor<16x16x3x3xf32> state @w) -> tensor<2x16xf32> {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<2x16x9x9xf32>, tensor<16x16x3x3xf32>) -> tensor<2x16x7x7xf32>
  %1 = graph.amax %0 {dims = array<i64: 2, 3>, keepdim = false} : (tensor<2x16x7x7xf32>) -> tensor<2x16xf32>
  graph.return %1 : tensor<2x16xf32>
}

// -----
// A filter for each channel, of which vectors want pixels.
// CHECK-LABEL: graph.step @depthwise
// CHECK-NOT: orders
graph.state @w {type = tensor<16x16x1x1xf32>, role = "parameter", init = {kind = "zero", a = 0.0 : f64, b = 0.0 : f64, key = 0 : i64}}
graph.state @d {type = tensor<16x1x3x3xf32>, role = "parameter", init = {kind = "zero", a = 0.0 : f64, b = 0.0 : f64, key = 0 : i64}}
graph.step @depthwise(%x: tensor<2x16x9x9xf32> input 0, %w: tensor<16x16x1x1xf32> state @w, %d: tensor<16x1x3x3xf32> state @d) -> tensor<2x16xf32> {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<2x16x9x9xf32>, tensor<16x16x1x1xf32>) -> tensor<2x16x9x9xf32>
  %1 = graph.conv2d %0, %d {groups = 16 : i64, stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<2x16x9x9xf32>, tensor<16x1x3x3xf32>) -> tensor<2x16x7x7xf32>
  %2 = graph.amax %1 {dims = array<i64: 2, 3>, keepdim = false} : (tensor<2x16x7x7xf32>) -> tensor<2x16xf32>
  graph.return %2 : tensor<2x16xf32>
}

// -----
// Convolutions of one dim, and one whose filter is a view of another shape.
// CHECK-LABEL: graph.step @flat
// CHECK-NOT: orders
graph.state @w {type = tensor<16x16x1x3xf32>, role = "parameter", init = {kind = "zero", a = 0.0 : f64, b = 0.0 : f64, key = 0 : i64}}
graph.state @v {type = tensor<16x16x9xf32>, role = "parameter", init = {kind = "zero", a = 0.0 : f64, b = 0.0 : f64, key = 0 : i64}}
graph.step @flat(%x: tensor<2x16x1x9xf32> input 0, %y: tensor<2x16x9x9xf32> input 1, %w: tensor<16x16x1x3xf32> state @w, %v: tensor<16x16x9xf32> state @v) -> (tensor<2x16xf32>, tensor<2x16xf32>) {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<2x16x1x9xf32>, tensor<16x16x1x3xf32>) -> tensor<2x16x1x7xf32>
  %1 = graph.amax %0 {dims = array<i64: 2, 3>, keepdim = false} : (tensor<2x16x1x7xf32>) -> tensor<2x16xf32>
  %2 = graph.reshape %v {shape = array<i64: 16, 16, 3, 3>} : (tensor<16x16x9xf32>) -> tensor<16x16x3x3xf32>
  %3 = graph.conv2d %y, %2 {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<2x16x9x9xf32>, tensor<16x16x3x3xf32>) -> tensor<2x16x7x7xf32>
  %4 = graph.amax %3 {dims = array<i64: 2, 3>, keepdim = false} : (tensor<2x16x7x7xf32>) -> tensor<2x16xf32>
  graph.return %1, %4 : tensor<2x16xf32>, tensor<2x16xf32>
}
