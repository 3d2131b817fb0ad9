// RUN: dl-opt --mixed-precision=f32=head,h.*.attn %s | FileCheck %s
// RUN: not dl-opt --mixed-precision=f32=tail %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: --f32=tail: no product is in such a module; some are in h.0.attn, h.0.mlp, head

graph.program "net.dl" dtype bf16 accumulate 1

// Products of some modules are f32. What the next one reads is a rounded copy.
// CHECK-LABEL: @modules
// CHECK: %[[A:.*]] = graph.matmul %{{.*}}, %{{.*}} {spec = "bi,oi->bo"}
// CHECK: %[[AR:.*]] = graph.cast %[[A]] {to = bf16}
// CHECK: %[[AW:.*]] = graph.cast %[[AR]] {to = f32}
// CHECK: %[[M:.*]] = graph.matmul %[[AW]]
// CHECK: %[[MR:.*]] = graph.cast %[[M]] {to = bf16}
// CHECK: %[[MW:.*]] = graph.cast %[[MR]] {to = f32}
// CHECK: %[[S:.*]] = graph.add %[[MW]], %[[A]]
// CHECK-NEXT: %[[L:.*]] = graph.matmul %[[S]], %arg{{[0-9]+}} {spec
// CHECK-NEXT: %[[E:.*]] = graph.exp %[[L]]
// CHECK-NEXT: graph.return %[[E]]
graph.step @modules(%x: tensor<64x32xf32>, %w: tensor<16x32xf32>, %v: tensor<16x16xf32>, %u: tensor<8x16xf32>) -> tensor<64x8xf32> {
  %a = graph.matmul %x, %w {spec = "bi,oi->bo"} : (tensor<64x32xf32>, tensor<16x32xf32>) -> tensor<64x16xf32> loc("h.0.attn"("m.dl":1:1))
  %m = graph.matmul %a, %v {spec = "bi,oi->bo"} : (tensor<64x16xf32>, tensor<16x16xf32>) -> tensor<64x16xf32> loc("h.0.mlp"("m.dl":2:1))
  %s = graph.add %m, %a : (tensor<64x16xf32>, tensor<64x16xf32>) -> tensor<64x16xf32>
  %l = graph.matmul %s, %u {spec = "bi,oi->bo"} : (tensor<64x16xf32>, tensor<8x16xf32>) -> tensor<64x8xf32> loc("head"("m.dl":3:1))
  %e = graph.exp %l : (tensor<64x8xf32>) -> tensor<64x8xf32>
  graph.return %e : tensor<64x8xf32>
}

// So are those that ask for it, and their gradients.
// CHECK-LABEL: @asked
// CHECK-NEXT: %[[A:.*]] = graph.matmul %arg0, %arg1 {full_precision = true, spec = "bi,oi->bo"}
// CHECK-NEXT: %[[E:.*]] = graph.exp %[[A]]
// CHECK-NEXT: graph.return %[[E]]
graph.step @asked(%x: tensor<64x32xf32>, %w: tensor<16x32xf32>) -> tensor<64x16xf32> {
  %a = graph.matmul %x, %w {full_precision = true, spec = "bi,oi->bo"} : (tensor<64x32xf32>, tensor<16x32xf32>) -> tensor<64x16xf32> loc("h.0.mlp"("m.dl":1:1))
  %e = graph.exp %a : (tensor<64x16xf32>) -> tensor<64x16xf32>
  graph.return %e : tensor<64x16xf32>
}
