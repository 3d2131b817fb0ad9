// RUN: dl-opt %s --print-sharding-rules=shards=2 --no-output | FileCheck %s

// Rows and columns are parallel, the inner dim is summed.
// CHECK-LABEL: graph.matmul ([i, k], [k, j]) -> ([i, j]) i=4 j=8 k=6:sum through 0: sum, 1: sum
// CHECK-NEXT: factor 0 part 0 of 2:
// CHECK-NEXT: graph.matmul {{.*}} : (tensor<2x6xf64>, tensor<6x8xf64>) -> tensor<2x8xf64>
// CHECK: factor 1 part 1 of 2:
// CHECK-NEXT: graph.matmul {{.*}} : (tensor<4x6xf64>, tensor<6x4xf64>) -> tensor<4x4xf64>
// CHECK: factor 2 part 1 of 2:
// CHECK-NEXT: graph.matmul {{.*}} : (tensor<4x3xf64>, tensor<3x8xf64>) -> tensor<4x8xf64>
graph.step @plain(%a: tensor<4x6xf64>, %b: tensor<6x8xf64>) -> tensor<4x8xf64> {
  %0 = graph.matmul %a, %b {spec = "mk,kn->mn"} : (tensor<4x6xf64>, tensor<6x8xf64>) -> tensor<4x8xf64>
  graph.return %0 : tensor<4x8xf64>
}

// A batch, both transposed; parts of 5 over 2 are 3 and 2.
// CHECK-LABEL: graph.matmul ([i, l, j], [i, k, l]) -> ([i, j, k]) i=5 j=3 k=2 l=4:sum
// CHECK: factor 0 part 1 of 2:
// CHECK-NEXT: (tensor<2x4x3xf64>, tensor<2x2x4xf64>) -> tensor<2x3x2xf64>
graph.step @batch(%a: tensor<5x4x3xf64>, %b: tensor<5x2x4xf64>) -> tensor<5x3x2xf64> {
  %0 = graph.matmul %a, %b {spec = "bkm,bnk->bmn"} : (tensor<5x4x3xf64>, tensor<5x2x4xf64>) -> tensor<5x3x2xf64>
  graph.return %0 : tensor<5x3x2xf64>
}

// A linear layer; a dim of size 1 has no factor.
// CHECK-LABEL: graph.matmul ([1, i, k], [j, k]) -> ([1, i, j]) i=7 j=5 k=4:sum through 0: sum, 1: sum
graph.step @linear(%x: tensor<1x7x4xf64>, %w: tensor<5x4xf64>) -> tensor<1x7x5xf64> {
  %0 = graph.matmul %x, %w {spec = "btc,oc->bto"} : (tensor<1x7x4xf64>, tensor<5x4xf64>) -> tensor<1x7x5xf64>
  graph.return %0 : tensor<1x7x5xf64>
}

// Heads are split like any other batch dim.
// CHECK-LABEL: graph.matmul ([i, j, k, m], [i, j, m, l]) -> ([i, j, k, l]) i=8 j=4 k=16 l=16 m=8:sum
// CHECK: factor 1 part 1 of 2:
// CHECK-NEXT: graph.matmul {{.*}} : (tensor<8x2x16x8xf64>, tensor<8x2x8x16xf64>) -> tensor<8x2x16x16xf64>
graph.step @heads(%q: tensor<8x4x16x8xf64>, %k: tensor<8x4x8x16xf64>) -> tensor<8x4x16x16xf64> {
  %0 = graph.matmul %q, %k {spec = "bhtd,bhds->bhts"} : (tensor<8x4x16x8xf64>, tensor<8x4x8x16xf64>) -> tensor<8x4x16x16xf64>
  graph.return %0 : tensor<8x4x16x16xf64>
}
