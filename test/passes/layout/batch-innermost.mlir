// RUN: dl-opt --batch-innermost %s | FileCheck %s
// RUN: dl-opt --batch-innermost --form-kernels %s | FileCheck %s --check-prefix=KERNELS

// The input is copied once for both convolutions that read it; what follows image by image is
// stored like the convolution's result, up to the matrix product.
// CHECK-LABEL: graph.step @train
// CHECK: %[[X:.*]] = graph.copy %arg0 {graph.orders = [array<i64: 1, 2, 3, 0>]}
// CHECK: %[[Y:.*]] = graph.conv2d %[[X]], %arg1 {graph.orders = [array<i64: 1, 2, 3, 0>]
// CHECK: graph.relu %[[Y]] {graph.orders = [array<i64: 1, 2, 3, 0>]}
// CHECK: graph.reshape
// CHECK: graph.matmul
// CHECK-NOT: orders
// CHECK: graph.conv2d %[[X]], %arg1 {graph.orders = [array<i64: 1, 2, 3, 0>]
// The function returns rows.
// CHECK-NEXT: graph.copy %{{.*}} {graph.orders = [array<i64: 0, 1, 2, 3>]
// KERNELS-LABEL: graph.step @train
// KERNELS: graph.kernel {{.*}}name = "copy_{{.*}}result_layouts = {{\[}}array<i64: 1, 2, 3, 0>]
// KERNELS: graph.kernel {{.*}}name = "conv2d_relu_{{.*}}operand_layouts = {{\[}}array<i64: 1, 2, 3, 0>, unit], result_layouts = {{\[}}array<i64: 1, 2, 3, 0>]
// KERNELS: graph.reshape
// KERNELS: graph.kernel {{.*}}name = "matmul_{{.*}}operand_layouts = {{\[}}array<i64: 1, 0>, unit]
graph.step @train(%x: tensor<16x1x4x4xf32>, %w: tensor<2x1x3x3xf32>, %v: tensor<8x3xf32>) -> (tensor<16x3xf32>, tensor<16x2x2x2xf32>) {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<16x1x4x4xf32>, tensor<2x1x3x3xf32>) -> tensor<16x2x2x2xf32>
  %1 = graph.relu %0 : (tensor<16x2x2x2xf32>) -> tensor<16x2x2x2xf32>
  %2 = graph.reshape %1 {shape = array<i64: 16, 8>} : (tensor<16x2x2x2xf32>) -> tensor<16x8xf32>
  %3 = graph.matmul %2, %v {spec = "mk,kn->mn"} : (tensor<16x8xf32>, tensor<8x3xf32>) -> tensor<16x3xf32>
  %4 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<16x1x4x4xf32>, tensor<2x1x3x3xf32>) -> tensor<16x2x2x2xf32>
  graph.return %3, %4 : tensor<16x3xf32>, tensor<16x2x2x2xf32>
}

// Rows of a matrix product are images, too: no reader transposes them. A product of matrices for
// each image is left as it is.
// CHECK-LABEL: graph.step @rows
// CHECK: graph.matmul {{.*}}graph.orders = [array<i64: 1, 0>]
// CHECK: graph.tanh {{.*}}graph.orders = [array<i64: 1, 0>]
// CHECK: graph.matmul %{{.*}} {spec = "bmk,bnk->bmn"} {{.*}}tensor<16x2x2xf32>
graph.step @rows(%x: tensor<16x1x4x4xf32>, %w: tensor<2x1x3x3xf32>, %v: tensor<8x3xf32>) -> (tensor<16xf32>, tensor<16x2x2xf32>) {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<16x1x4x4xf32>, tensor<2x1x3x3xf32>) -> tensor<16x2x2x2xf32>
  %1 = graph.reshape %0 {shape = array<i64: 16, 8>} : (tensor<16x2x2x2xf32>) -> tensor<16x8xf32>
  %2 = graph.matmul %1, %v {spec = "mk,kn->mn"} : (tensor<16x8xf32>, tensor<8x3xf32>) -> tensor<16x3xf32>
  %3 = graph.tanh %2 : (tensor<16x3xf32>) -> tensor<16x3xf32>
  %4 = graph.sum %3 {dims = array<i64: 1>, keepdim = false} : (tensor<16x3xf32>) -> tensor<16xf32>
  %5 = graph.reshape %0 {shape = array<i64: 16, 2, 4>} : (tensor<16x2x2x2xf32>) -> tensor<16x2x4xf32>
  %6 = graph.matmul %5, %5 {spec = "bmk,bnk->bmn"} : (tensor<16x2x4xf32>, tensor<16x2x4xf32>) -> tensor<16x2x2xf32>
  graph.return %4, %6 : tensor<16xf32>, tensor<16x2x2xf32>
}

// A vector is not filled by 15 images.
// CHECK-LABEL: graph.step @few
// CHECK-NOT: orders
graph.step @few(%x: tensor<15x1x4x4xf32>, %w: tensor<2x1x3x3xf32>) -> tensor<15x2x2x2xf32> {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<15x1x4x4xf32>, tensor<2x1x3x3xf32>) -> tensor<15x2x2x2xf32>
  graph.return %0 : tensor<15x2x2x2xf32>
}

