// RUN: dl-opt %s --print-loop-nests --print-costs --evaluate --no-output | FileCheck %s

// CHECK-LABEL: graph.matmul
// CHECK-NEXT: extents [2, 4 | 3] combine sum contraction
// CHECK-NEXT: access (d0, d1, d2) -> (d0, d2)
// CHECK-NEXT: access (d0, d1, d2) -> (d2, d1)
// CHECK-NEXT: arith.mulf
// CHECK-LABEL: graph.matmul
// CHECK-NEXT: extents [5, 3, 2 | 4] combine sum contraction
// CHECK-NEXT: access (d0, d1, d2, d3) -> (d0, d3, d1)
// CHECK-NEXT: access (d0, d1, d2, d3) -> (d0, d2, d3)
// A vector of one batch: nothing is read twice, so that it is a sum like any other. A dim of one element has no loop.
// CHECK-LABEL: graph.matmul
// CHECK-NEXT: extents [2, 1 | 3] combine sum{{$}}
// CHECK-NEXT: access (d0, d1, d2) -> (d0, d2)
// CHECK-NEXT: access (d0, d1, d2) -> (0, d0, d2)
// CHECK-LABEL: graph.matmul
// CHECK-NEXT: extents [2, 3, 2, 3] combine none{{$}}
// CHECK: graph.matmul flops 48
// CHECK: graph.matmul flops 240
// CHECK: @f #0 f64 [2,4] [4.625, 5, 5.375, 5.75, 10.8125, 11.75, 12.6875, 13.625]
graph.step @f(%a: tensor<2x3xf64>, %b: tensor<3x4xf64>, %c: tensor<5x4x3xf64>, %d: tensor<5x2x4xf64>) -> tensor<2x4xf64> {
  %0 = graph.matmul %a, %b {spec = "mk,kn->mn"} : (tensor<2x3xf64>, tensor<3x4xf64>) -> tensor<2x4xf64>
  %1 = graph.matmul %c, %d {spec = "bkm,bnk->bmn"} : (tensor<5x4x3xf64>, tensor<5x2x4xf64>) -> tensor<5x3x2xf64>
  %2 = graph.reshape %a {shape = array<i64: 1, 2, 3>} : (tensor<2x3xf64>) -> tensor<1x2x3xf64>
  %3 = graph.matmul %a, %2 {spec = "bk,Xbk->bY"} : (tensor<2x3xf64>, tensor<1x2x3xf64>) -> tensor<2x1xf64>
  %4 = graph.matmul %a, %a {spec = "ij,kl->ijkl"} : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3x2x3xf64>
  graph.return %0 : tensor<2x4xf64>
}
