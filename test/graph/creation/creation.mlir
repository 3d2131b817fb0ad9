// RUN: dl-opt %s --evaluate --print-loop-nests --no-output | FileCheck %s

// CHECK: @constants #0 f32 [2] [0.10000000149, 0.10000000149]
// CHECK: @constants #1 i64 [2,3] [0, 1, 2, 0, 1, 2]
// CHECK-LABEL: graph.full
// CHECK-NEXT: extents [2] combine none
// CHECK-NEXT: arith.constant
// CHECK-LABEL: graph.iota
// CHECK-NEXT: extents [2, 3] combine none
// CHECK-NEXT: arith.index_cast
graph.step @constants() -> (tensor<2xf32>, tensor<2x3xi64>) {
  %0 = graph.full {value = 0.1, type = tensor<2xf32>} : () -> tensor<2xf32>
  %1 = graph.iota {dim = 1, type = tensor<2x3xi64>} : () -> tensor<2x3xi64>
  graph.return %0, %1 : tensor<2xf32>, tensor<2x3xi64>
}
