// RUN: dl-opt --choose-saved %s --split-input-file | FileCheck %s
// RUN: dl-opt --choose-saved %s --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=SAID
// RUN: dl-opt --choose-saved=least-bytes=65537 %s --split-input-file | FileCheck %s --check-prefix=FEW --implicit-check-not=made_again

// One sum is kept instead of three values; what the gradient needs of the
// forward alone is made where it is read, too. The product reads its operand
// from memory and comes behind the op that it is written beside.
// CHECK-LABEL: @activation
// CHECK-SAME: graph.made_again_sum = array<i64: 3, 131072, 49152>
// CHECK: %[[H:.*]] = graph.add
// CHECK: %[[HALF:.*]] = graph.mul %[[H]],
// CHECK: %[[E:.*]] = graph.exp %[[H]]
// CHECK: %[[Y:.*]] = graph.mul %[[HALF]], %[[E]] :
// CHECK: graph.matmul %[[Y]]
// CHECK: %[[DY:.*]] = graph.matmul
// CHECK: %[[E2:.*]] = graph.exp %[[H]] {graph.made_again}
// CHECK: graph.mul %[[DY]], %[[E2]] :
// CHECK: %[[HALF2:.*]] = graph.mul %[[H]], {{.*}} {graph.made_again}
// CHECK: graph.mul %[[DY]], %[[HALF2]] :
// CHECK: %[[Y2:.*]] = graph.mul %[[HALF2]], %[[E2]] {graph.made_again}
// CHECK: graph.matmul %[[Y2]]
// FEW-LABEL: @activation

