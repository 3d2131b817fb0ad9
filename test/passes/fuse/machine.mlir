// The limits of fusion are those of the machine that is described.

// RUN: dl-opt %s --form-kernels | FileCheck %s
// RUN: echo "max_kernel_ops = 1" > %t.machine
// RUN: echo "max_waiting_ops = 0" >> %t.machine
// RUN: dl-opt %s --form-kernels=machine=%t.machine | FileCheck %s --check-prefix=ONE

// CHECK: name = "relu_exp_
// CHECK-NOT: graph.kernel
// ONE: name = "relu_
// ONE: name = "exp_
graph.step @step(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = graph.relu %x : (tensor<64xf32>) -> tensor<64xf32>
  %1 = graph.exp %0 : (tensor<64xf32>) -> tensor<64xf32>
  graph.return %1 : tensor<64xf32>
}
