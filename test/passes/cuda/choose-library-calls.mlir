// Products go to a library where that is faster, with what it costs to compute apart what would be computed on their sums.

// RUN: echo "product_f32_flops = 40e12" > %t.machine
// RUN: echo "library_f32_flops = 80e12" >> %t.machine
// RUN: echo "product_tf32_flops = 40e12" >> %t.machine
// RUN: echo "bytes_per_second = 4e12" >> %t.machine
// RUN: echo "serial_seconds = 2e-6" >> %t.machine
// RUN: dl-opt %s --choose-library-calls=machine=%t.machine 2>&1 | FileCheck %s
// RUN: dl-opt %s --choose-library-calls="machine=%t.machine tf32=true" 2>&1 | FileCheck %s --check-prefix=TF32
// RUN: dl-opt %s --choose-library-calls="machine=%t.machine" --form-kernels=machine=%t.machine --annotate-cuda-kernels \
// RUN:   2>/dev/null | FileCheck %s --check-prefix=KERNEL
// RUN: echo "processors = 132" >> %t.machine
// RUN: echo "product_bf16_flops = 40e12" >> %t.machine
// RUN: echo "library_bf16_flops = 80e12" >> %t.machine
// RUN: dl-opt %s --choose-library-calls=machine=%t.machine 2>&1 | FileCheck %s --check-prefix=FEW

// The library's tf32 is not said to be faster.
// TF32-NOT: graph.library_call
// TF32: remark: matmul: not by cuBLASLt
// TF32-NOT: graph.library_call

// CHECK: remark: matmul: by cuBLASLt: it takes 1720.0 us, and 3436.0 us on a kernel of our own
// CHECK: remark: matmul: by cuBLASLt: it takes 1720.0 us and 35.6 us for what is computed on it, and 3436.0 us on a kernel of our own
// CHECK: remark: matmul: not by cuBLASLt: it takes 12.1 us and 10.4 us for what is computed on it, and 20.1 us on a kernel of our own
// CHECK: remark: matmul: not by cuBLASLt: it takes 2.0 us, and 0.0 us on a kernel of our own
// CHECK: remark: conv2d: on a kernel of our own: what it sums lies at several strides
// CHECK: remark: matmul: on a kernel of our own: its batches lie at several strides
// CHECK: remark: matmul: by cuBLASLt: it takes
// CHECK: remark: matmul: by cuBLASLt: it takes
// CHECK: remark: matmul: by cuBLASLt with the bias with a matrix that is added: it takes 1720.0 us, and 3436.0 us
// CHECK: remark: matmul: by cuBLASLt: it takes 1720.0 us and 35.6 us for what is computed on it
// CHECK: remark: matmul: by cuBLASLt with the bias: it takes 1720.0 us and 35.6 us for what is computed on it
// FEW: remark: matmul: not by cuBLASLt: it takes 887.8 us, and 40.3 us on a kernel of our own

// CHECK-LABEL: graph.step @plain
// CHECK: graph.matmul {{.*}} {graph.library_call = 0 : i64, spec = "mk,kn->mn"}
// KERNEL-LABEL: graph.step @plain
// KERNEL: graph.kernel %{{.*}}, %{{.*}} {{.*}}product = #plan.product<m = 4096, n = 4096, k = 4096, a = <binding = 0, stride = 4096>, b = <binding = 1, stride = 4096>, d = <binding = 2, stride = 4096>, arithmetic = f32, workspace = 33554432>
graph.step @plain(%a: tensor<4096x4096xf32>, %b: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %0 = graph.matmul %a, %b {spec = "mk,kn->mn"} : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  graph.return %0 : tensor<4096x4096xf32>
}

