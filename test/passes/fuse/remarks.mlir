// RUN: dl-opt --form-kernels %s -o /dev/null 2>&1 | FileCheck %s
// RUN: dl-opt --form-kernels=fuse=false %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE --allow-empty
// NONE-NOT: fused with

// Every op says where it went and why.
// CHECK: remark: add: fused with matmul: computed on the product in registers
// CHECK: remark: relu: fused with matmul: computed on the product in registers
// CHECK: remark: sum: not fused with matmul: it needs more of the product than a tile of it
// CHECK: remark: exp: fused with sum: both fit into the first-level cache
// CHECK: remark: matmul: not fused with matmul: only what is elementwise or pools follows a product in its tiles
graph.step @product(%x: tensor<16x32xf32>, %w: tensor<8x32xf32>, %b: tensor<8xf32>, %v: tensor<4x8xf32>) -> (tensor<16xf32>, tensor<16x4xf32>) {
  %0 = graph.matmul %x, %w {spec = "mk,nk->mn"} : (tensor<16x32xf32>, tensor<8x32xf32>) -> tensor<16x8xf32>
  %1 = graph.add %0, %b : (tensor<16x8xf32>, tensor<8xf32>) -> tensor<16x8xf32>
  %2 = graph.relu %1 : (tensor<16x8xf32>) -> tensor<16x8xf32>
  %3 = graph.sum %2 {dims = array<i64: 1>} : (tensor<16x8xf32>) -> tensor<16xf32>
  %4 = graph.exp %3 : (tensor<16xf32>) -> tensor<16xf32>
  %5 = graph.matmul %2, %v {spec = "mk,nk->mn"} : (tensor<16x8xf32>, tensor<4x8xf32>) -> tensor<16x4xf32>
  graph.return %4, %5 : tensor<16xf32>, tensor<16x4xf32>
}

// CHECK: remark: sum: fused with neg: they share rows, and nothing is stored in between
// CHECK: remark: mul: not fused with neg: they share too few rows to be cut into tiles together
graph.step @rows(%x: tensor<512x512xf32>, %y: tensor<512x512xf32>) -> (tensor<512xf32>, tensor<512x512xf32>) {
  %0 = graph.neg %x : (tensor<512x512xf32>) -> tensor<512x512xf32>
  %1 = graph.exp %0 : (tensor<512x512xf32>) -> tensor<512x512xf32>
  %2 = graph.sum %1 {dims = array<i64: 1>} : (tensor<512x512xf32>) -> tensor<512xf32>
  %3 = graph.mul %y, %2 : (tensor<512x512xf32>, tensor<512xf32>) -> tensor<512x512xf32>
  graph.return %2, %3 : tensor<512xf32>, tensor<512x512xf32>
}

// Decoding is cheaper to repeat than to store.
// CHECK: remark: cast: computed within matmul: cheaper than to store and load it
graph.step @decoded(%x: tensor<16x32xui8>, %w: tensor<8x32xf32>) -> tensor<16x8xf32> {
  %0 = graph.cast %x {to = f32} : (tensor<16x32xui8>) -> tensor<16x32xf32>
  %1 = graph.matmul %0, %w {spec = "mk,nk->mn"} : (tensor<16x32xf32>, tensor<8x32xf32>) -> tensor<16x8xf32>
  graph.return %1 : tensor<16x8xf32>
}

// CHECK: remark: w: written in place
graph.state @w {type = tensor<8xf32>, role = "parameter"}
graph.step @update(%w: tensor<8xf32> state @w, %g: tensor<8xf32>) -> (tensor<8xf32> state @w) {
  %0 = graph.sub %w, %g : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  graph.return %0 : tensor<8xf32>
}

// What depends on arguments alone goes where it is needed.
// CHECK: remark: add: fused with matmul: computed on the product in registers
// CHECK: remark: mul: fused with matmul: its one reader is there
graph.step @waits(%x: tensor<16x32xf32>, %w: tensor<8x32xf32>, %m: tensor<16x8xf32>, %c: tensor<f32>) -> tensor<16x8xf32> {
  %0 = graph.mul %m, %c : (tensor<16x8xf32>, tensor<f32>) -> tensor<16x8xf32>
  %1 = graph.matmul %x, %w {spec = "mk,nk->mn"} : (tensor<16x32xf32>, tensor<8x32xf32>) -> tensor<16x8xf32>
  %2 = graph.add %0, %1 : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<16x8xf32>
  graph.return %2 : tensor<16x8xf32>
}

// What belongs to two micro-batches are two kernels; what belongs to all goes along.
// CHECK: remark: exp: not fused with neg: it is for another part of the batch
// CHECK: remark: sqrt: fused with exp: both fit into the first-level cache
graph.step @micro_batches(%x: tensor<16xf32>) -> tensor<16xf32> {
  %0 = graph.neg %x : (tensor<16xf32>) -> tensor<16xf32> loc(fused<"forward @1">["m.dl":1:1])
  %1 = graph.exp %0 : (tensor<16xf32>) -> tensor<16xf32> loc(fused<"forward @2">["m.dl":2:1])
  %2 = graph.sqrt %1 : (tensor<16xf32>) -> tensor<16xf32>
  graph.return %2 : tensor<16xf32>
}
