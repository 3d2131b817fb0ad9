// RUN: dl-opt %s --print-loop-nests --evaluate --no-output | FileCheck %s
// RUN: dl-opt %s --print-gradients --no-output | FileCheck %s --check-prefix=GRAD
// RUN: dl-opt %s --decompose --canonicalize | FileCheck %s --check-prefix=MANY

// CHECK-LABEL: graph.cat
// CHECK-NEXT: extents [2, 5] combine none
// CHECK-NEXT: access (d0, d1) -> (d0, d1) outside 0
// CHECK-NEXT: access (d0, d1) -> (d0, d1 - 2) outside 0
// CHECK: @two #0 f64 [2,5] [0, 1, 7, 7, 7, 0, 1, 7, 7, 7]

// GRAD-LABEL: graph.step @gradient.cat
// GRAD: graph.slice %arg2 {offsets = array<i64: 0, 0>, sizes = array<i64: 2, 2>, strides = array<i64: 1, 1>}
// GRAD: graph.slice %arg2 {offsets = array<i64: 0, 2>, sizes = array<i64: 2, 3>, strides = array<i64: 1, 1>}

// MANY-LABEL: @two
// MANY: graph.cat
graph.step @two() -> tensor<2x5xf64> {
  %a = graph.iota {dim = 1, type = tensor<2x2xf64>} : () -> tensor<2x2xf64>
  %b = graph.full {value = 7.0, type = tensor<2x3xf64>} : () -> tensor<2x3xf64>
  %0 = graph.cat %a, %b {dim = 1} : (tensor<2x2xf64>, tensor<2x3xf64>) -> tensor<2x5xf64>
  graph.return %0 : tensor<2x5xf64>
}

// An element looks at no more than eight operands.
// MANY-LABEL: @nine
// MANY: [[EIGHT:%.*]] = graph.cat %arg0, %arg0, %arg0, %arg0, %arg0, %arg0, %arg0, %arg0 {dim = 0 : i64}
// MANY: graph.cat [[EIGHT]], %arg0 {dim = 0 : i64}
graph.step @nine(%a: tensor<1xf64>) -> tensor<9xf64> {
  %0 = graph.cat %a, %a, %a, %a, %a, %a, %a, %a, %a {dim = 0} : (tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<1xf64>) -> tensor<9xf64>
  graph.return %0 : tensor<9xf64>
}

// MANY-LABEL: @one
// MANY-NEXT: return %arg0
graph.step @one(%a: tensor<4xf64>) -> tensor<4xf64> {
  %0 = graph.cat %a {dim = 0} : (tensor<4xf64>) -> tensor<4xf64>
  graph.return %0 : tensor<4xf64>
}