// CHECK-LABEL: graph.step @epilogue
// CHECK: graph.matmul {{.*}} {graph.library_call
// KERNEL-LABEL: graph.step @epilogue
// KERNEL: name = "matmul_{{[0-9a-f]+}}"
// KERNEL-SAME: b = <binding = 1, stride = 4096, transposed = true>
// KERNEL: name = "relu_{{[0-9a-f]+}}"
graph.step @epilogue(%a: tensor<4096x4096xf32>, %b: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %0 = graph.matmul %a, %b {spec = "mk,nk->mn"} : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %1 = graph.relu %0 : (tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  graph.return %1 : tensor<4096x4096xf32>
}

// To store and load the product once more costs more than the library saves.
// CHECK-LABEL: graph.step @shallow
// CHECK-NOT: graph.library_call
graph.step @shallow(%a: tensor<2048x96xf32>, %b: tensor<96x2048xf32>) -> tensor<2048x2048xf32> {
  %0 = graph.matmul %a, %b {spec = "mk,kn->mn"} : (tensor<2048x96xf32>, tensor<96x2048xf32>) -> tensor<2048x2048xf32>
  %1 = graph.relu %0 : (tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  graph.return %1 : tensor<2048x2048xf32>
}

graph.step @small(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = graph.matmul %a, %b {spec = "mk,kn->mn"} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  graph.return %0 : tensor<64x64xf32>
}

graph.step @convolution(%x: tensor<64x64x32x32xf32>, %w: tensor<64x64x3x3xf32>) -> tensor<64x64x32x32xf32> {
  %0 = graph.conv2d %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<64x64x32x32xf32>, tensor<64x64x3x3xf32>) -> tensor<64x64x32x32xf32>
  graph.return %0 : tensor<64x64x32x32xf32>
}

graph.step @heads(%q: tensor<32x256x6x64xf32>, %k: tensor<32x256x6x64xf32>) -> tensor<32x6x256x256xf32> {
  %0 = graph.matmul %q, %k {spec = "bthd,bshd->bhts"} : (tensor<32x256x6x64xf32>, tensor<32x256x6x64xf32>) -> tensor<32x6x256x256xf32>
  graph.return %0 : tensor<32x6x256x256xf32>
}

// What is seen through views is where it lies: the rows of a linear layer's batch and time are one, and a transposed factor is read as it is.
// CHECK-LABEL: graph.step @views
// CHECK: graph.library_call
// KERNEL-LABEL: graph.step @views
// KERNEL: product = #plan.product<m = 8192, n = 4096, k = 1024, a = <binding = 1, stride = 1024>, b = <binding = 0, stride = 4096>, d = <binding = 2, stride = 4096>,
graph.step @views(%x: tensor<32x256x1024xf32>, %w: tensor<1024x4096xf32>) -> tensor<32x256x4096xf32> {
  %0 = graph.transpose %w {permutation = array<i64: 1, 0>} : (tensor<1024x4096xf32>) -> tensor<4096x1024xf32>
  %1 = graph.matmul %x, %0 {spec = "btc,oc->bto"} : (tensor<32x256x1024xf32>, tensor<4096x1024xf32>) -> tensor<32x256x4096xf32>
  graph.return %1 : tensor<32x256x4096xf32>
}

// One factor for all of a batch.
// KERNEL-LABEL: graph.step @shared
// KERNEL: product = #plan.product<batch = 32, m = 1024, n = 512, k = 1024, a = <binding = 0, stride = 1024>, b = <binding = 1, stride = 512, batch_stride = 524288>, d = <binding = 2, stride = 512, batch_stride = 524288>,
graph.step @shared(%m: tensor<1024x1024xf32>, %x: tensor<32x1024x512xf32>) -> tensor<32x1024x512xf32> {
  %0 = graph.matmul %m, %x {spec = "ik,bkj->bij"} : (tensor<1024x1024xf32>, tensor<32x1024x512xf32>) -> tensor<32x1024x512xf32>
  graph.return %0 : tensor<32x1024x512xf32>
}

// A bias and a residual connection are part of the call, whichever operand they are.
// CHECK-LABEL: graph.step @added
// CHECK: graph.matmul {{.*}} {graph.library_call = [[CALL:.*]] : i64,
// CHECK: graph.add {{.*}} {graph.library_call = [[CALL]] : i64}
// CHECK: graph.add {{.*}} {graph.library_call = [[CALL]] : i64}
// KERNEL-LABEL: graph.step @added
// KERNEL: graph.kernel
// KERNEL-SAME: product = #plan.product<m = 4096, n = 4096, k = 4096, a = <binding = 0, stride = 4096>, b = <binding = 1, stride = 4096>, d = <binding = 4, stride = 4096>, c = <binding = 3, stride = 4096>, bias = 2, arithmetic = f32
// KERNEL: graph.matmul {{.*}} {graph.library_call, spec
// KERNEL-NEXT: graph.add {{[^{]*}} : (
// KERNEL-NEXT: graph.add {{[^{]*}} : (
// KERNEL-NEXT: graph.yield
// KERNEL-NEXT: }
// KERNEL-NEXT: graph.return
graph.step @added(%a: tensor<4096x4096xf32>, %b: tensor<4096x4096xf32>, %bias: tensor<4096xf32>, %x: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %0 = graph.matmul %a, %b {spec = "mk,kn->mn"} : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %1 = graph.add %0, %bias : (tensor<4096x4096xf32>, tensor<4096xf32>) -> tensor<4096x4096xf32>
  %2 = graph.add %x, %1 : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  graph.return %2 : tensor<4096x4096xf32>
}

// A number for each row is no bias of the library's.
// CHECK-LABEL: graph.step @by_row
// CHECK: graph.matmul {{.*}} {graph.library_call
// CHECK: graph.add %{{[^{]*}} : (
graph.step @by_row(%a: tensor<4096x4096xf32>, %b: tensor<4096x4096xf32>, %bias: tensor<4096x1xf32>) -> tensor<4096x4096xf32> {
  %0 = graph.matmul %a, %b {spec = "mk,kn->mn"} : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %1 = graph.add %0, %bias : (tensor<4096x4096xf32>, tensor<4096x1xf32>) -> tensor<4096x4096xf32>
  graph.return %1 : tensor<4096x4096xf32>
}

// What is added is computed before, and not within; two readers of a sum are two.
// CHECK-LABEL: graph.step @read_twice
// CHECK: graph.matmul {{.*}} {graph.library_call
// CHECK: graph.add {{.*}} {graph.library_call
// CHECK: graph.add %{{[^{]*}} : (
// KERNEL-LABEL: graph.step @read_twice
// KERNEL: bias = 2, arithmetic
graph.step @read_twice(%a: tensor<4096x4096xf32>, %b: tensor<4096x4096xf32>, %bias: tensor<4096xf32>, %x: tensor<4096x4096xf32>) -> (tensor<4096x4096xf32>, tensor<4096x4096xf32>) {
  %e = graph.exp %x : (tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %0 = graph.matmul %a, %b {spec = "mk,kn->mn"} : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %1 = graph.add %0, %bias : (tensor<4096x4096xf32>, tensor<4096xf32>) -> tensor<4096x4096xf32>
  %2 = graph.add %e, %1 : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %3 = graph.relu %1 : (tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  graph.return %2, %3 : tensor<4096x4096xf32>, tensor<4096x4096xf32>
}

// One addition reads two products: it is part of the first one's call, and no other kernel takes it; what its reader would compute,
// as a constant, is no operand of a call.
// CHECK-LABEL: graph.step @two_products
// CHECK: graph.matmul {{.*}} {graph.library_call = [[ONE:.*]] : i64,
// CHECK: graph.matmul {{.*}} {graph.library_call = [[TWO:.*]] : i64,
// CHECK: graph.add {{.*}} {graph.library_call = [[TWO]] : i64}
// CHECK: graph.add {{.*}} {graph.library_call = [[ONE]] : i64}
// KERNEL-LABEL: graph.step @two_products
// KERNEL: graph.kernel
// KERNEL-SAME: c = <binding = 2, stride = 4096>
// KERNEL: graph.kernel
// KERNEL-SAME: c = <binding = 2, stride = 4096>
// KERNEL: graph.return
graph.step @two_products(%a: tensor<4096x512xf32>, %b: tensor<512x4096xf32>, %c: tensor<4096x512xf32>, %d: tensor<512x4096xf32>, %x: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %p = graph.matmul %a, %b {spec = "mk,kn->mn"} : (tensor<4096x512xf32>, tensor<512x4096xf32>) -> tensor<4096x4096xf32>
  %q = graph.matmul %c, %d {spec = "mk,kn->mn"} : (tensor<4096x512xf32>, tensor<512x4096xf32>) -> tensor<4096x4096xf32>
  %r = graph.add %x, %q : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %o = graph.add %p, %r : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  graph.return %o : tensor<4096x4096xf32>
}

// CHECK-LABEL: graph.step @constant
// CHECK: graph.matmul {{.*}} {graph.library_call
// CHECK: graph.add %{{[^{]*}} : (
graph.step @constant(%a: tensor<4096x4096xf32>, %b: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %0 = graph.matmul %a, %b {spec = "mk,kn->mn"} : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %1 = graph.full {value = 2.0, type = tensor<4096x4096xf32>} : () -> tensor<4096x4096xf32>
  %2 = graph.add %0, %1 : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  graph.return %2 : tensor<4096x4096xf32>
}

// The gradient of a weight has three of the library's tiles for 132 processors, and sums of 8192 numbers.
// FEW-LABEL: graph.step @constant
// FEW-LABEL: graph.step @gradient
// FEW-NOT: graph.library_call
// CHECK-LABEL: graph.step @gradient
// CHECK: graph.matmul {{.*}} {graph.library_call
graph.step @gradient(%x: tensor<8192x384xf32>, %dy: tensor<8192x256xf32>) -> tensor<384x256xf32> {
  %0 = graph.matmul %x, %dy {spec = "km,kn->mn"} : (tensor<8192x384xf32>, tensor<8192x256xf32>) -> tensor<384x256xf32>
  graph.return %0 : tensor<384x256xf32>
}

// In 16 parts of its sums, four sequences in quarters, it has enough tiles for all processors. What is bf16 is read as such.
// FEW-LABEL: graph.step @parts
// FEW: %[[X:.*]] = graph.reshape %arg0 {shape = array<i64: 4, 4, 1024, 768>} : (tensor<4x4096x768xbf16>)
// FEW-NEXT: %[[WIDE:.*]] = graph.cast %[[X]] {to = f32}
// FEW-NEXT: %[[DY:.*]] = graph.reshape %arg1 {shape = array<i64: 4, 4, 1024, 3072>} : (tensor<4x4096x3072xbf16>)
// FEW-NEXT: %[[WIDE_DY:.*]] = graph.cast %[[DY]] {to = f32}
// FEW-NEXT: %[[BATCH:.*]] = graph.matmul %[[WIDE]], %[[WIDE_DY]] {graph.library_call = {{[0-9]+}} : i64, spec = "aAmk,aAmn->aAkn"} : {{.*}} -> tensor<4x4x768x3072xf32>
// FEW-NEXT: %[[PARTS:.*]] = graph.reshape %[[BATCH]] {shape = array<i64: 16, 768, 3072>}
// FEW-NEXT: %[[SUM:.*]] = graph.sum %[[PARTS]] {dims = array<i64: 0>}
// FEW-NEXT: graph.add %[[SUM]], %arg2
graph.step @parts(%x: tensor<4x4096x768xbf16>, %dy: tensor<4x4096x3072xbf16>, %w: tensor<768x3072xf32>) -> tensor<768x3072xf32> {
  %wide = graph.cast %x {to = f32} : (tensor<4x4096x768xbf16>) -> tensor<4x4096x768xf32>
  %gradient = graph.cast %dy {to = f32} : (tensor<4x4096x3072xbf16>) -> tensor<4x4096x3072xf32>
  %0 = graph.matmul %wide, %gradient {spec = "amk,amn->kn"} : (tensor<4x4096x768xf32>, tensor<4x4096x3072xf32>) -> tensor<768x3072xf32>
  %1 = graph.add %0, %w : (tensor<768x3072xf32>, tensor<768x3072xf32>) -> tensor<768x3072xf32>
  graph.return %1 : tensor<768x3072xf32>
}

// What lies in another order is not seen in another shape.
// FEW-LABEL: graph.step @ordered
// FEW-NOT: graph.reshape
// FEW: graph.return
graph.step @ordered(%x: tensor<768x96x8x8xf32>, %y: tensor<768x96x8x8xf32>) -> tensor<768x768xf32> {
  %e = graph.exp %x {graph.orders = [array<i64: 0, 2, 3, 1>]} : (tensor<768x96x8x8xf32>) -> tensor<768x96x8x8xf32>
  %0 = graph.matmul %e, %y {spec = "bchw,dchw->bd"} : (tensor<768x96x8x8xf32>, tensor<768x96x8x8xf32>) -> tensor<768x768xf32>
  graph.return %0 : tensor<768x768xf32>
}

// FEW-LABEL: graph.step @row_by_row
// FEW: graph.reshape
graph.step @row_by_row(%x: tensor<768x96x8x8xf32>, %y: tensor<768x96x8x8xf32>) -> tensor<768x768xf32> {
  %e = graph.exp %x : (tensor<768x96x8x8xf32>) -> tensor<768x96x8x8xf32>
  %0 = graph.matmul %e, %y {spec = "bchw,dchw->bd"} : (tensor<768x96x8x8xf32>, tensor<768x96x8x8xf32>) -> tensor<768x768xf32>
  graph.return %0 : tensor<768x768xf32>
}
