// RUN: echo "chunk_least_bytes = 1024" > %t.machine
// RUN: echo "chunk_bytes = 1024" >> %t.machine
// RUN: echo "chunk_rows = 2" >> %t.machine
// RUN: dl-opt --chunk-large-values=machine=%t.machine %s --split-input-file | FileCheck %s
// RUN: dl-opt --chunk-large-values=machine=%t.machine %s --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=SAID
// RUN: printf "chain_rows = 32\nchain_scratch_bytes = 8192\nproduct_f32_flops = 4e13\nbytes_per_second = 1e12\n" > %t.gpu
// RUN: cat %t.machine >> %t.gpu
// RUN: dl-opt --chunk-large-values=machine=%t.gpu %s --split-input-file | FileCheck %s --check-prefix=GPU

// Logits of 8 rows, 1024 bytes of which are 2: four chunks. The gradient of the weight is added up, that of the input
// and the sums of rows are put together; what is computed of these comes behind.
// CHECK-LABEL: graph.step @head
// CHECK: %[[SCALE:.*]] = graph.div
// CHECK-NEXT: %[[X0:.*]] = graph.slice %arg0 {offsets = array<i64: 0, 0>, sizes = array<i64: 2, 4>
// CHECK-NEXT: %[[L0:.*]] = graph.matmul %[[X0]], %arg1
// CHECK-NEXT: %[[E0:.*]] = graph.exp %[[L0]]
// CHECK-NEXT: %[[R0:.*]] = graph.sum %[[E0]]
// CHECK-NEXT: %[[P0:.*]] = graph.div %[[E0]], %[[R0]]
// CHECK-NEXT: %[[D0:.*]] = graph.mul %[[P0]], %[[SCALE]]
// CHECK-NEXT: %[[DX0:.*]] = graph.matmul %[[D0]], %arg1
// CHECK-NEXT: %[[Y0:.*]] = graph.slice %arg0
// CHECK-NEXT: %[[DW0:.*]] = graph.matmul %[[D0]], %[[Y0]]
// CHECK: offsets = array<i64: 2, 0>
// CHECK: %[[R1:.*]] = graph.sum
// CHECK: %[[DX1:.*]] = graph.matmul %{{.*}}, %arg1 {spec = "mn,nk->mk"}
// CHECK: %[[DW1:.*]] = graph.add %[[DW0]],
// CHECK: %[[R2:.*]] = graph.sum
// CHECK: %[[DX2:.*]] = graph.matmul %{{.*}}, %arg1 {spec = "mn,nk->mk"}
// CHECK: %[[DW2:.*]] = graph.add %[[DW1]],
// CHECK: %[[R3:.*]] = graph.sum
// CHECK: %[[DX3:.*]] = graph.matmul %{{.*}}, %arg1 {spec = "mn,nk->mk"}
// CHECK: %[[DW3:.*]] = graph.add %[[DW2]],
// CHECK-NEXT: %[[R:.*]] = graph.cat %[[R0]], %[[R1]], %[[R2]], %[[R3]] {dim = 0
// CHECK-NEXT: %[[DX:.*]] = graph.cat %[[DX0]], %[[DX1]], %[[DX2]], %[[DX3]] {dim = 0
// CHECK-NEXT: %[[T:.*]] = graph.sum %[[R]]
// CHECK-NEXT: %[[LOSS:.*]] = graph.neg %[[T]]
// CHECK-NEXT: graph.return %[[LOSS]], %[[DX]], %[[DW3]]
graph.step @head(%x: tensor<8x4xf32> input 0, %w: tensor<128x4xf32>, %n: tensor<f32>)
    -> (tensor<f32>, tensor<8x4xf32>, tensor<128x4xf32>) {
  // SAID: remark: matmul: 4096 bytes are computed in 4 chunks, one after the other
  %l = graph.matmul %x, %w {spec = "mk,nk->mn"} : (tensor<8x4xf32>, tensor<128x4xf32>) -> tensor<8x128xf32>
  %e = graph.exp %l : (tensor<8x128xf32>) -> tensor<8x128xf32>
  %r = graph.sum %e {dims = array<i64: 1>, keepdim = true} : (tensor<8x128xf32>) -> tensor<8x1xf32>
  %t = graph.sum %r {dims = array<i64: 0, 1>} : (tensor<8x1xf32>) -> tensor<f32>
  %loss = graph.neg %t : (tensor<f32>) -> tensor<f32>
  %one = graph.full {type = tensor<f32>, value = 1.0} : () -> tensor<f32>
  %scale = graph.div %one, %n : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %p = graph.div %e, %r : (tensor<8x128xf32>, tensor<8x1xf32>) -> tensor<8x128xf32>
  %d = graph.mul %p, %scale : (tensor<8x128xf32>, tensor<f32>) -> tensor<8x128xf32>
  %dx = graph.matmul %d, %w {spec = "mn,nk->mk"} : (tensor<8x128xf32>, tensor<128x4xf32>) -> tensor<8x4xf32>
  %dw = graph.matmul %d, %x {spec = "mn,mk->nk"} : (tensor<8x128xf32>, tensor<8x4xf32>) -> tensor<128x4xf32>
  graph.return %loss, %dx, %dw : tensor<f32>, tensor<8x4xf32>, tensor<128x4xf32>
}

