// RUN: dl-opt --channels-innermost %s | FileCheck %s
// RUN: dl-opt --channels-innermost --form-kernels %s | FileCheck %s --check-prefix=KERNELS

// Filters and their slots are stored as O,kH,kW,I; not one that is seen in another shape, nor one of few channels.
// CHECK: graph.state @first {
// CHECK-NOT: layout
// CHECK: graph.state @second {{.*}}layout = array<i64: 0, 2, 3, 1>
// CHECK: graph.state @slot {{.*}}layout = array<i64: 0, 2, 3, 1>
// CHECK: graph.state @shaped {
// CHECK-NOT: layout
// CHECK: graph.step
graph.state @first {type = tensor<16x3x3x3xf32>, role = "parameter", init = {kind = "zero", a = 0.0 : f64, b = 0.0 : f64, key = 0 : i64}}
graph.state @second {type = tensor<16x16x3x3xf32>, role = "parameter", init = {kind = "zero", a = 0.0 : f64, b = 0.0 : f64, key = 0 : i64}}
graph.state @slot {type = tensor<16x16x3x3xf32>, role = "slot", of = "second", init = {kind = "zero", a = 0.0 : f64, b = 0.0 : f64, key = 0 : i64}}
graph.state @shaped {type = tensor<16x16x2x2xf32>, role = "parameter", init = {kind = "zero", a = 0.0 : f64, b = 0.0 : f64, key = 0 : i64}}

// From the first convolution's result, which is elementwise what the second one reads, to the last value that is not returned.
// CHECK: %[[A:.*]] = graph.conv2d %{{.*}}, %{{.*}} {graph.orders = [array<i64: 0, 2, 3, 1>]
// CHECK: %[[B:.*]] = graph.relu %[[A]] {graph.orders = [array<i64: 0, 2, 3, 1>]}
// CHECK: %[[C:.*]] = graph.conv2d %[[B]], %{{.*}} {graph.orders = [array<i64: 0, 2, 3, 1>]
// CHECK: graph.amax %[[C]]
// CHECK-NOT: orders
// CHECK: graph.conv2d %[[C]], %{{.*}} {padding
// CHECK-NOT: orders
// KERNELS-LABEL: graph.step @train
// KERNELS: graph.kernel {{.*}}name = "conv2d_relu_{{.*}}result_layouts = {{\[}}array<i64: 0, 2, 3, 1>]
// KERNELS: graph.kernel {{.*}}name = "conv2d_{{.*}}operand_layouts = {{\[}}array<i64: 0, 2, 3, 1>, array<i64: 0, 2, 3, 1>], result_layouts = {{\[}}array<i64: 0, 2, 3, 1>]
graph.step @train(%x: tensor<2x3x9x9xf32> input 0, %first: tensor<16x3x3x3xf32> state @first, %second: tensor<16x16x3x3xf32> state @second,
                 %slot: tensor<16x16x3x3xf32> state @slot, %shaped: tensor<16x16x2x2xf32> state @shaped)
    -> (tensor<2x16xf32>, tensor<2x16x4x4xf32>, tensor<1024xf32>) {
  %0 = graph.conv2d %x, %first {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<2x3x9x9xf32>, tensor<16x3x3x3xf32>) -> tensor<2x16x7x7xf32>
  %1 = graph.relu %0 : (tensor<2x16x7x7xf32>) -> tensor<2x16x7x7xf32>
  %2 = graph.conv2d %1, %second {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<2x16x7x7xf32>, tensor<16x16x3x3xf32>) -> tensor<2x16x5x5xf32>
  %3 = graph.amax %2 {dims = array<i64: 2, 3>, keepdim = false} : (tensor<2x16x5x5xf32>) -> tensor<2x16xf32>
  %4 = graph.conv2d %2, %shaped {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<2x16x5x5xf32>, tensor<16x16x2x2xf32>) -> tensor<2x16x4x4xf32>
  %5 = graph.reshape %shaped {shape = array<i64: 1024>} : (tensor<16x16x2x2xf32>) -> tensor<1024xf32>
  graph.return %3, %4, %5 : tensor<2x16xf32>, tensor<2x16x4x4xf32>, tensor<1024xf32>
}

// A filter of its own for each channel has nothing to sum up over channels.
// CHECK-LABEL: graph.step @depthwise
// CHECK-NOT: orders
graph.step @depthwise(%x: tensor<2x16x9x9xf32>, %w: tensor<16x1x3x3xf32>) -> tensor<2x16x7x7xf32> {
  %0 = graph.tanh %x : (tensor<2x16x9x9xf32>) -> tensor<2x16x9x9xf32>
  %1 = graph.conv2d %0, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, groups = 16 : i64} : (tensor<2x16x9x9xf32>, tensor<16x1x3x3xf32>) -> tensor<2x16x7x7xf32>
  %2 = graph.relu %1 : (tensor<2x16x7x7xf32>) -> tensor<2x16x7x7xf32>
  graph.return %2 : tensor<2x16x7x7xf32>
}
