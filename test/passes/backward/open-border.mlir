// RUN: dl-opt %s --open-border --form-kernels | FileCheck %s
// RUN: dl-opt %s --form-kernels | FileCheck %s --check-prefix=CLOSED

graph.state @w {type = tensor<64x64xf32>, role = "parameter"}

// The update follows in the registers of the product that makes the gradient, or, as long as
// something may come between, it is a kernel of its own.
// CHECK: graph.kernel
// CHECK-SAME: name = "matmul_sub_
// CHECK-NOT: graph.gradient
// CHECK-NOT: graph.kernel
// CLOSED: [[K:%.*]] = graph.kernel
// CLOSED-SAME: name = "matmul_
// CLOSED: [[G:%.*]] = graph.gradient [[K]] {of = "w"}
// CLOSED-NEXT: graph.kernel %{{.*}}, [[G]]
// CLOSED-SAME: name = "sub_
graph.step @train(%dy: tensor<8x64xf32> input 0, %x: tensor<8x64xf32> input 1, %w: tensor<64x64xf32> state @w)
    -> (tensor<64x64xf32> state @w) of "train" training batch 8 {
  %0 = graph.matmul %dy, %x {spec = "km,kn->mn"} : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<64x64xf32>
  %g = graph.gradient %0 {of = "w"} : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %w1 = graph.sub %w, %g : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  graph.return %w1 : tensor<64x64xf32>
}