// -----

// What goes on with a total of all rows needs them all.
// CHECK-LABEL: graph.step @squared
// CHECK-COUNT-2: graph.matmul
// CHECK-NOT: graph.matmul
graph.step @squared(%x: tensor<8x4xf32> input 0, %w: tensor<128x4xf32>) -> tensor<128x4xf32> {
  // SAID: remark: matmul: 4096 bytes are computed as a whole: a total over all rows is needed to go on
  %l = graph.matmul %x, %w {spec = "mk,nk->mn"} : (tensor<8x4xf32>, tensor<128x4xf32>) -> tensor<8x128xf32>
  %t = graph.sum %l {dims = array<i64: 0, 1>} : (tensor<8x128xf32>) -> tensor<f32>
  %d = graph.mul %l, %t : (tensor<8x128xf32>, tensor<f32>) -> tensor<8x128xf32>
  %dw = graph.matmul %d, %x {spec = "mn,mk->nk"} : (tensor<8x128xf32>, tensor<8x4xf32>) -> tensor<128x4xf32>
  graph.return %dw : tensor<128x4xf32>
}

// -----

// What is returned is there as a whole.
// CHECK-LABEL: graph.step @predict
// CHECK-COUNT-1: graph.matmul
graph.step @predict(%x: tensor<8x4xf32> input 0, %w: tensor<128x4xf32>) -> tensor<8x128xf32> {
  // SAID: remark: matmul: 4096 bytes are computed as a whole: it is a result of the step
  %l = graph.matmul %x, %w {spec = "mk,nk->mn"} : (tensor<8x4xf32>, tensor<128x4xf32>) -> tensor<8x128xf32>
  graph.return %l : tensor<8x128xf32>
}

// -----

// A comparison with targets is made chunk by chunk, too.
// CHECK-LABEL: graph.step @compared
// CHECK: graph.slice %arg2 {offsets = array<i64: 0, 0>, sizes = array<i64: 2, 1>
// CHECK-NEXT: graph.eq %{{.*}} -> tensor<2x128xi1>
// CHECK-NOT: tensor<8x128x
graph.step @compared(%x: tensor<8x4xf32> input 0, %w: tensor<128x4xf32>, %t: tensor<8x1xi64>) -> tensor<8x1xf32> {
  // SAID: remark: matmul: 4096 bytes are computed in 4 chunks, one after the other
  %l = graph.matmul %x, %w {spec = "mk,nk->mn"} : (tensor<8x4xf32>, tensor<128x4xf32>) -> tensor<8x128xf32>
  %c = graph.iota {dim = 1 : i64, type = tensor<1x128xi64>} : () -> tensor<1x128xi64>
  %is = graph.eq %c, %t : (tensor<1x128xi64>, tensor<8x1xi64>) -> tensor<8x128xi1>
  %zero = graph.full {type = tensor<f32>, value = 0.0} : () -> tensor<f32>
  %p = graph.select %is, %l, %zero : (tensor<8x128xi1>, tensor<8x128xf32>, tensor<f32>) -> tensor<8x128xf32>
  %s = graph.sum %p {dims = array<i64: 1>, keepdim = true} : (tensor<8x128xf32>) -> tensor<8x1xf32>
  graph.return %s : tensor<8x1xf32>
}

