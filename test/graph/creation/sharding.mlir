// RUN: dl-opt %s --print-sharding-rules=shards=3 --no-output | FileCheck %s

// CHECK-LABEL: graph.full () -> ([i, j]) i=4 j=7
// CHECK: factor 1 part 2 of 3:
// CHECK-NEXT: graph.full {type = tensor<4x1xf64>, value = 5.000000e-01 : f64} : () -> tensor<4x1xf64>

// A part counts from where it begins.
// CHECK-LABEL: graph.iota () -> ([i, j]) i=4 j=7
// CHECK: factor 0 part 0 of 3:
// CHECK-NEXT: graph.iota {dim = 1 : i64, start = array<i64: 10>, type = tensor<2x7xi64>}
// 4 over 3 leaves nothing for the last part.
// CHECK-NEXT: factor 0 part 2 of 3:
// CHECK-NEXT: graph.full {type = tensor<0x7xi64>, value = 0.000000e+00 : f64}
// CHECK: factor 1 part 2 of 3:
// CHECK-NEXT: graph.iota {dim = 1 : i64, start = array<i64: 16>, type = tensor<4x1xi64>}
graph.step @f() {
  %0 = graph.full {value = 0.5, type = tensor<4x7xf64>} : () -> tensor<4x7xf64>
  %1 = graph.iota {dim = 1, type = tensor<4x7xi64>, start = array<i64: 10>} : () -> tensor<4x7xi64>
  graph.return
}