// SAID: remark: {{.*}}add: 65536 bytes kept for the backward, others are made from them
// SAID: remark: {{.*}}mul: made again in the backward by what reads it, instead of 65536 bytes kept
// SAID: remark: {{.*}}exp: made again in the backward by what reads it, instead of 65536 bytes kept
// SAID: remark: {{.*}}mul: made again in the backward, for a product, beside mul, instead of 65536 bytes kept
#back = loc(fused<"backward gelu">["m.dl"])
graph.step @activation(%x: tensor<128x64xf32> input 0, %w: tensor<128x64xf32>, %b: tensor<128xf32>, %v: tensor<32x128xf32>, %dz: tensor<128x32xf32>)
    -> (tensor<128x32xf32>, tensor<32x128xf32>, tensor<128x64xf32>) {
  %c = graph.full {type = tensor<f32>, value = 0.5 : f64} : () -> tensor<f32>
  %0 = graph.matmul %x, %w {spec = "mk,nk->mn"} : (tensor<128x64xf32>, tensor<128x64xf32>) -> tensor<128x128xf32>
  %h = graph.add %0, %b : (tensor<128x128xf32>, tensor<128xf32>) -> tensor<128x128xf32>
  %half = graph.mul %h, %c : (tensor<128x128xf32>, tensor<f32>) -> tensor<128x128xf32>
  %e = graph.exp %h : (tensor<128x128xf32>) -> tensor<128x128xf32>
  %y = graph.mul %half, %e : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
  %z = graph.matmul %y, %v {spec = "mk,nk->mn"} : (tensor<128x128xf32>, tensor<32x128xf32>) -> tensor<128x32xf32>
  %dy = graph.matmul %dz, %v {spec = "mn,nk->mk"} : (tensor<128x32xf32>, tensor<32x128xf32>) -> tensor<128x128xf32> loc(#back)
  %dv = graph.matmul %y, %dz {spec = "mk,mn->nk"} : (tensor<128x128xf32>, tensor<128x32xf32>) -> tensor<32x128xf32> loc(#back)
  %d1 = graph.mul %dy, %e : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32> loc(#back)
  %d2 = graph.mul %dy, %half : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32> loc(#back)
  %dh = graph.add %d1, %d2 : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32> loc(#back)
  %dw = graph.matmul %dh, %x {spec = "mn,mk->nk"} : (tensor<128x128xf32>, tensor<128x64xf32>) -> tensor<128x64xf32> loc(#back)
  graph.return %z, %dv, %dw : tensor<128x32xf32>, tensor<32x128xf32>, tensor<128x64xf32>
}

// -----

// No op of the backward comes before the product's users: its operand is kept,
// and what the others read is made from it or from the sum, whichever is kept.
// CHECK-LABEL: @nothing_beside
// CHECK: %[[Y:.*]] = graph.exp
// CHECK-NOT: made_again
// CHECK: graph.matmul %[[Y]], {{.*}} "mk,mn->nk"
// FEW-LABEL: @nothing_beside
#back = loc(fused<"backward exp">["m.dl"])
graph.step @nothing_beside(%x: tensor<128x64xf32> input 0, %w: tensor<128x64xf32>, %v: tensor<32x128xf32>, %dz: tensor<128x32xf32>)
    -> (tensor<128x32xf32>, tensor<32x128xf32>) {
  %h = graph.matmul %x, %w {spec = "mk,nk->mn"} : (tensor<128x64xf32>, tensor<128x64xf32>) -> tensor<128x128xf32>
  %n = graph.neg %h : (tensor<128x128xf32>) -> tensor<128x128xf32>
  %y = graph.exp %n : (tensor<128x128xf32>) -> tensor<128x128xf32>
  %z = graph.matmul %y, %v {spec = "mk,nk->mn"} : (tensor<128x128xf32>, tensor<32x128xf32>) -> tensor<128x32xf32>
  %dv = graph.matmul %y, %dz {spec = "mk,mn->nk"} : (tensor<128x128xf32>, tensor<128x32xf32>) -> tensor<32x128xf32> loc(#back)
  graph.return %z, %dv : tensor<128x32xf32>, tensor<32x128xf32>
}

// -----

// What a sum goes over is not summed again: its result is kept, and the row
// that is divided by it.
// CHECK-LABEL: @sums_are_kept
// CHECK: graph.sum
// CHECK: %[[Y:.*]] = graph.div
// CHECK-NOT: graph.div
// CHECK: graph.mul %{{.*}}, %[[Y]]
// FEW-LABEL: @sums_are_kept
#back = loc(fused<"backward div">["m.dl"])
graph.step @sums_are_kept(%x: tensor<128x64xf32> input 0, %w: tensor<128x64xf32>, %dz: tensor<128x32xf32>, %v: tensor<32x128xf32>)
    -> (tensor<128x128xf32>, tensor<128x128xf32>) {
  %h = graph.matmul %x, %w {spec = "mk,nk->mn"} : (tensor<128x64xf32>, tensor<128x64xf32>) -> tensor<128x128xf32>
  %e = graph.exp %h : (tensor<128x128xf32>) -> tensor<128x128xf32>
  %s = graph.sum %e {dims = array<i64: 1>, keepdim = true} : (tensor<128x128xf32>) -> tensor<128x1xf32>
  %y = graph.div %e, %s : (tensor<128x128xf32>, tensor<128x1xf32>) -> tensor<128x128xf32>
  %r = graph.neg %y : (tensor<128x128xf32>) -> tensor<128x128xf32>
  %dy = graph.matmul %dz, %v {spec = "mn,nk->mk"} : (tensor<128x32xf32>, tensor<32x128xf32>) -> tensor<128x128xf32> loc(#back)
  %d = graph.mul %dy, %y : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32> loc(#back)
  graph.return %r, %d : tensor<128x128xf32>, tensor<128x128xf32>
}

// -----

// What is returned is in memory anyway: others are made from it.
// CHECK-LABEL: @returned
// CHECK: %[[R:.*]] = graph.neg
// CHECK: %[[E:.*]] = graph.exp %[[R]] {graph.made_again}
// CHECK: graph.mul %{{.*}}, %[[E]]
// FEW-LABEL: @returned
#back = loc(fused<"backward exp">["m.dl"])
graph.step @returned(%x: tensor<128x64xf32> input 0, %w: tensor<128x64xf32>, %dz: tensor<128x32xf32>, %v: tensor<32x128xf32>)
    -> (tensor<128x128xf32>, tensor<128x128xf32>, tensor<128xf32>) {
  %h = graph.matmul %x, %w {spec = "mk,nk->mn"} : (tensor<128x64xf32>, tensor<128x64xf32>) -> tensor<128x128xf32>
  %r = graph.neg %h : (tensor<128x128xf32>) -> tensor<128x128xf32>
  %e = graph.exp %r : (tensor<128x128xf32>) -> tensor<128x128xf32>
  %s = graph.sum %e {dims = array<i64: 1>} : (tensor<128x128xf32>) -> tensor<128xf32>
  %dy = graph.matmul %dz, %v {spec = "mn,nk->mk"} : (tensor<128x32xf32>, tensor<32x128xf32>) -> tensor<128x128xf32> loc(#back)
  %d = graph.mul %dy, %e : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32> loc(#back)
  graph.return %r, %d, %s : tensor<128x128xf32>, tensor<128x128xf32>, tensor<128xf32>
}

// -----

// What a gradient makes of a sum's result alone stays in the sum's kernel, so
// that the sum runs as it would; of another value it is made again.
// CHECK-LABEL: @behind_a_sum
// CHECK-NOT: made_again
// CHECK: %[[G:.*]] = graph.matmul
// CHECK-NOT: made_again
// CHECK-LABEL: @behind_no_sum
// CHECK: %[[G:.*]] = graph.matmul
// CHECK: graph.mul {{.*}} {graph.made_again}
// FEW-LABEL: @behind_a_sum
#back = loc(fused<"backward rsqrt">["m.dl"])
graph.step @behind_a_sum(%x: tensor<16384x4xf32> input 0, %dz: tensor<16384x2xf32>, %v: tensor<2xf32>)
    -> (tensor<16384xf32>, tensor<16384xf32>, tensor<16384xf32>) {
  %s = graph.sum %x {dims = array<i64: 1>} : (tensor<16384x4xf32>) -> tensor<16384xf32>
  %r = graph.rsqrt %s : (tensor<16384xf32>) -> tensor<16384xf32>
  %n = graph.exp %r : (tensor<16384xf32>) -> tensor<16384xf32>
  %r2 = graph.mul %r, %r : (tensor<16384xf32>, tensor<16384xf32>) -> tensor<16384xf32> loc(#back)
  %g = graph.matmul %dz, %v {spec = "mk,k->m"} : (tensor<16384x2xf32>, tensor<2xf32>) -> tensor<16384xf32> loc(#back)
  %d = graph.mul %g, %r2 : (tensor<16384xf32>, tensor<16384xf32>) -> tensor<16384xf32> loc(#back)
  %e = graph.mul %g, %r : (tensor<16384xf32>, tensor<16384xf32>) -> tensor<16384xf32> loc(#back)
  graph.return %n, %d, %e : tensor<16384xf32>, tensor<16384xf32>, tensor<16384xf32>
}

// -----

// FEW-LABEL: @behind_no_sum
#back = loc(fused<"backward rsqrt">["m.dl"])
graph.step @behind_no_sum(%x: tensor<16384xf32> input 0, %dz: tensor<16384x2xf32>, %v: tensor<2xf32>)
    -> (tensor<16384xf32>, tensor<16384xf32>, tensor<16384xf32>) {
  %r = graph.rsqrt %x : (tensor<16384xf32>) -> tensor<16384xf32>
  %n = graph.exp %r : (tensor<16384xf32>) -> tensor<16384xf32>
  %r2 = graph.mul %r, %r : (tensor<16384xf32>, tensor<16384xf32>) -> tensor<16384xf32> loc(#back)
  %g = graph.matmul %dz, %v {spec = "mk,k->m"} : (tensor<16384x2xf32>, tensor<2xf32>) -> tensor<16384xf32> loc(#back)
  %d = graph.mul %g, %r2 : (tensor<16384xf32>, tensor<16384xf32>) -> tensor<16384xf32> loc(#back)
  %e = graph.mul %g, %r : (tensor<16384xf32>, tensor<16384xf32>) -> tensor<16384xf32> loc(#back)
  graph.return %n, %d, %e : tensor<16384xf32>, tensor<16384xf32>, tensor<16384xf32>
}

// -----

// What is elementwise on a product of the forward is part of that product's
// kernel, and of the sum's if it were made again: a sum that reads it keeps what
// it is made of. On the backward's own product it stays with that.
// CHECK-LABEL: @sum_of_forward_product
// CHECK-NOT: made_again
// CHECK-LABEL: @sum_of_backward_product
// CHECK: graph.exp {{.*}} {graph.made_again}
// FEW-LABEL: @sum_of_forward_product
#back = loc(fused<"backward exp">["m.dl"])
graph.step @sum_of_forward_product(%x: tensor<128x64xf32> input 0, %w: tensor<64x128xf32>, %s: tensor<1xf32>)
    -> (tensor<f32>, tensor<128xf32>) {
  %h = graph.matmul %x, %w {spec = "mk,kn->mn"} : (tensor<128x64xf32>, tensor<64x128xf32>) -> tensor<128x128xf32>
  %e = graph.exp %h : (tensor<128x128xf32>) -> tensor<128x128xf32>
  %t = graph.mul %e, %h : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
  %l = graph.sum %t {dims = array<i64: 0, 1>} : (tensor<128x128xf32>) -> tensor<f32>
  %seed = graph.sum %s {dims = array<i64: 0>} : (tensor<1xf32>) -> tensor<f32> loc(#back)
  %d = graph.mul %e, %seed : (tensor<128x128xf32>, tensor<f32>) -> tensor<128x128xf32> loc(#back)
  %g = graph.mul %d, %t : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32> loc(#back)
  %b = graph.sum %g {dims = array<i64: 0>} : (tensor<128x128xf32>) -> tensor<128xf32> loc(#back)
  graph.return %l, %b : tensor<f32>, tensor<128xf32>
}

// -----

// FEW-LABEL: @sum_of_backward_product
#back = loc(fused<"backward exp">["m.dl"])
graph.step @sum_of_backward_product(%x: tensor<128x64xf32> input 0, %w: tensor<64x128xf32>, %dz: tensor<128x32xf32>, %v: tensor<32x128xf32>)
    -> (tensor<128x128xf32>, tensor<128xf32>) {
  %h = graph.matmul %x, %w {spec = "mk,kn->mn"} : (tensor<128x64xf32>, tensor<64x128xf32>) -> tensor<128x128xf32>
  %e = graph.exp %h : (tensor<128x128xf32>) -> tensor<128x128xf32>
  %t = graph.mul %e, %h : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
  %dy = graph.matmul %dz, %v {spec = "mn,nk->mk"} : (tensor<128x32xf32>, tensor<32x128xf32>) -> tensor<128x128xf32> loc(#back)
  %d = graph.mul %dy, %e : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32> loc(#back)
  %g = graph.mul %d, %h : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32> loc(#back)
  %b = graph.sum %g {dims = array<i64: 0>} : (tensor<128x128xf32>) -> tensor<128xf32> loc(#back)
  graph.return %t, %b : tensor<128x128xf32>, tensor<128xf32>
}

// -----

// A stream in f32 that each block adds a bf16 result to: half as many bytes are kept where it is made again, but no more
// than three times its own are read for it: four results and the value before, then one of it is kept.
// CHECK-LABEL: @stream
// CHECK-COUNT-4: graph.add %{{[^{]*}} : (
// CHECK: %[[KEPT:.*]] = graph.add %{{[^{]*}} : (
// CHECK-COUNT-4: graph.add {{.*}} {graph.made_again}
// CHECK-NOT: graph.made_again
// CHECK: graph.mul %{{.*}}, %[[KEPT]] :
// FEW-LABEL: @stream
#back = loc(fused<"backward mul">["m.dl"])
graph.step @stream(%x: tensor<128x128xf32> input 0, %w: tensor<128x128xf32>, %dy: tensor<128x128xf32>) -> (tensor<128x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>) {
  %s0 = graph.matmul %x, %w {spec = "mk,kn->mn"} : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
  %e1 = graph.matmul %s0, %w {spec = "mk,kn->mn"} : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
  %r1 = graph.cast %e1 {to = bf16} : (tensor<128x128xf32>) -> tensor<128x128xbf16>
  %p1 = graph.cast %r1 {to = f32} : (tensor<128x128xbf16>) -> tensor<128x128xf32>
  %s1 = graph.add %s0, %p1 : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
  %e2 = graph.matmul %s1, %w {spec = "mk,kn->mn"} : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
  %r2 = graph.cast %e2 {to = bf16} : (tensor<128x128xf32>) -> tensor<128x128xbf16>
  %p2 = graph.cast %r2 {to = f32} : (tensor<128x128xbf16>) -> tensor<128x128xf32>
  %s2 = graph.add %s1, %p2 : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
  %e3 = graph.matmul %s2, %w {spec = "mk,kn->mn"} : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
  %r3 = graph.cast %e3 {to = bf16} : (tensor<128x128xf32>) -> tensor<128x128xbf16>
  %p3 = graph.cast %r3 {to = f32} : (tensor<128x128xbf16>) -> tensor<128x128xf32>
  %s3 = graph.add %s2, %p3 : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
  %e4 = graph.matmul %s3, %w {spec = "mk,kn->mn"} : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
  %r4 = graph.cast %e4 {to = bf16} : (tensor<128x128xf32>) -> tensor<128x128xbf16>
  %p4 = graph.cast %r4 {to = f32} : (tensor<128x128xbf16>) -> tensor<128x128xf32>
  %s4 = graph.add %s3, %p4 : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
  %e5 = graph.matmul %s4, %w {spec = "mk,kn->mn"} : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
  %r5 = graph.cast %e5 {to = bf16} : (tensor<128x128xf32>) -> tensor<128x128xbf16>
  %p5 = graph.cast %r5 {to = f32} : (tensor<128x128xbf16>) -> tensor<128x128xf32>
  %s5 = graph.add %s4, %p5 : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
  %e6 = graph.matmul %s5, %w {spec = "mk,kn->mn"} : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
  %r6 = graph.cast %e6 {to = bf16} : (tensor<128x128xf32>) -> tensor<128x128xbf16>
  %p6 = graph.cast %r6 {to = f32} : (tensor<128x128xbf16>) -> tensor<128x128xf32>
  %s6 = graph.add %s5, %p6 : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
  %g = graph.matmul %dy, %w {spec = "mk,nk->mn"} : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32> loc(#back)
  %d0 = graph.mul %g, %s0 : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32> loc(#back)
  %d1 = graph.mul %g, %s1 : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32> loc(#back)
  %d2 = graph.mul %g, %s2 : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32> loc(#back)
  %d3 = graph.mul %g, %s3 : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32> loc(#back)
  %d4 = graph.mul %g, %s4 : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32> loc(#back)
  %d5 = graph.mul %g, %s5 : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32> loc(#back)
  %d6 = graph.mul %g, %s6 : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32> loc(#back)
  graph.return %d0, %d1, %d2, %d3, %d4, %d5, %d6 : tensor<128x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>
}