// -----

// Slices of a batch that fit into scratch become one kernel.
// CHECK-LABEL: graph.step @scores
// CHECK-COUNT-2: graph.matmul
// CHECK-NOT: graph.matmul
graph.step @scores(%q: tensor<8x16x2xf32> input 0, %k: tensor<8x16x2xf32>) -> tensor<8x16x2xf32> {
  %l = graph.matmul %q, %k {spec = "bmk,bnk->bmn"} : (tensor<8x16x2xf32>, tensor<8x16x2xf32>) -> tensor<8x16x16xf32>
  %e = graph.exp %l : (tensor<8x16x16xf32>) -> tensor<8x16x16xf32>
  %o = graph.matmul %e, %k {spec = "bmn,bnk->bmk"} : (tensor<8x16x16xf32>, tensor<8x16x2xf32>) -> tensor<8x16x2xf32>
  graph.return %o : tensor<8x16x2xf32>
}

// -----

// Its rows are read along another dim, too, before the op that makes them is found to be one of these.
// CHECK-LABEL: graph.step @along_both
// CHECK-NOT: graph.slice
graph.step @along_both(%x: tensor<16x4xf32> input 0, %m: tensor<1x16xf32>) -> tensor<16xf32> {
  // SAID: remark: matmul: 1024 bytes are computed as a whole: it is read along two dims
  %s = graph.matmul %x, %x {spec = "mk,nk->mn"} : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x16xf32>
  %r = graph.sum %s {dims = array<i64: 1>, keepdim = false} : (tensor<16x16xf32>) -> tensor<16xf32>
  %d = graph.sub %s, %r : (tensor<16x16xf32>, tensor<16xf32>) -> tensor<16x16xf32>
  %e = graph.mul %d, %m : (tensor<16x16xf32>, tensor<1x16xf32>) -> tensor<16x16xf32>
  %t = graph.sum %e {dims = array<i64: 1>} : (tensor<16x16xf32>) -> tensor<16xf32>
  graph.return %t : tensor<16xf32>
}

// -----

// Seven rows: the last chunk has one.
// CHECK-LABEL: graph.step @uneven
// CHECK: graph.matmul {{.*}} -> tensor<2x128xf32>
// CHECK: graph.matmul {{.*}} -> tensor<2x128xf32>
// CHECK: graph.matmul {{.*}} -> tensor<2x128xf32>
// CHECK: graph.matmul {{.*}} -> tensor<1x128xf32>
// CHECK: graph.cat {{.*}} -> tensor<7xf32>
graph.step @uneven(%x: tensor<7x2xf32> input 0, %w: tensor<128x2xf32>) -> tensor<7xf32> {
  // SAID: remark: matmul: 3584 bytes are computed in 4 chunks, one after the other
  %l = graph.matmul %x, %w {spec = "mk,nk->mn"} : (tensor<7x2xf32>, tensor<128x2xf32>) -> tensor<7x128xf32>
  %r = graph.sum %l {dims = array<i64: 1>} : (tensor<7x128xf32>) -> tensor<7xf32>
  graph.return %r : tensor<7xf32>
}

// -----

// Two items of eight rows, which are flattened: each item is cut once more.
// CHECK-LABEL: graph.step @two_items
// CHECK-COUNT-8: graph.matmul {{.*}} -> tensor<1x2x128xf32>
// CHECK-NOT: graph.matmul
graph.step @two_items(%x: tensor<2x8x4xf32> input 0, %w: tensor<128x4xf32>) -> tensor<16xf32> {
  // SAID: remark: matmul: 8192 bytes are computed in 2 chunks, one after the other
  // SAID: remark: matmul: 4096 bytes are computed in 4 chunks, one after the other
  %l = graph.matmul %x, %w {spec = "bmk,nk->bmn"} : (tensor<2x8x4xf32>, tensor<128x4xf32>) -> tensor<2x8x128xf32>
  %f = graph.reshape %l {shape = array<i64: 16, 128>} : (tensor<2x8x128xf32>) -> tensor<16x128xf32>
  %r = graph.sum %f {dims = array<i64: 1>} : (tensor<16x128xf32>) -> tensor<16xf32>
  graph.return %r : tensor<16xf32>
}

