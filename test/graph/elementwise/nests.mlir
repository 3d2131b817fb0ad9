// RUN: dl-opt %s --print-loop-nests --print-costs --no-output | FileCheck %s

// Broadcasting is in the accesses: a dim of size 1 is read at 0.
// CHECK-LABEL: graph.add
// CHECK-NEXT: extents [2, 3, 4] combine none
// CHECK-NEXT: access (d0, d1, d2) -> (d0, 0, d2)
// CHECK-NEXT: access (d0, d1, d2) -> (d1, 0)
// CHECK-NEXT: arith.addf
graph.step @broadcast(%a: tensor<2x1x4xf32>, %b: tensor<3x1xf32>) {
  %0 = graph.add %a, %b : (tensor<2x1x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
  graph.return
}

// A NaN stays, so relu is no maximum.
// CHECK-LABEL: graph.relu
// CHECK-NEXT: extents [4] combine none
// CHECK-NEXT: access (d0) -> (d0)
// CHECK-NEXT: arith.constant
// CHECK-NEXT: arith.cmpf
// CHECK-NEXT: arith.select
graph.step @relu(%a: tensor<4xf32>) {
  %0 = graph.relu %a : (tensor<4xf32>) -> tensor<4xf32>
  graph.return
}

// No op of its own in the payload: a logarithm, what rounding lost, and two
// choices for infinities and tiny numbers.
// CHECK-LABEL: graph.log1p
// CHECK-NEXT: extents [2, 3] combine none
// CHECK-NEXT: access (d0, d1) -> (d0, d1)
// CHECK-NEXT: arith.constant
// CHECK-NEXT: arith.addf
// CHECK-NEXT: math.log
// CHECK-NEXT: arith.subf
// CHECK-NEXT: arith.divf
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: arith.cmpf
// CHECK-NEXT: arith.select
// CHECK-NEXT: arith.cmpf
// CHECK-NEXT: arith.select
graph.step @log1p(%a: tensor<2x3xf32>) {
  %0 = graph.log1p %a : (tensor<2x3xf32>) -> tensor<2x3xf32>
  graph.return
}

// CHECK-LABEL: graph.cast
// CHECK: arith.uitofp
graph.step @cast(%a: tensor<4xui8>) {
  %0 = graph.cast %a {to = f32} : (tensor<4xui8>) -> tensor<4xf32>
  graph.return
}

// CHECK-LABEL: graph.add flops 24
// CHECK-NEXT: graph.relu flops 4
// CHECK-NEXT: graph.log1p flops 6
// CHECK-NEXT: graph.cast flops 0
