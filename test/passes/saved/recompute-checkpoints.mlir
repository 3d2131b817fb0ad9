// RUN: dl-opt --recompute-checkpoints=least-bytes=1024 %s --split-input-file | FileCheck %s
// RUN: dl-opt --recompute-checkpoints=least-bytes=1024 %s --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=SAID
// RUN: dl-opt --recompute-checkpoints=least-bytes=1000000 %s --split-input-file | FileCheck %s --check-prefix=SMALL --implicit-check-not=graph.recomputed
// SMALL-LABEL: @two_layers

// What the gradients of the checkpoint read is made again from %x, in front of
// the first of them. %out is no op's of its backward, and of %s there is little.
// CHECK-LABEL: @two_layers
// CHECK: %[[H:.*]] = graph.matmul %[[X:.*]], %[[W:.*]] {spec = "mk,kn->mn"} :
// CHECK: %[[S:.*]] = graph.sum %[[H]]
// CHECK: %[[Y:.*]] = graph.relu %[[H]] :
// CHECK: %[[OUT:.*]] = graph.matmul %[[Y]]
// CHECK: %[[D:.*]] = graph.mul %[[OUT]]
// CHECK-NEXT: %[[H2:.*]] = graph.matmul %[[X]], %[[W]] {graph.recomputed, spec = "mk,kn->mn"}
// CHECK-NEXT: %[[Y2:.*]] = graph.relu %[[H2]] {graph.recomputed}
// CHECK-NEXT: graph.matmul %[[D]], %[[Y2]]
// CHECK-NEXT: graph.mul %[[D]], %[[H2]]
// CHECK-NEXT: graph.mul %[[S]], %[[S]]
// SAID: remark: {{.*}}checkpoint: 2 ops are computed again in the backward, instead of 32768 bytes kept
#one = loc(fused<"forward #1">["m.dl"])
#back = loc(fused<"backward matmul #1">["m.dl"])
#rest = loc(fused<"backward mul">["m.dl"])
graph.step @two_layers(%x: tensor<64x64xf32> input 0, %w: tensor<64x64xf32>, %v: tensor<64x64xf32>)
    -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64xf32>) {
  %h = graph.matmul %x, %w {spec = "mk,kn->mn"} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> loc(#one)
  %s = graph.sum %h {dims = array<i64: 0>} : (tensor<64x64xf32>) -> tensor<64xf32> loc(#one)
  %y = graph.relu %h : (tensor<64x64xf32>) -> tensor<64x64xf32> loc(#one)
  %out = graph.matmul %y, %v {spec = "mk,kn->mn"} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> loc(#one)
  %d = graph.mul %out, %out : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> loc(#rest)
  %dv = graph.matmul %d, %y {spec = "mn,mk->kn"} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> loc(#back)
  %dh = graph.mul %d, %h : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> loc(#back)
  %ds = graph.mul %s, %s : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32> loc(#back)
  graph.return %dv, %dh, %ds : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64xf32>
}

// -----

// The backward of others reads %y: it is kept, and %h is made again alone.
// CHECK-LABEL: @read_elsewhere
// CHECK: %[[H:.*]] = graph.exp %[[X:.*]] :
// CHECK: %[[Y:.*]] = graph.sin %[[H]] :
// CHECK: %[[D:.*]] = graph.mul %[[Y]], %[[Y]]
// CHECK-NEXT: %[[E:.*]] = graph.mul %[[D]], %[[Y]]
// CHECK-NEXT: %[[H2:.*]] = graph.exp %[[X]] {graph.recomputed}
// CHECK-NEXT: graph.mul %[[E]], %[[H2]]
#one = loc(fused<"forward #1">["m.dl"])
#back = loc(fused<"backward exp #1">["m.dl"])
#rest = loc(fused<"backward mul">["m.dl"])
graph.step @read_elsewhere(%x: tensor<64x64xf32> input 0) -> (tensor<64x64xf32>) {
  %h = graph.exp %x : (tensor<64x64xf32>) -> tensor<64x64xf32> loc(#one)
  %y = graph.sin %h : (tensor<64x64xf32>) -> tensor<64x64xf32> loc(#one)
  %d = graph.mul %y, %y : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> loc(#rest)
  %e = graph.mul %d, %y : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> loc(#back)
  %f = graph.mul %e, %h : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> loc(#back)
  graph.return %f : tensor<64x64xf32>
}

// -----

// %m is small. Its gradient looks for it among the values that are made again, whose last bits may be others: it is
// made of these again, though others read it, too.
// CHECK-LABEL: @a_maximum
// CHECK: %[[S:.*]] = graph.matmul
// CHECK: %[[M:.*]] = graph.amax %[[S]]
// CHECK: graph.mul %[[M]], %[[M]]
// CHECK: %[[S2:.*]] = graph.matmul {{.*}} {graph.recomputed
// CHECK: %[[M2:.*]] = graph.amax %[[S2]] {{.*}}graph.recomputed
// CHECK: graph.mul %{{.*}}, %[[S2]]
// CHECK: %[[V:.*]] = graph.reshape %[[M2]]
// CHECK: graph.eq %[[S2]], %[[V]]
#one = loc(fused<"forward #1">["m.dl"])
#back = loc(fused<"backward matmul #1">["m.dl"])
#rest = loc(fused<"backward mul">["m.dl"])
graph.step @a_maximum(%x: tensor<64x64xf32> input 0, %w: tensor<64x64xf32>)
    -> (tensor<64x64xf32>, tensor<64x64xi1>, tensor<64xf32>) {
  %s = graph.matmul %x, %w {spec = "mk,kn->mn"} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> loc(#one)
  %m = graph.amax %s {dims = array<i64: 1>, keepdim = false} : (tensor<64x64xf32>) -> tensor<64xf32> loc(#one)
  %d = graph.mul %m, %m : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32> loc(#rest)
  %p = graph.mul %x, %s : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> loc(#back)
  %v = graph.reshape %m {shape = array<i64: 64, 1>} : (tensor<64xf32>) -> tensor<64x1xf32> loc(#back)
  %e = graph.eq %s, %v : (tensor<64x64xf32>, tensor<64x1xf32>) -> tensor<64x64xi1> loc(#back)
  graph.return %p, %e, %d : tensor<64x64xf32>, tensor<64x64xi1>, tensor<64xf32>
}

// -----

// So is the threshold of a mask, through what is elementwise on it, and whatever else is compared.
// CHECK-LABEL: @a_mask
// CHECK: %[[S2:.*]] = graph.matmul {{.*}} {graph.recomputed
// CHECK: %[[M2:.*]] = graph.amax %[[S2]] {{.*}}graph.recomputed
// CHECK: %[[MEAN2:.*]] = graph.sum %[[S2]] {{.*}}graph.recomputed
// CHECK: %[[N2:.*]] = graph.neg %[[M2]] {graph.recomputed}
// CHECK: %[[T2:.*]] = graph.neg %[[S2]] {graph.recomputed}
// CHECK: graph.gt %[[T2]], %[[N2]] {graph.recomputed}
// CHECK: graph.gt %[[S2]], %[[MEAN2]] {graph.recomputed}
#one = loc(fused<"forward #1">["m.dl"])
#back = loc(fused<"backward matmul #1">["m.dl"])
graph.step @a_mask(%x: tensor<64x64xf32> input 0, %w: tensor<64x64xf32>)
    -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) {
  %s = graph.matmul %x, %w {spec = "mk,kn->mn"} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> loc(#one)
  %m = graph.amax %s {dims = array<i64: 1>, keepdim = true} : (tensor<64x64xf32>) -> tensor<64x1xf32> loc(#one)
  %mean = graph.sum %s {dims = array<i64: 1>, keepdim = true} : (tensor<64x64xf32>) -> tensor<64x1xf32> loc(#one)
  %n = graph.neg %m : (tensor<64x1xf32>) -> tensor<64x1xf32> loc(#one)
  %t = graph.neg %s : (tensor<64x64xf32>) -> tensor<64x64xf32> loc(#one)
  %a = graph.gt %t, %n : (tensor<64x64xf32>, tensor<64x1xf32>) -> tensor<64x64xi1> loc(#one)
  %b = graph.gt %s, %mean : (tensor<64x64xf32>, tensor<64x1xf32>) -> tensor<64x64xi1> loc(#one)
  %y = graph.select %a, %x, %s : (tensor<64x64xi1>, tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> loc(#one)
  %g = graph.select %a, %x, %w : (tensor<64x64xi1>, tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> loc(#back)
  %h = graph.select %b, %x, %w : (tensor<64x64xi1>, tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> loc(#back)
  graph.return %y, %g, %h : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
}