// -----

// Scores whose columns a GPU adds up some at a time are in memory nowhere: their chunks would be too small for it.
// CHECK-LABEL: graph.step @scores
// CHECK: graph.matmul {{.*}} -> tensor<1x2x128xf32>
// GPU-LABEL: graph.step @scores
// GPU: graph.matmul {{.*}} -> tensor<2x32x128xf32>
// GPU-NOT: -> tensor<1x
graph.step @scores(%q: tensor<2x32x2xf32> input 0, %k: tensor<2x128x2xf32> input 1) -> tensor<2x32x2xf32> {
  %s = graph.matmul %q, %k {spec = "bmk,bnk->bmn"} : (tensor<2x32x2xf32>, tensor<2x128x2xf32>) -> tensor<2x32x128xf32>
  %m = graph.amax %s {dims = array<i64: 2>, keepdim = true} : (tensor<2x32x128xf32>) -> tensor<2x32x1xf32>
  %d = graph.sub %s, %m : (tensor<2x32x128xf32>, tensor<2x32x1xf32>) -> tensor<2x32x128xf32>
  %o = graph.matmul %d, %k {spec = "bmn,bnk->bmk"} : (tensor<2x32x128xf32>, tensor<2x128x2xf32>) -> tensor<2x32x2xf32>
  graph.return %o : tensor<2x32x2xf32>
}

// -----

// A sum of rows needs them all.
// GPU-LABEL: graph.step @sums_of_rows
// GPU: graph.matmul {{.*}} -> tensor<1x2x128xf32>
graph.step @sums_of_rows(%q: tensor<2x32x2xf32> input 0, %k: tensor<2x128x2xf32> input 1) -> tensor<2x128x2xf32> {
  %s = graph.matmul %q, %k {spec = "bmk,bnk->bmn"} : (tensor<2x32x2xf32>, tensor<2x128x2xf32>) -> tensor<2x32x128xf32>
  %p = graph.exp %s : (tensor<2x32x128xf32>) -> tensor<2x32x128xf32>
  %v = graph.matmul %p, %q {spec = "bmn,bmk->bnk"} : (tensor<2x32x128xf32>, tensor<2x32x2xf32>) -> tensor<2x128x2xf32>
  graph.return %v : tensor<2x128x2xf32>
}

// -----

// Rows with others around them are a sum of their parts, but not in bf16.
// CHECK-LABEL: graph.step @padded
// CHECK: graph.matmul {{.*}} -> tensor<2x128xf32>
// CHECK-LABEL: graph.step @rounded
// CHECK: graph.matmul {{.*}} -> tensor<32x128xf32>
graph.step @padded(%x: tensor<32x4xf32> input 0, %w: tensor<128x4xf32>) -> tensor<33x128xf32> {
  %l = graph.matmul %x, %w {spec = "mk,nk->mn"} : (tensor<32x4xf32>, tensor<128x4xf32>) -> tensor<32x128xf32>
  %g = graph.pad %l {low = array<i64: 0, 0>, high = array<i64: 1, 0>, interior = array<i64: 0, 0>, value = 0.0 : f64} : (tensor<32x128xf32>) -> tensor<33x128xf32>
  graph.return %g : tensor<33x128xf32>
}
graph.step @rounded(%x: tensor<32x4xf32> input 0, %w: tensor<128x4xf32>) -> tensor<33x128xbf16> {
  // SAID: remark: matmul: 16384 bytes are computed as a whole: its parts would be added up in bf16
  %l = graph.matmul %x, %w {spec = "mk,nk->mn"} : (tensor<32x4xf32>, tensor<128x4xf32>) -> tensor<32x128xf32>
  %c = graph.cast %l {to = bf16} : (tensor<32x128xf32>) -> tensor<32x128xbf16>
  %g = graph.pad %c {low = array<i64: 0, 0>, high = array<i64: 1, 0>, interior = array<i64: 0, 0>, value = 0.0 : f64} : (tensor<32x128xbf16>) -> tensor<33x128xbf16>
  graph.return %g : tensor<33x128xbf16>
}
