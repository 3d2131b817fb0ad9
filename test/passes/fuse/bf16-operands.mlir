// A kernel says which of its operands in f32 have numbers of bf16 alone, where a product reads them.

// RUN: dl-opt %s --form-kernels=fuse=false | FileCheck %s

// What is widened, as it is and turned round; not what is added to.
// CHECK: graph.kernel {{.*}}name = "cast_
// CHECK: graph.kernel %{{.*}} {name = "add_
// CHECK: graph.kernel %[[A:.*]], %{{.*}} {bf16_operands = array<i64: 0>, name = "matmul_{{.*}} -> tensor<8x8xf32>
// CHECK: graph.kernel %[[A]], %arg1 {bf16_operands = array<i64: 0>, name = "matmul_{{.*}} -> tensor<8x4xf32>
// CHECK: graph.kernel %[[A]] {bf16_operands = array<i64: 0>, name = "matmul_
graph.step @step(%x: tensor<8x6xbf16>, %w: tensor<6x4xf32>) -> (tensor<8x8xf32>, tensor<8x4xf32>, tensor<8x8xf32>) {
  %a = graph.cast %x {to = f32} : (tensor<8x6xbf16>) -> tensor<8x6xf32>
  %t = graph.transpose %a {permutation = array<i64: 1, 0>} : (tensor<8x6xf32>) -> tensor<6x8xf32>
  %s = graph.add %a, %a : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
  %sums = graph.matmul %s, %t {spec = "mk,kn->mn"} : (tensor<8x6xf32>, tensor<6x8xf32>) -> tensor<8x8xf32>
  %half = graph.matmul %a, %w {spec = "mk,kn->mn"} : (tensor<8x6xf32>, tensor<6x4xf32>) -> tensor<8x4xf32>
  %both = graph.matmul %a, %t {spec = "mk,kn->mn"} : (tensor<8x6xf32>, tensor<6x8xf32>) -> tensor<8x8xf32>
  graph.return %sums, %half, %both : tensor<8x8xf32>, tensor<8x4xf32>, tensor<8x8xf32>
}