// Patches become tokens, whose products are most of the work: these stay rows, and what the convolution makes is copied once.
// CHECK-LABEL: graph.step @tokens
// CHECK: %[[Y:.*]] = graph.conv2d {{.*}}graph.orders = [array<i64: 1, 2, 3, 0>]
// CHECK-NEXT: graph.copy %[[Y]] {graph.orders = [array<i64: 0, 1, 2, 3>]}
// CHECK-NOT: orders
// CHECK: graph.return
graph.step @tokens(%x: tensor<16x1x4x4xf32>, %w: tensor<8x1x2x2xf32>, %v: tensor<8x64xf32>, %u: tensor<64x8xf32>) -> tensor<16xf32> {
  %0 = graph.conv2d %x, %w {stride = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<16x1x4x4xf32>, tensor<8x1x2x2xf32>) -> tensor<16x8x2x2xf32>
  %1 = graph.reshape %0 {shape = array<i64: 16, 8, 4>} : (tensor<16x8x2x2xf32>) -> tensor<16x8x4xf32>
  %2 = graph.transpose %1 {permutation = array<i64: 0, 2, 1>} : (tensor<16x8x4xf32>) -> tensor<16x4x8xf32>
  %3 = graph.tanh %2 : (tensor<16x4x8xf32>) -> tensor<16x4x8xf32>
  %4 = graph.matmul %3, %v {spec = "btk,kn->btn"} : (tensor<16x4x8xf32>, tensor<8x64xf32>) -> tensor<16x4x64xf32>
  %5 = graph.relu %4 : (tensor<16x4x64xf32>) -> tensor<16x4x64xf32>
  %6 = graph.matmul %5, %u {spec = "btk,kn->btn"} : (tensor<16x4x64xf32>, tensor<64x8xf32>) -> tensor<16x4x8xf32>
  %7 = graph.add %3, %6 : (tensor<16x4x8xf32>, tensor<16x4x8xf32>) -> tensor<16x4x8xf32>
  %8 = graph.sum %7 {dims = array<i64: 1, 2>, keepdim = false} : (tensor<16x4x8xf32>) -> tensor<16xf32>
  graph.return %8 : tensor<16xf32>
}

// Where convolutions are, tokens are stored as they are: what a product reads is one value with them.
// CHECK-LABEL: graph.step @few_tokens
// CHECK: graph.conv2d {{.*}}graph.orders = [array<i64: 1, 2, 3, 0>]
// CHECK-NEXT: graph.reshape
// CHECK: graph.tanh {{.*}}graph.orders = [array<i64: 1, 2, 0>]
// CHECK: graph.matmul {{.*}}graph.orders = [array<i64: 1, 2, 0>]
graph.step @few_tokens(%x: tensor<16x8x4x4xf32>, %w: tensor<8x8x3x3xf32>, %v: tensor<8x8xf32>) -> tensor<16xf32> {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<16x8x4x4xf32>, tensor<8x8x3x3xf32>) -> tensor<16x8x4x4xf32>
  %1 = graph.reshape %0 {shape = array<i64: 16, 8, 16>} : (tensor<16x8x4x4xf32>) -> tensor<16x8x16xf32>
  %2 = graph.transpose %1 {permutation = array<i64: 0, 2, 1>} : (tensor<16x8x16xf32>) -> tensor<16x16x8xf32>
  %3 = graph.tanh %2 : (tensor<16x16x8xf32>) -> tensor<16x16x8xf32>
  %4 = graph.matmul %3, %v {spec = "btk,kn->btn"} : (tensor<16x16x8xf32>, tensor<8x8xf32>) -> tensor<16x16x8xf32>
  %5 = graph.sum %4 {dims = array<i64: 1, 2>, keepdim = false} : (tensor<16x16x8xf32>) -> tensor<16xf32>
  graph.return %5 : tensor<16xf32>
}

// Gradients of the matrices count, too: without them the convolution would be the most.
// CHECK-LABEL: graph.step @tokens_in_training
// CHECK: %[[Y:.*]] = graph.conv2d {{.*}}graph.orders = [array<i64: 1, 2, 3, 0>]
// CHECK-NEXT: graph.copy %[[Y]] {graph.orders = [array<i64: 0, 1, 2, 3>]}
// CHECK-NOT: orders
// CHECK: graph.return
graph.step @tokens_in_training(%x: tensor<16x8x4x4xf32>, %w: tensor<8x8x3x3xf32>, %v: tensor<8x60xf32>, %d: tensor<16x16x60xf32>) -> (tensor<16xf32>, tensor<8x60xf32>) {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<16x8x4x4xf32>, tensor<8x8x3x3xf32>) -> tensor<16x8x4x4xf32>
  %1 = graph.reshape %0 {shape = array<i64: 16, 8, 16>} : (tensor<16x8x4x4xf32>) -> tensor<16x8x16xf32>
  %2 = graph.transpose %1 {permutation = array<i64: 0, 2, 1>} : (tensor<16x8x16xf32>) -> tensor<16x16x8xf32>
  %3 = graph.tanh %2 : (tensor<16x16x8xf32>) -> tensor<16x16x8xf32>
  %4 = graph.matmul %3, %v {spec = "btk,kn->btn"} : (tensor<16x16x8xf32>, tensor<8x60xf32>) -> tensor<16x16x60xf32>
  %5 = graph.sum %4 {dims = array<i64: 1, 2>, keepdim = false} : (tensor<16x16x60xf32>) -> tensor<16xf32>
  %6 = graph.matmul %3, %d {spec = "btk,btn->kn"} : (tensor<16x16x8xf32>, tensor<16x16x60xf32>) -> tensor<8x60xf32>
  graph.return %5, %6 : tensor<16xf32>, tensor<8x60xf32>
}
