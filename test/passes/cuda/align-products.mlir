// Where rows begin at no multiples of 16 bytes products of tensor cores get zeros behind their operands, if that takes less than it saves.

// RUN: echo "product_bf16_flops = 100e12" > %t.machine
// RUN: echo "library_bf16_flops = 400e12" >> %t.machine
// RUN: echo "product_tf32_flops = 50e12" >> %t.machine
// RUN: echo "library_tf32_flops = 200e12" >> %t.machine
// RUN: echo "bytes_per_second = 4e12" >> %t.machine
// RUN: echo "serial_seconds = 2e-6" >> %t.machine
// RUN: dl-opt %s --align-products="machine=%t.machine" 2>&1 | FileCheck %s
// RUN: dl-opt %s --align-products="machine=%t.machine tf32=true" 2>/dev/null | FileCheck %s --check-prefix=TF32
// RUN: dl-opt %s --align-products="machine=%t.machine" --choose-library-calls="machine=%t.machine" 2>/dev/null | FileCheck %s --check-prefix=CALL

// CHECK: remark: matmul: zeros behind its operands have rows begin at multiples of 16 bytes: it takes 791.2 us instead of 2766.7, and 40.6 us for the zeros
// CHECK: remark: matmul: zeros behind its operands have rows begin at multiples of 16 bytes: it takes 791.2 us instead of 2766.7, and 207.9 us for the zeros

// Logits of bf16, cut into rows of 8 batches: the weights are padded once, rows as they are made. 50257 becomes 50304, which is hardly more.
// CHECK-LABEL: graph.step @logits
// CHECK: [[W:%.*]] = graph.pad %arg1 {high = array<i64: 47, 0>, {{.*}}} : (tensor<50257x768xbf16>) -> tensor<50304x768xbf16>
// CHECK: [[WIDE:%.*]] = graph.cast [[W]] {to = f32}
// CHECK: [[M:%.*]] = graph.matmul %{{.*}}, [[WIDE]] {spec = "abk,nk->abn"} : {{.*}} -> tensor<8x512x50304xf32>
// CHECK: [[ROUNDED:%.*]] = graph.cast [[M]] {to = bf16}
// CHECK: [[ROWS:%.*]] = graph.reshape [[ROUNDED]] {shape = array<i64: 4096, 50304>}
// CHECK: [[FIRST:%.*]] = graph.slice [[ROWS]] {{.*}}sizes = array<i64: 4096, 50257>
// CHECK: graph.cast [[FIRST]] {to = f32}
// CHECK: graph.exp
// CHECK: [[Y:%.*]] = graph.cast {{.*}} {to = bf16}
// CHECK: [[P:%.*]] = graph.pad [[Y]] {high = array<i64: 0, 47>, {{.*}}} : (tensor<4096x50257xbf16>) -> tensor<4096x50304xbf16>
// CHECK: [[CUT:%.*]] = graph.reshape [[P]] {shape = array<i64: 8, 512, 50304>}
// CHECK: [[OPERAND:%.*]] = graph.cast [[CUT]] {to = f32}
// CHECK-NOT: graph.pad
// CHECK: graph.matmul [[OPERAND]], %{{.*}} {spec = "abn,nk->abk"} : {{.*}} -> tensor<8x512x768xf32>
// TF32-LABEL: graph.step @logits
graph.step @logits(%x: tensor<8x512x768xbf16>, %w: tensor<50257x768xbf16>) -> tensor<8x512x768xf32> {
  %0 = graph.cast %x {to = f32} : (tensor<8x512x768xbf16>) -> tensor<8x512x768xf32>
  %1 = graph.cast %w {to = f32} : (tensor<50257x768xbf16>) -> tensor<50257x768xf32>
  %2 = graph.matmul %0, %1 {spec = "abk,nk->abn"} : (tensor<8x512x768xf32>, tensor<50257x768xf32>) -> tensor<8x512x50257xf32>
  %3 = graph.cast %2 {to = bf16} : (tensor<8x512x50257xf32>) -> tensor<8x512x50257xbf16>
  %4 = graph.reshape %3 {shape = array<i64: 4096, 50257>} : (tensor<8x512x50257xbf16>) -> tensor<4096x50257xbf16>
  %wide = graph.cast %4 {to = f32} : (tensor<4096x50257xbf16>) -> tensor<4096x50257xf32>
  %5 = graph.exp %wide : (tensor<4096x50257xf32>) -> tensor<4096x50257xf32>
  %narrow = graph.cast %5 {to = bf16} : (tensor<4096x50257xf32>) -> tensor<4096x50257xbf16>
  %6 = graph.reshape %narrow {shape = array<i64: 8, 512, 50257>} : (tensor<4096x50257xbf16>) -> tensor<8x512x50257xbf16>
  %7 = graph.cast %6 {to = f32} : (tensor<8x512x50257xbf16>) -> tensor<8x512x50257xf32>
  %8 = graph.matmul %7, %1 {spec = "abn,nk->abk"} : (tensor<8x512x50257xf32>, tensor<50257x768xf32>) -> tensor<8x512x768xf32>
  graph.return %8 : tensor<8x512x768xf32>
}

