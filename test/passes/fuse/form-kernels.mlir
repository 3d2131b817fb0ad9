// RUN: dl-opt --form-kernels %s | FileCheck %s
// RUN: dl-opt --form-kernels=fuse=false %s | FileCheck %s --check-prefix=SINGLE

// Bias and activation follow the product in its kernel; one op a kernel without fusion.
// CHECK-LABEL: graph.step @epilogue
// CHECK-COUNT-1: graph.kernel {{.*}}name = "matmul_add_relu_
// CHECK-NOT: graph.kernel
// SINGLE-LABEL: graph.step @epilogue
// SINGLE-COUNT-3: graph.kernel
graph.step @epilogue(%x: tensor<4x5xf32>, %w: tensor<5x6xf32>, %b: tensor<6xf32>) -> tensor<4x6xf32> {
  %0 = graph.matmul %x, %w {spec = "mk,kn->mn"} : (tensor<4x5xf32>, tensor<5x6xf32>) -> tensor<4x6xf32>
  %1 = graph.add %0, %b : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  %2 = graph.relu %1 : (tensor<4x6xf32>) -> tensor<4x6xf32>
  graph.return %2 : tensor<4x6xf32>
}

// A transposed read of a product is no epilogue of it.
// CHECK-LABEL: graph.step @transposed
// CHECK: graph.kernel {{.*}}name = "matmul_
// CHECK: graph.kernel
// CHECK-LABEL: graph.step @pixels
graph.step @transposed(%x: tensor<4x5xf32>, %w: tensor<5x4xf32>) -> tensor<4x4xf32> {
  %0 = graph.matmul %x, %w {spec = "mk,kn->mn"} : (tensor<4x5xf32>, tensor<5x4xf32>) -> tensor<4x4xf32>
  %1 = graph.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = graph.relu %1 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  graph.return %2 : tensor<4x4xf32>
}

// Raw pixels are decoded within the product that reads them.
// CHECK: graph.kernel {{.*}}name = "cast_div_matmul_
// CHECK-NOT: graph.kernel
// CHECK-LABEL: graph.step @in_place
graph.step @pixels(%x: tensor<4x5xui8>, %w: tensor<5x6xf32>) -> tensor<4x6xf32> {
  %0 = graph.cast %x {to = f32} : (tensor<4x5xui8>) -> tensor<4x5xf32>
  %1 = graph.full {type = tensor<f32>, value = 2.550000e+02 : f64} : () -> tensor<f32>
  %2 = graph.div %0, %1 : (tensor<4x5xf32>, tensor<f32>) -> tensor<4x5xf32>
  %3 = graph.matmul %2, %w {spec = "mk,kn->mn"} : (tensor<4x5xf32>, tensor<5x6xf32>) -> tensor<4x6xf32>
  graph.return %3 : tensor<4x6xf32>
}

