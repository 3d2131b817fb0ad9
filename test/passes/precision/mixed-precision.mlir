// RUN: dl-opt --mixed-precision %s --split-input-file | FileCheck %s

graph.program "net.dl" dtype bf16 accumulate 1
#forward = loc(fused<"forward">["net.dl"])
#back = loc(fused<"backward linear">["net.dl"])
#update = loc(fused<"update">["net.dl"])

// Operands and results of products. What a product reads is stored once, whoever else reads it: %m, which is made of
// results of products, a bias and a mask. The gradient of the parameter is not rounded, nor is the parameter for its update.
// CHECK-LABEL: @layer
// CHECK-SAME: (%[[X:.*]]: tensor<64x32xf32>, %[[W:.*]]: tensor<16x32xf32>, %[[B:.*]]: tensor<16xf32>, %[[K:.*]]: tensor<64x16xi1>)
// CHECK-DAG: %[[WR:.*]] = graph.cast %[[W]] {to = bf16}
// CHECK-DAG: %[[WW:.*]] = graph.cast %[[WR]] {to = f32}
// CHECK-DAG: %[[XR:.*]] = graph.cast %[[X]] {to = bf16}
// CHECK-DAG: %[[XW:.*]] = graph.cast %[[XR]] {to = f32}
// CHECK: %[[P:.*]] = graph.matmul %[[XW]], %[[WW]] {spec = "bi,oi->bo"}
// CHECK: %[[PR:.*]] = graph.cast %[[P]] {to = bf16}
// CHECK: %[[PW:.*]] = graph.cast %[[PR]] {to = f32}
// CHECK: %[[A:.*]] = graph.add %[[PW]], %[[B]]
// CHECK: %[[Y:.*]] = graph.relu %[[A]]
// CHECK: %[[D:.*]] = graph.cast %[[K]] {to = f32}
// CHECK: %[[M:.*]] = graph.mul %[[Y]], %[[D]] :
// CHECK: %[[MR:.*]] = graph.cast %[[M]] {to = bf16}
// CHECK: %[[MW:.*]] = graph.cast %[[MR]] {to = f32}
// CHECK: graph.sum %[[MW]]
// CHECK: %[[G:.*]] = graph.matmul %[[MW]], %[[XW]] {spec = "bo,bi->oi"}
// CHECK-NEXT: graph.sub %[[W]], %[[G]]
graph.step @layer(%x: tensor<64x32xf32>, %w: tensor<16x32xf32>, %b: tensor<16xf32>, %k: tensor<64x16xi1>)
    -> (tensor<16x32xf32>, tensor<16xf32>) {
  %p = graph.matmul %x, %w {spec = "bi,oi->bo"} : (tensor<64x32xf32>, tensor<16x32xf32>) -> tensor<64x16xf32> loc(#forward)
  %a = graph.add %p, %b : (tensor<64x16xf32>, tensor<16xf32>) -> tensor<64x16xf32> loc(#forward)
  %y = graph.relu %a : (tensor<64x16xf32>) -> tensor<64x16xf32> loc(#forward)
  %d = graph.cast %k {to = f32} : (tensor<64x16xi1>) -> tensor<64x16xf32> loc(#back)
  %m = graph.mul %y, %d : (tensor<64x16xf32>, tensor<64x16xf32>) -> tensor<64x16xf32> loc(#back)
  %s = graph.sum %m {dims = array<i64: 0>} : (tensor<64x16xf32>) -> tensor<16xf32> loc(#back)
  %g = graph.matmul %m, %x {spec = "bo,bi->oi"} : (tensor<64x16xf32>, tensor<64x32xf32>) -> tensor<16x32xf32> loc(#back)
  %w1 = graph.sub %w, %g : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32> loc(#update)
  graph.return %w1, %s : tensor<16x32xf32>, tensor<16xf32>
}

// A sum with what is f32 is f32, and small steps are not lost in it: the next product reads a copy.
// CHECK-LABEL: @residual
// CHECK: %[[P:.*]] = graph.matmul
// CHECK: %[[PR:.*]] = graph.cast %[[P]] {to = bf16}
// CHECK: %[[PW:.*]] = graph.cast %[[PR]] {to = f32}
// CHECK: %[[S:.*]] = graph.add %{{.*}}, %[[PW]]
// CHECK: %[[SR:.*]] = graph.cast %[[S]] {to = bf16}
// CHECK: %[[SW:.*]] = graph.cast %[[SR]] {to = f32}
// CHECK: %[[Q:.*]] = graph.matmul %[[SW]]
// CHECK: %[[QR:.*]] = graph.cast %[[Q]] {to = bf16}
// CHECK: %[[QW:.*]] = graph.cast %[[QR]] {to = f32}
// CHECK: graph.add %[[S]], %[[QW]]
graph.step @residual(%x: tensor<64x16xf32>, %w: tensor<16x16xf32>) -> tensor<64x16xf32> {
  %p = graph.matmul %x, %w {spec = "bi,oi->bo"} : (tensor<64x16xf32>, tensor<16x16xf32>) -> tensor<64x16xf32> loc(#forward)
  %s = graph.add %x, %p : (tensor<64x16xf32>, tensor<64x16xf32>) -> tensor<64x16xf32> loc(#forward)
  %q = graph.matmul %s, %w {spec = "bi,oi->bo"} : (tensor<64x16xf32>, tensor<16x16xf32>) -> tensor<64x16xf32> loc(#forward)
  %t = graph.add %s, %q : (tensor<64x16xf32>, tensor<64x16xf32>) -> tensor<64x16xf32> loc(#forward)
  %u = graph.exp %t : (tensor<64x16xf32>) -> tensor<64x16xf32>
  graph.return %u : tensor<64x16xf32>
}

// A product of the update (Muon) is as it was.
// CHECK-LABEL: @update
// CHECK-NEXT: graph.matmul
// CHECK-NEXT: graph.return
graph.step @update(%m: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %s = graph.matmul %m, %m {spec = "ij,kj->ik"} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> loc(#update)
  graph.return %s : tensor<8x8xf32>
}

// A view is one of what is rounded; that of a parameter is another one than what its penalty reads. Other shapes are
// of what is stored.
// CHECK-LABEL: @views
// CHECK-SAME: (%[[X:.*]]: tensor<4x6x8xf32>, %[[W:.*]]: tensor<8x5xf32>)
// CHECK-DAG: %[[XR:.*]] = graph.cast %[[X]] {to = bf16}
// CHECK-DAG: %[[FLAT:.*]] = graph.reshape %[[XR]] {{.*}} -> tensor<24x8xbf16>
// CHECK-DAG: %[[WIDE:.*]] = graph.cast %[[FLAT]] {to = f32}
// CHECK-DAG: %[[WR:.*]] = graph.cast %[[W]] {to = bf16}
// CHECK-DAG: %[[WW:.*]] = graph.cast %[[WR]] {to = f32}
// CHECK-DAG: %[[T:.*]] = graph.transpose %[[W]]
// CHECK-DAG: %[[TW:.*]] = graph.transpose %[[WW]]
// CHECK: graph.matmul %[[WIDE]], %[[TW]]
// CHECK: graph.abs %[[T]]
graph.step @views(%x: tensor<4x6x8xf32>, %w: tensor<8x5xf32>) -> (tensor<24x5xf32>, tensor<5x8xf32>) {
  %f = graph.reshape %x {shape = array<i64: 24, 8>} : (tensor<4x6x8xf32>) -> tensor<24x8xf32>
  %t = graph.transpose %w {permutation = array<i64: 1, 0>} : (tensor<8x5xf32>) -> tensor<5x8xf32>
  %p = graph.matmul %f, %t {spec = "bi,oi->bo"} : (tensor<24x8xf32>, tensor<5x8xf32>) -> tensor<24x5xf32> loc(#forward)
  %a = graph.abs %t : (tensor<5x8xf32>) -> tensor<5x8xf32>
  graph.return %p, %a : tensor<24x5xf32>, tensor<5x8xf32>
}

// The gradient of a maximum asks which elements are equal to it: of those that are not rounded, the maximum must not be,
// nor what is seen as another shape of it.
// CHECK-LABEL: @maximum
// CHECK: %[[E:.*]] = graph.exp
// CHECK: %[[MAX:.*]] = graph.amax %[[E]]
// CHECK: %[[MR:.*]] = graph.cast %[[MAX]] {to = bf16}
// CHECK: graph.matmul
// CHECK: %[[WIDE:.*]] = graph.expand %[[MAX]]
// CHECK: graph.eq %[[E]], %[[WIDE]]
graph.step @maximum(%x: tensor<64x32xf32>, %w: tensor<32x32xf32>) -> (tensor<64x32xf32>, tensor<64x32xi1>) {
  %p = graph.matmul %x, %w {spec = "bi,oi->bo"} : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32> loc(#forward)
  %e = graph.exp %p : (tensor<64x32xf32>) -> tensor<64x32xf32>
  %m = graph.amax %e {dims = array<i64: 1>, keepdim = true} : (tensor<64x32xf32>) -> tensor<64x1xf32>
  %v = graph.slice %w {offsets = array<i64: 0, 0>, sizes = array<i64: 32, 1>, strides = array<i64: 1, 1>} : (tensor<32x32xf32>) -> tensor<32x1xf32>
  %o = graph.matmul %m, %v {spec = "bi,oi->bo"} : (tensor<64x1xf32>, tensor<32x1xf32>) -> tensor<64x32xf32> loc(#forward)
  %wide = graph.expand %m {shape = array<i64: 64, 32>} : (tensor<64x1xf32>) -> tensor<64x32xf32>
  %q = graph.eq %e, %wide : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xi1>
  graph.return %o, %q : tensor<64x32xf32>, tensor<64x32xi1>
}

// Those of rounded ones are one of them, and compared with a constant is what all read.
// CHECK-LABEL: @rounded_maximum
// CHECK: %[[P:.*]] = graph.matmul
// CHECK: %[[PR:.*]] = graph.cast %[[P]] {to = bf16}
// CHECK: %[[PW:.*]] = graph.cast %[[PR]] {to = f32}
// CHECK: %[[R:.*]] = graph.relu %[[PW]]
// CHECK: %[[MAX:.*]] = graph.amax %[[R]]
// CHECK: %[[MR:.*]] = graph.cast %[[MAX]] {to = bf16}
// CHECK: %[[MW:.*]] = graph.cast %[[MR]] {to = f32}
// CHECK: graph.eq %[[R]], %[[MW]]
// CHECK: graph.gt %[[PW]]
graph.step @rounded_maximum(%x: tensor<64x32xf32>, %w: tensor<16x32xf32>, %v: tensor<8x1xf32>)
    -> (tensor<64x8xf32>, tensor<64x16xi1>, tensor<64x16xi1>) {
  %p = graph.matmul %x, %w {spec = "bi,oi->bo"} : (tensor<64x32xf32>, tensor<16x32xf32>) -> tensor<64x16xf32> loc(#forward)
  %r = graph.relu %p : (tensor<64x16xf32>) -> tensor<64x16xf32>
  %m = graph.amax %r {dims = array<i64: 1>, keepdim = true} : (tensor<64x16xf32>) -> tensor<64x1xf32>
  %o = graph.matmul %m, %v {spec = "bi,oi->bo"} : (tensor<64x1xf32>, tensor<8x1xf32>) -> tensor<64x8xf32> loc(#forward)
  %q = graph.eq %r, %m : (tensor<64x16xf32>, tensor<64x1xf32>) -> tensor<64x16xi1>
  %zero = graph.full {type = tensor<f32>, value = 0.0 : f64} : () -> tensor<f32>
  %g = graph.gt %p, %zero : (tensor<64x16xf32>, tensor<f32>) -> tensor<64x16xi1>
  graph.return %o, %q, %g : tensor<64x8xf32>, tensor<64x16xi1>, tensor<64x16xi1>
}

// -----

// CHECK: dtype f32
// CHECK-NOT: bf16
graph.program "net.dl" dtype f32 accumulate 1
graph.step @single(%x: tensor<64x32xf32>, %w: tensor<16x32xf32>) -> tensor<64x16xf32> {
  %p = graph.matmul %x, %w {spec = "bi,oi->bo"} : (tensor<64x32xf32>, tensor<16x32xf32>) -> tensor<64x16xf32>
  graph.return %p : tensor<64x16xf32>
}
