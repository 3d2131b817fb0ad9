// RUN: dl-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: @reshapes
// CHECK-NEXT: [[ONE:%.*]] = graph.reshape %arg0 {shape = array<i64: 3, 2>}
// CHECK-NEXT: return [[ONE]], %arg0
graph.step @reshapes(%x: tensor<2x3xf32>) -> (tensor<3x2xf32>, tensor<2x3xf32>) {
  %0 = graph.reshape %x {shape = array<i64: 6>} : (tensor<2x3xf32>) -> tensor<6xf32>
  %1 = graph.reshape %0 {shape = array<i64: 3, 2>} : (tensor<6xf32>) -> tensor<3x2xf32>
  %2 = graph.reshape %1 {shape = array<i64: 2, 3>} : (tensor<3x2xf32>) -> tensor<2x3xf32>
  graph.return %1, %2 : tensor<3x2xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: @transposes
// CHECK-NEXT: [[ONE:%.*]] = graph.transpose %arg0 {permutation = array<i64: 1, 2, 0>}
// CHECK-NEXT: return [[ONE]], %arg0
graph.step @transposes(%x: tensor<2x3x4xf32>) -> (tensor<3x4x2xf32>, tensor<2x3x4xf32>) {
  %0 = graph.transpose %x {permutation = array<i64: 2, 0, 1>} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %1 = graph.transpose %0 {permutation = array<i64: 2, 0, 1>} : (tensor<4x2x3xf32>) -> tensor<3x4x2xf32>
  %2 = graph.transpose %1 {permutation = array<i64: 2, 0, 1>} : (tensor<3x4x2xf32>) -> tensor<2x3x4xf32>
  graph.return %1, %2 : tensor<3x4x2xf32>, tensor<2x3x4xf32>
}

// CHECK-LABEL: @expands
// CHECK-NEXT: [[ONE:%.*]] = graph.expand %arg0 {shape = array<i64: 4, 2, 3>}
// CHECK-NEXT: return %arg0, [[ONE]]
graph.step @expands(%x: tensor<1x3xf32>) -> (tensor<1x3xf32>, tensor<4x2x3xf32>) {
  %0 = graph.expand %x {shape = array<i64: 1, 3>} : (tensor<1x3xf32>) -> tensor<1x3xf32>
  %1 = graph.expand %0 {shape = array<i64: 2, 3>} : (tensor<1x3xf32>) -> tensor<2x3xf32>
  %2 = graph.expand %1 {shape = array<i64: 4, 2, 3>} : (tensor<2x3xf32>) -> tensor<4x2x3xf32>
  graph.return %0, %2 : tensor<1x3xf32>, tensor<4x2x3xf32>
}

// CHECK-LABEL: @nothing
// CHECK-NEXT: return %arg0, %arg0
graph.step @nothing(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = graph.pad %x {low = array<i64: 0>, high = array<i64: 0>, interior = array<i64: 0>, value = 0.0} : (tensor<2xf32>) -> tensor<2xf32>
  %1 = graph.slice %x {offsets = array<i64: 0>, sizes = array<i64: 2>, strides = array<i64: 1>} : (tensor<2xf32>) -> tensor<2xf32>
  graph.return %0, %1 : tensor<2xf32>, tensor<2xf32>
}

// A constant takes the shape at once.
// CHECK-LABEL: @constant
// CHECK-NEXT: [[FULL:%.*]] = graph.full {type = tensor<4x2xf32>, value = 3.000000e+00 : f64}
// CHECK-NEXT: return [[FULL]]
graph.step @constant() -> tensor<4x2xf32> {
  %0 = graph.full {value = 3.0, type = tensor<f32>} : () -> tensor<f32>
  %1 = graph.reshape %0 {shape = array<i64: 1>} : (tensor<f32>) -> tensor<1xf32>
  %2 = graph.expand %1 {shape = array<i64: 4, 2>} : (tensor<1xf32>) -> tensor<4x2xf32>
  graph.return %2 : tensor<4x2xf32>
}
