// RUN: dl-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: @times_one
// CHECK-NEXT: return %arg0
graph.step @times_one(%a: tensor<3xf32>) -> tensor<3xf32> {
  %one = graph.full {value = 1.0, type = tensor<f32>} : () -> tensor<f32>
  %0 = graph.mul %one, %a : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  %1 = graph.div %0, %one : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  graph.return %1 : tensor<3xf32>
}

// The result is larger than the operand.
// CHECK-LABEL: @times_ones
// CHECK: graph.mul
graph.step @times_ones(%a: tensor<3xf32>) -> tensor<2x3xf32> {
  %one = graph.full {value = 1.0, type = tensor<2x1xf32>} : () -> tensor<2x1xf32>
  %0 = graph.mul %one, %a : (tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  graph.return %0 : tensor<2x3xf32>
}

// -0 + 0 is 0, so only an integer's 0 is neutral, or a float's -0.
// CHECK-LABEL: @plus_zero
// CHECK: [[SUM:%.*]] = graph.add %arg0
// CHECK-NEXT: return [[SUM]], %arg1, %arg0
graph.step @plus_zero(%a: tensor<3xf32>, %i: tensor<3xi64>) -> (tensor<3xf32>, tensor<3xi64>, tensor<3xf32>) {
  %zero = graph.full {value = 0.0, type = tensor<f32>} : () -> tensor<f32>
  %minus = graph.full {value = -0.0, type = tensor<f32>} : () -> tensor<f32>
  %int = graph.full {value = 0.0, type = tensor<i64>} : () -> tensor<i64>
  %0 = graph.add %a, %zero : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %1 = graph.add %i, %int : (tensor<3xi64>, tensor<i64>) -> tensor<3xi64>
  %2 = graph.add %a, %minus : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %3 = graph.sub %2, %zero : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  graph.return %0, %1, %3 : tensor<3xf32>, tensor<3xi64>, tensor<3xf32>
}

// CHECK-LABEL: @powers
// CHECK: [[SQUARE:%.*]] = graph.mul %arg0, %arg0
// CHECK: [[ROOT:%.*]] = graph.sqrt %arg0
// CHECK: [[INVERSE:%.*]] = graph.div %{{.*}}, %arg0
// CHECK: [[CUBE:%.*]] = graph.mul %{{[0-9]+}}, %arg0
// CHECK: return [[SQUARE]], %arg0, [[ROOT]], [[INVERSE]], [[CUBE]]
graph.step @powers(%a: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %two = graph.full {value = 2.0, type = tensor<f32>} : () -> tensor<f32>
  %one = graph.full {value = 1.0, type = tensor<f32>} : () -> tensor<f32>
  %half = graph.full {value = 0.5, type = tensor<f32>} : () -> tensor<f32>
  %inverse = graph.full {value = -1.0, type = tensor<f32>} : () -> tensor<f32>
  %three = graph.full {value = 3.0, type = tensor<f32>} : () -> tensor<f32>
  %0 = graph.pow %a, %two : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %1 = graph.pow %a, %one : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %2 = graph.pow %a, %half : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %3 = graph.pow %a, %inverse : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %4 = graph.pow %a, %three : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  graph.return %0, %1, %2, %3, %4 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}

// CHECK-LABEL: @no_ops
// CHECK-NEXT: return %arg0, %arg0, %arg0
graph.step @no_ops(%a: tensor<3xf32>, %c: tensor<3xi1>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %0 = graph.cast %a {to = f32} : (tensor<3xf32>) -> tensor<3xf32>
  %1 = graph.neg %a : (tensor<3xf32>) -> tensor<3xf32>
  %2 = graph.neg %1 : (tensor<3xf32>) -> tensor<3xf32>
  %3 = graph.select %c, %a, %a : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  graph.return %0, %2, %3 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}

// What is broadcast anyway is not expanded before; something has to have the result's shape.
// CHECK-LABEL: @expanded
// CHECK: [[BOTH:%.*]] = graph.expand %arg0
// CHECK: [[SUM:%.*]] = graph.add %arg0, %arg1
// CHECK: graph.select %arg2, %arg0, [[SUM]]
// CHECK: graph.mul [[BOTH]], [[BOTH]]
graph.step @expanded(%a: tensor<3x1xf32>, %b: tensor<3x4xf32>, %c: tensor<3x4xi1>) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %e = graph.expand %a {shape = array<i64: 3, 4>} : (tensor<3x1xf32>) -> tensor<3x4xf32>
  %0 = graph.add %e, %b : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %1 = graph.select %c, %e, %0 : (tensor<3x4xi1>, tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %2 = graph.mul %e, %e : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  graph.return %1, %2 : tensor<3x4xf32>, tensor<3x4xf32>
}