// Sums of such products are sums of what they have and their zeros, so that a call adds them.
// CHECK-LABEL: graph.step @sums
// CHECK-COUNT-2: graph.matmul {{.*}} -> tensor<2056x4096xf32>
// CHECK: [[SUM:%.*]] = graph.add {{.*}} : (tensor<2056x4096xf32>, tensor<2056x4096xf32>)
// CHECK: [[ALL:%.*]] = graph.slice [[SUM]] {{.*}}sizes = array<i64: 2049, 4096>
// CHECK: graph.return [[ALL]]
// CALL-LABEL: graph.step @sums
// CALL: graph.matmul {{.*}} {graph.library_call = {{[0-9]+}} : i64, {{.*}}} {{.*}} -> tensor<2056x4096xf32>
// CALL: graph.matmul {{.*}} {graph.library_call = [[N:[0-9]+]] : i64,
// CALL: graph.add {{.*}} {graph.library_call = [[N]] : i64}
graph.step @sums(%a: tensor<4096x2049xbf16>, %b: tensor<4096x4096xbf16>, %c: tensor<4096x2049xbf16>) -> tensor<2049x4096xf32> {
  %0 = graph.cast %a {to = f32} : (tensor<4096x2049xbf16>) -> tensor<4096x2049xf32>
  %1 = graph.cast %b {to = f32} : (tensor<4096x4096xbf16>) -> tensor<4096x4096xf32>
  %2 = graph.cast %c {to = f32} : (tensor<4096x2049xbf16>) -> tensor<4096x2049xf32>
  %3 = graph.matmul %0, %1 {spec = "kn,kc->nc"} : (tensor<4096x2049xf32>, tensor<4096x4096xf32>) -> tensor<2049x4096xf32>
  %4 = graph.matmul %2, %1 {spec = "kn,kc->nc"} : (tensor<4096x2049xf32>, tensor<4096x4096xf32>) -> tensor<2049x4096xf32>
  %5 = graph.add %3, %4 : (tensor<2049x4096xf32>, tensor<2049x4096xf32>) -> tensor<2049x4096xf32>
  graph.return %5 : tensor<2049x4096xf32>
}

// A part of rows that are bf16 in memory is padded as bf16.
// CHECK-LABEL: graph.step @part
// CHECK: [[PART:%.*]] = graph.slice %arg0 {{.*}} : (tensor<8192x1023xbf16>) -> tensor<4096x1023xbf16>
// CHECK: graph.pad [[PART]] {high = array<i64: 0, 1>
graph.step @part(%x: tensor<8192x1023xbf16>, %w: tensor<4096x1023xbf16>) -> tensor<4096x4096xf32> {
  %0 = graph.cast %x {to = f32} : (tensor<8192x1023xbf16>) -> tensor<8192x1023xf32>
  %1 = graph.slice %0 {offsets = array<i64: 4096, 0>, sizes = array<i64: 4096, 1023>, strides = array<i64: 1, 1>} : (tensor<8192x1023xf32>) -> tensor<4096x1023xf32>
  %2 = graph.cast %w {to = f32} : (tensor<4096x1023xbf16>) -> tensor<4096x1023xf32>
  %3 = graph.matmul %1, %2 {spec = "mk,nk->mn"} : (tensor<4096x1023xf32>, tensor<4096x1023xf32>) -> tensor<4096x4096xf32>
  graph.return %3 : tensor<4096x4096xf32>
}

// f32 has no such kernels: only tf32 is padded, to multiples of 4, here of 32.
// CHECK-LABEL: graph.step @f32
// CHECK-NOT: graph.pad
// TF32-LABEL: graph.step @f32
// TF32: graph.pad %arg0 {high = array<i64: 0, 31>
// TF32: graph.pad %arg1 {high = array<i64: 0, 31>
graph.step @f32(%x: tensor<4096x2049xf32>, %w: tensor<4096x2049xf32>) -> tensor<4096x4096xf32> {
  %0 = graph.matmul %x, %w {spec = "mk,nk->mn"} : (tensor<4096x2049xf32>, tensor<4096x2049xf32>) -> tensor<4096x4096xf32>
  graph.return %0 : tensor<4096x4096xf32>
}

// To load and store the operands takes longer than it saves, or extents are what they should be.
// CHECK-LABEL: graph.step @shallow
// CHECK-NOT: graph.pad
graph.step @shallow(%x: tensor<4096x33xbf16>, %w: tensor<64x33xbf16>, %y: tensor<64x72xbf16>) -> (tensor<4096x64xf32>, tensor<64x64xf32>) {
  %0 = graph.cast %x {to = f32} : (tensor<4096x33xbf16>) -> tensor<4096x33xf32>
  %1 = graph.cast %w {to = f32} : (tensor<64x33xbf16>) -> tensor<64x33xf32>
  %2 = graph.matmul %0, %1 {spec = "mk,nk->mn"} : (tensor<4096x33xf32>, tensor<64x33xf32>) -> tensor<4096x64xf32>
  %3 = graph.cast %y {to = f32} : (tensor<64x72xbf16>) -> tensor<64x72xf32>
  %4 = graph.matmul %3, %3 {spec = "mk,nk->mn"} : (tensor<64x72xf32>, tensor<64x72xf32>) -> tensor<64x64xf32>
  graph.return %2, %4 : tensor<4096x64xf32>, tensor<64x64xf32>
}
