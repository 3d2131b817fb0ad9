// Zeros around what products read from memory are left out by them, where the machine says so; around what is made where it is
// read, or between elements, they are stored once.

// RUN: printf "pads_in_products = 1\nmax_prologue_readers = 0\n" > %t.machine
// RUN: dl-opt %s --form-kernels=machine=%t.machine | FileCheck %s
// RUN: dl-opt %s --form-kernels | FileCheck %s --check-prefix=STORED

// CHECK-LABEL: graph.step @around
// CHECK: graph.kernel {{.*}}name = "relu_
// CHECK: graph.kernel {{.*}}name = "pad_conv2d_
// CHECK-NOT: graph.kernel
// CHECK: graph.step @seen_by_others
// STORED-LABEL: graph.step @around
// STORED: graph.kernel {{.*}}name = "relu_pad_
// STORED: graph.kernel {{.*}}name = "conv2d_
graph.step @around(%x: tensor<2x4x6x6xf32>, %w: tensor<4x4x3x3xf32>) -> tensor<2x4x6x6xf32> {
  %0 = graph.relu %x : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %1 = graph.pad %0 {low = array<i64: 0, 0, 1, 1>, high = array<i64: 0, 0, 1, 1>, interior = array<i64: 0, 0, 0, 0>, value = 0.0} : (tensor<2x4x6x6xf32>) -> tensor<2x4x8x8xf32>
  %2 = graph.conv2d %1, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<2x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<2x4x6x6xf32>
  graph.return %2 : tensor<2x4x6x6xf32>
}

// CHECK: graph.kernel {{.*}}name = "pad_{{[0-9a-f]+}}"
// CHECK: graph.kernel {{.*}}name = "conv2d_
graph.step @seen_by_others(%x: tensor<2x4x6x6xf32>, %w: tensor<4x4x3x3xf32>) -> (tensor<2x4x6x6xf32>, tensor<2x4x8x8xf32>) {
  %1 = graph.pad %x {low = array<i64: 0, 0, 1, 1>, high = array<i64: 0, 0, 1, 1>, interior = array<i64: 0, 0, 0, 0>, value = 0.0} : (tensor<2x4x6x6xf32>) -> tensor<2x4x8x8xf32>
  %2 = graph.conv2d %1, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<2x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<2x4x6x6xf32>
  graph.return %2, %1 : tensor<2x4x6x6xf32>, tensor<2x4x8x8xf32>
}

// CHECK-LABEL: graph.step @around_a_view
// CHECK: graph.kernel {{.*}}name = "{{(flip_)?}}pad_{{[0-9a-f]+}}"
// CHECK: graph.kernel {{.*}}name = "conv2d_
graph.step @around_a_view(%x: tensor<2x4x6x6xf32>, %w: tensor<4x4x3x3xf32>) -> tensor<2x4x6x6xf32> {
  %0 = graph.flip %x {dims = array<i64: 3>} : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %1 = graph.pad %0 {low = array<i64: 0, 0, 1, 1>, high = array<i64: 0, 0, 1, 1>, interior = array<i64: 0, 0, 0, 0>, value = 0.0} : (tensor<2x4x6x6xf32>) -> tensor<2x4x8x8xf32>
  %2 = graph.conv2d %1, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<2x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<2x4x6x6xf32>
  graph.return %2 : tensor<2x4x6x6xf32>
}

// CHECK-LABEL: graph.step @around_numbers
// CHECK: graph.kernel {{.*}}name = "{{(full_)?}}pad_{{[0-9a-f]+}}"
// CHECK: graph.kernel {{.*}}name = "conv2d_
graph.step @around_numbers(%w: tensor<4x4x3x3xf32>) -> tensor<2x4x6x6xf32> {
  %0 = graph.full {value = 0.5 : f64, type = tensor<2x4x6x6xf32>} : () -> tensor<2x4x6x6xf32>
  %1 = graph.pad %0 {low = array<i64: 0, 0, 1, 1>, high = array<i64: 0, 0, 1, 1>, interior = array<i64: 0, 0, 0, 0>, value = 0.0} : (tensor<2x4x6x6xf32>) -> tensor<2x4x8x8xf32>
  %2 = graph.conv2d %1, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<2x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<2x4x6x6xf32>
  graph.return %2 : tensor<2x4x6x6xf32>
}

// CHECK-LABEL: graph.step @between
// CHECK: graph.kernel {{.*}}name = "pad_{{[0-9a-f]+}}"
// CHECK: graph.kernel {{.*}}name = "matmul_
graph.step @between(%x: tensor<8x4xf32>, %w: tensor<7x5xf32>) -> tensor<8x5xf32> {
  %1 = graph.pad %x {low = array<i64: 0, 0>, high = array<i64: 0, 0>, interior = array<i64: 0, 1>, value = 0.0} : (tensor<8x4xf32>) -> tensor<8x7xf32>
  %2 = graph.matmul %1, %w {spec = "mk,kn->mn"} : (tensor<8x7xf32>, tensor<7x5xf32>) -> tensor<8x5xf32>
  graph.return %2 : tensor<8x5xf32>
}
