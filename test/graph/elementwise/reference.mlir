// RUN: dl-opt %s --evaluate --no-output | FileCheck %s

// Arguments are 1/4, 2/4, ... for floats and 1, 2, ... for integers.

// CHECK: @arithmetic #0 f64 [2,2] [1.5, 2, 2, 2.5]
// CHECK: @arithmetic #1 i64 [2] [49, 64]
graph.step @arithmetic(%a: tensor<2x2xf64>, %b: tensor<2xf64>, %i: tensor<2xi64>) -> (tensor<2x2xf64>, tensor<2xi64>) {
  %0 = graph.add %a, %b : (tensor<2x2xf64>, tensor<2xf64>) -> tensor<2x2xf64>
  %1 = graph.mul %i, %i : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  graph.return %0, %1 : tensor<2x2xf64>, tensor<2xi64>
}

// log(1 + x) itself would give 0 for the tiny ones.
// CHECK: @log1p #0 f64 [3] [0.22314355131{{.*}}, 0.40546510810{{.*}}, 0.55961578793{{.*}}]
// CHECK: @log1p #1 f64 [3] [2.5e-21, 5e-21, 7.5e-21]
// CHECK: @log1p #2 f64 [2] [-inf, -inf]
graph.step @log1p(%a: tensor<3xf64>) -> (tensor<3xf64>, tensor<3xf64>, tensor<2xf64>) {
  %0 = graph.log1p %a : (tensor<3xf64>) -> tensor<3xf64>
  %scale = graph.full {value = 1.0e-20, type = tensor<f64>} : () -> tensor<f64>
  %tiny = graph.mul %a, %scale : (tensor<3xf64>, tensor<f64>) -> tensor<3xf64>
  %1 = graph.log1p %tiny : (tensor<3xf64>) -> tensor<3xf64>
  %pole = graph.full {value = -1.0, type = tensor<2xf64>} : () -> tensor<2xf64>
  %2 = graph.log1p %pole : (tensor<2xf64>) -> tensor<2xf64>
  graph.return %0, %1, %2 : tensor<3xf64>, tensor<3xf64>, tensor<2xf64>
}

// CHECK: @comparison #0 bool [3] [0, 1, 0]
// CHECK: @comparison #1 f64 [3] [0.5, 0.5, 0.75]
graph.step @comparison(%a: tensor<3xf64>) -> (tensor<3xi1>, tensor<3xf64>) {
  %half = graph.full {value = 0.5, type = tensor<f64>} : () -> tensor<f64>
  %0 = graph.eq %a, %half : (tensor<3xf64>, tensor<f64>) -> tensor<3xi1>
  %1 = graph.maximum %a, %half : (tensor<3xf64>, tensor<f64>) -> tensor<3xf64>
  graph.return %0, %1 : tensor<3xi1>, tensor<3xf64>
}

// Towards zero; u8 wraps as in C.
// CHECK: @casts #0 i64 [2] [-2, -1]
// CHECK: @casts #1 u8 [2] [1, 2]
// CHECK: @casts #2 f32 [1] [0.10000000149]
graph.step @casts(%i: tensor<2xi64>) -> (tensor<2xi64>, tensor<2xui8>, tensor<1xf32>) {
  %a = graph.full {value = -2.75, type = tensor<f64>} : () -> tensor<f64>
  %f = graph.cast %i {to = f64} : (tensor<2xi64>) -> tensor<2xf64>
  %half = graph.full {value = 0.5, type = tensor<f64>} : () -> tensor<f64>
  %scaled = graph.mul %f, %half : (tensor<2xf64>, tensor<f64>) -> tensor<2xf64>
  %sum = graph.add %scaled, %a : (tensor<2xf64>, tensor<f64>) -> tensor<2xf64>
  %0 = graph.cast %sum {to = i64} : (tensor<2xf64>) -> tensor<2xi64>
  %big = graph.full {value = 256.0, type = tensor<i64>} : () -> tensor<i64>
  %more = graph.add %i, %big : (tensor<2xi64>, tensor<i64>) -> tensor<2xi64>
  %1 = graph.cast %more {to = ui8} : (tensor<2xi64>) -> tensor<2xui8>
  %tenth = graph.full {value = 0.1, type = tensor<1xf64>} : () -> tensor<1xf64>
  %2 = graph.cast %tenth {to = f32} : (tensor<1xf64>) -> tensor<1xf32>
  graph.return %0, %1, %2 : tensor<2xi64>, tensor<2xui8>, tensor<1xf32>
}

// Rounded down; 0 where the divisor is 0.
// CHECK: @floor_divide #0 i64 [5] [-4, -2, 1, 3, 6]
// CHECK: @floor_divide #1 i64 [5] [4, 1, -1, -4, -6]
// CHECK: @floor_divide #2 i64 [5] [0, 0, 0, 0, 0]
graph.step @floor_divide(%i: tensor<5xi64>) -> (tensor<5xi64>, tensor<5xi64>, tensor<5xi64>) {
  %three = graph.full {value = 3.0, type = tensor<i64>} : () -> tensor<i64>
  %five = graph.full {value = 5.0, type = tensor<i64>} : () -> tensor<i64>
  %two = graph.full {value = 2.0, type = tensor<i64>} : () -> tensor<i64>
  %less = graph.sub %i, %three : (tensor<5xi64>, tensor<i64>) -> tensor<5xi64>
  %x = graph.mul %less, %five : (tensor<5xi64>, tensor<i64>) -> tensor<5xi64>
  %y = graph.add %x, %two : (tensor<5xi64>, tensor<i64>) -> tensor<5xi64>
  %0 = graph.floor_divide %y, %two : (tensor<5xi64>, tensor<i64>) -> tensor<5xi64>
  %minus = graph.neg %two : (tensor<i64>) -> tensor<i64>
  %1 = graph.floor_divide %y, %minus : (tensor<5xi64>, tensor<i64>) -> tensor<5xi64>
  %zero = graph.sub %two, %two : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %2 = graph.floor_divide %y, %zero : (tensor<5xi64>, tensor<i64>) -> tensor<5xi64>
  graph.return %0, %1, %2 : tensor<5xi64>, tensor<5xi64>, tensor<5xi64>
}