// A state is updated in place where each element is read only for itself, and not where the
// new value needs another element of the old one.
graph.state @w {type = tensor<4x4xf32>, role = "parameter", init = {kind = "zero", a = 0.0 : f64, b = 0.0 : f64, key = 0 : i64}}
// CHECK: graph.kernel {{.*}}inplace = array<i64: 0>
// CHECK-LABEL: graph.step @twice
// Two updates in one step: what the second needs of the first is computed from the old buffer
// behind the new one, which must not be in its place. The weight can.
// CHECK: graph.kernel {{.*}}inplace = array<i64: -1, {{[0-9]}}>
// CHECK-LABEL: graph.step @elsewhere
// CHECK-NOT: inplace
// CHECK-LABEL: graph.step @both_sides
graph.step @in_place(%w: tensor<4x4xf32> state @w, %g: tensor<4x4xf32>) -> (tensor<4x4xf32> state @w) {
  %0 = graph.sub %w, %g : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  graph.return %0 : tensor<4x4xf32>
}
graph.state @b {type = tensor<4x4xf32>, role = "slot", of = "w", init = {kind = "zero", a = 0.0 : f64, b = 0.0 : f64, key = 0 : i64}}
graph.step @twice(%w: tensor<4x4xf32> state @w, %b: tensor<4x4xf32> state @b, %g: tensor<4x4xf32>)
    -> (tensor<4x4xf32> state @b, tensor<4x4xf32> state @w) {
  %m = graph.full {type = tensor<f32>, value = 9.000000e-01 : f64} : () -> tensor<f32>
  %0 = graph.mul %b, %m : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %b1 = graph.add %0, %g : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %w1 = graph.sub %w, %b1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.mul %b1, %m : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %b2 = graph.add %1, %g : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %w2 = graph.sub %w1, %b2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  graph.return %b2, %w2 : tensor<4x4xf32>, tensor<4x4xf32>
}
graph.step @elsewhere(%w: tensor<4x4xf32> state @w, %g: tensor<4x4xf32>) -> (tensor<4x4xf32> state @w) {
  %0 = graph.transpose %w {permutation = array<i64: 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.sub %0, %g : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  graph.return %1 : tensor<4x4xf32>
}

// The last product of values on both sides of another kernel must not make a cycle.
// CHECK: graph.kernel {{.*}}name = "matmul_{{[0-9a-f]+}}"
// CHECK: graph.reshape
// CHECK: graph.kernel {{.*}}name = "sum_mul_
// CHECK: return
graph.step @both_sides(%x: tensor<4x5xf32>, %w: tensor<5x4xf32>, %v: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = graph.matmul %x, %w {spec = "mk,kn->mn"} : (tensor<4x5xf32>, tensor<5x4xf32>) -> tensor<4x4xf32>
  %1 = graph.reshape %0 {shape = array<i64: 16>} : (tensor<4x4xf32>) -> tensor<16xf32>
  %2 = graph.sum %1 {dims = array<i64: 0>} : (tensor<16xf32>) -> tensor<f32>
  %3 = graph.mul %0, %2 : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  graph.return %3 : tensor<4x4xf32>
}

// A pool whose windows do not meet is computed on tiles of the convolution, which leaves no
// memory of its own; one whose windows overlap needs its neighbours' tiles.
// CHECK-LABEL: graph.step @pooled
// CHECK: %[[POOLED:.*]]:2 = graph.kernel {{.*}}name = "conv2d_relu_max_pool2d_
// CHECK-NOT: graph.kernel
// CHECK: return
graph.step @pooled(%x: tensor<4x3x20x20xf32>, %w: tensor<8x3x3x3xf32>) -> (tensor<4x8x9x9xf32>, tensor<4x8x9x9xui8>) {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<4x3x20x20xf32>, tensor<8x3x3x3xf32>) -> tensor<4x8x18x18xf32>
  %1 = graph.relu %0 : (tensor<4x8x18x18xf32>) -> tensor<4x8x18x18xf32>
  %2:2 = graph.max_pool2d %1 {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<4x8x18x18xf32>) -> (tensor<4x8x9x9xf32>, tensor<4x8x9x9xui8>)
  graph.return %2#0, %2#1 : tensor<4x8x9x9xf32>, tensor<4x8x9x9xui8>
}
// CHECK-LABEL: graph.step @overlapping
// CHECK: graph.kernel {{.*}}name = "conv2d_relu_
// CHECK: graph.kernel {{.*}}name = "max_pool2d_
graph.step @overlapping(%x: tensor<4x3x20x20xf32>, %w: tensor<8x3x3x3xf32>) -> tensor<4x8x8x8xf32> {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<4x3x20x20xf32>, tensor<8x3x3x3xf32>) -> tensor<4x8x18x18xf32>
  %1 = graph.relu %0 : (tensor<4x8x18x18xf32>) -> tensor<4x8x18x18xf32>
  %2:2 = graph.max_pool2d %1 {kernel = array<i64: 3, 3>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<4x8x18x18xf32>) -> (tensor<4x8x8x8xf32>, tensor<4x8x8x8xui8>)
  graph.return %2#0 : tensor<4x8x8x8xf32>
}

// An old value that is also the new one of another state is stored as its own state is.
graph.state @kept {init = {kind = "zero", a = 0.0 : f64, b = 0.0 : f64, key = 0 : i64}, role = "buffer", type = tensor<16x8xf32>}
graph.state @weight {init = {kind = "zero", a = 0.0 : f64, b = 0.0 : f64, key = 0 : i64}, layout = array<i64: 1, 0>, role = "parameter", type = tensor<16x8xf32>}
// CHECK-LABEL: graph.step @keeps
// CHECK: graph.kernel %arg0, %arg1 {{.*}}operand_layouts = [unit, array<i64: 1, 0>]
graph.step @keeps(%x: tensor<50x8xf32>, %w: tensor<16x8xf32> state @weight, %k: tensor<16x8xf32> state @kept) -> (tensor<50x16xf32>, tensor<16x8xf32> state @kept) {
  %0 = graph.matmul %x, %w {spec = "ak,nk->an"} : (tensor<50x8xf32>, tensor<16x8xf32>) -> tensor<50x16xf32>
  graph.return %0, %w : tensor<50x16xf32>, tensor<16x8xf32>
}
