// On a GPU a chain of products is computed for a few rows at a time, whose values are in a block's shared memory.
// RUN: echo "chain_rows = 32" > %t.machine
// RUN: printf "chain_scratch_bytes = 73728\nproduct_f32_flops = 4e13\nproduct_bf16_flops = 2e14\nbytes_per_second = 3e12\n" >> %t.machine
// RUN: dl-opt --form-kernels=machine=%t.machine %s 2>/dev/null | FileCheck %s
// RUN: dl-opt --form-kernels=machine=%t.machine --annotate-cuda-kernels %s 2>/dev/null | FileCheck %s --check-prefix=BLOCKS

// Of each value there are 32 rows at a time, and only one: exponentials come in the place of scores.
// CHECK-LABEL: graph.step @softmax
// CHECK: graph.kernel {{.*}}name = "matmul_amax_sub_exp_
// CHECK-NOT: graph.kernel
// BLOCKS-LABEL: graph.step @softmax
// BLOCKS: shared = {{[3-7][0-9][0-9][0-9][0-9]}} : i64, strategy = "chain of products"
graph.step @softmax(%q: tensor<4x300x7xf32>, %k: tensor<4x300x7xf32>, %v: tensor<4x300x9xf32>) -> tensor<4x300x9xf32> {
  %s = graph.matmul %q, %k {spec = "bmk,bnk->bmn"} : (tensor<4x300x7xf32>, tensor<4x300x7xf32>) -> tensor<4x300x300xf32>
  %m = graph.amax %s {dims = array<i64: 2>, keepdim = true} : (tensor<4x300x300xf32>) -> tensor<4x300x1xf32>
  %d = graph.sub %s, %m : (tensor<4x300x300xf32>, tensor<4x300x1xf32>) -> tensor<4x300x300xf32>
  %e = graph.exp %d : (tensor<4x300x300xf32>) -> tensor<4x300x300xf32>
  %l = graph.sum %e {dims = array<i64: 2>, keepdim = true} : (tensor<4x300x300xf32>) -> tensor<4x300x1xf32>
  %p = graph.div %e, %l : (tensor<4x300x300xf32>, tensor<4x300x1xf32>) -> tensor<4x300x300xf32>
  %o = graph.matmul %p, %v {spec = "bmk,bkn->bmn"} : (tensor<4x300x300xf32>, tensor<4x300x9xf32>) -> tensor<4x300x9xf32>
  graph.return %o : tensor<4x300x9xf32>
}

// In bf16 rows wait as they are rounded, and products widen them.
// CHECK-LABEL: graph.step @rounded
// CHECK: graph.kernel {{.*}}name = "cast_matmul_amax_sub_
// CHECK-NOT: graph.kernel
// BLOCKS-LABEL: graph.step @rounded
// BLOCKS: shared = {{[6-9][0-9][0-9][0-9][0-9]}} : i64, strategy = "chain of products"
graph.step @rounded(%q: tensor<4x320x16xbf16>, %k: tensor<4x320x16xbf16>, %v: tensor<4x320x16xbf16>) -> tensor<4x320x16xf32> {
  %wq = graph.cast %q {to = f32} : (tensor<4x320x16xbf16>) -> tensor<4x320x16xf32>
  %wk = graph.cast %k {to = f32} : (tensor<4x320x16xbf16>) -> tensor<4x320x16xf32>
  %wv = graph.cast %v {to = f32} : (tensor<4x320x16xbf16>) -> tensor<4x320x16xf32>
  %s = graph.matmul %wq, %wk {spec = "bmk,bnk->bmn"} : (tensor<4x320x16xf32>, tensor<4x320x16xf32>) -> tensor<4x320x320xf32>
  %rs = graph.cast %s {to = bf16} : (tensor<4x320x320xf32>) -> tensor<4x320x320xbf16>
  %ws = graph.cast %rs {to = f32} : (tensor<4x320x320xbf16>) -> tensor<4x320x320xf32>
  %m = graph.amax %ws {dims = array<i64: 2>, keepdim = true} : (tensor<4x320x320xf32>) -> tensor<4x320x1xf32>
  %d = graph.sub %ws, %m : (tensor<4x320x320xf32>, tensor<4x320x1xf32>) -> tensor<4x320x320xf32>
  %e = graph.exp %d : (tensor<4x320x320xf32>) -> tensor<4x320x320xf32>
  %l = graph.sum %e {dims = array<i64: 2>, keepdim = true} : (tensor<4x320x320xf32>) -> tensor<4x320x1xf32>
  %p = graph.div %e, %l : (tensor<4x320x320xf32>, tensor<4x320x1xf32>) -> tensor<4x320x320xf32>
  %rp = graph.cast %p {to = bf16} : (tensor<4x320x320xf32>) -> tensor<4x320x320xbf16>
  %wp = graph.cast %rp {to = f32} : (tensor<4x320x320xbf16>) -> tensor<4x320x320xf32>
  %o = graph.matmul %wp, %wv {spec = "bmk,bkn->bmn"} : (tensor<4x320x320xf32>, tensor<4x320x16xf32>) -> tensor<4x320x16xf32>
  graph.return %o : tensor<4x320x16xf32>
}

// The gradients of keys and values are sums over all rows; what they are made of is stored. Two values of 32 rows
// would not fit: the gradient of probabilities is made when the scores are not needed any more.
// CHECK-LABEL: graph.step @backward
// CHECK: %[[ROWS:.*]]:3 = graph.kernel
// CHECK: graph.kernel {{.*}}%[[ROWS]]#
// CHECK: graph.kernel {{.*}}%[[ROWS]]#
// CHECK-NOT: graph.kernel
// BLOCKS-LABEL: graph.step @backward
// BLOCKS: shared = {{[7-9][0-9][0-9][0-9][0-9]}} : i64, strategy = "chain of products"
// BLOCKS: strategy = "contract"
// BLOCKS: strategy = "contract"
graph.step @backward(%q: tensor<3x200x12xf32>, %k: tensor<3x456x12xf32>, %v: tensor<3x456x20xf32>, %z: tensor<3x200x1xf32>, %g: tensor<3x200x20xf32>) -> (tensor<3x200x12xf32>, tensor<3x456x12xf32>, tensor<3x456x20xf32>) {
  %dp = graph.matmul %g, %v {spec = "bmn,bkn->bmk"} : (tensor<3x200x20xf32>, tensor<3x456x20xf32>) -> tensor<3x200x456xf32>
  %s = graph.matmul %q, %k {spec = "bmk,bnk->bmn"} : (tensor<3x200x12xf32>, tensor<3x456x12xf32>) -> tensor<3x200x456xf32>
  %e = graph.exp %s : (tensor<3x200x456xf32>) -> tensor<3x200x456xf32>
  %p = graph.div %e, %z : (tensor<3x200x456xf32>, tensor<3x200x1xf32>) -> tensor<3x200x456xf32>
  %dv = graph.matmul %p, %g {spec = "bmk,bmn->bkn"} : (tensor<3x200x456xf32>, tensor<3x200x20xf32>) -> tensor<3x456x20xf32>
  %pdp = graph.mul %dp, %p : (tensor<3x200x456xf32>, tensor<3x200x456xf32>) -> tensor<3x200x456xf32>
  %r = graph.sum %pdp {dims = array<i64: 2>, keepdim = true} : (tensor<3x200x456xf32>) -> tensor<3x200x1xf32>
  %c = graph.sub %dp, %r : (tensor<3x200x456xf32>, tensor<3x200x1xf32>) -> tensor<3x200x456xf32>
  %ds = graph.mul %c, %p : (tensor<3x200x456xf32>, tensor<3x200x456xf32>) -> tensor<3x200x456xf32>
  %dq = graph.matmul %ds, %k {spec = "bmk,bkn->bmn"} : (tensor<3x200x456xf32>, tensor<3x456x12xf32>) -> tensor<3x200x12xf32>
  %dk = graph.matmul %ds, %q {spec = "bmk,bmn->bkn"} : (tensor<3x200x456xf32>, tensor<3x200x12xf32>) -> tensor<3x456x12xf32>
  graph.return %dq, %dk, %dv : tensor<3x200x12xf32>, tensor<3x456x12xf32>, tensor<3x456x20xf32>
}

// 32 rows of 900 scores are more than the scratch: their columns come some at a time.
// CHECK-LABEL: graph.step @long_rows
// CHECK: graph.kernel {{.*}}name = "matmul_exp_
// CHECK-NOT: graph.kernel
// BLOCKS-LABEL: graph.step @long_rows
// BLOCKS: shared = {{[3-7][0-9][0-9][0-9][0-9]}} : i64, strategy = "streamed chain of products"
graph.step @long_rows(%q: tensor<4x600x7xf32>, %k: tensor<4x900x7xf32>, %v: tensor<4x900x9xf32>) -> tensor<4x600x9xf32> {
  %s = graph.matmul %q, %k {spec = "bmk,bnk->bmn"} : (tensor<4x600x7xf32>, tensor<4x900x7xf32>) -> tensor<4x600x900xf32>
  %p = graph.exp %s : (tensor<4x600x900xf32>) -> tensor<4x600x900xf32>
  %o = graph.matmul %p, %v {spec = "bmk,bkn->bmn"} : (tensor<4x600x900xf32>, tensor<4x900x9xf32>) -> tensor<4x600x9xf32>
  graph.return %o : tensor<4x600x9xf32>
}

// They do not where it takes longer to compute them again than to write and read them.
// CHECK-LABEL: graph.step @many_sums
// CHECK-COUNT-2: graph.kernel
graph.step @many_sums(%q: tensor<4x600x96xf32>, %k: tensor<4x900x96xf32>, %v: tensor<4x900x9xf32>) -> tensor<4x600x9xf32> {
  %s = graph.matmul %q, %k {spec = "bmk,bnk->bmn"} : (tensor<4x600x96xf32>, tensor<4x900x96xf32>) -> tensor<4x600x900xf32>
  %m = graph.amax %s {dims = array<i64: 2>, keepdim = true} : (tensor<4x600x900xf32>) -> tensor<4x600x1xf32>
  %d = graph.sub %s, %m : (tensor<4x600x900xf32>, tensor<4x600x1xf32>) -> tensor<4x600x900xf32>
  %p = graph.exp %d : (tensor<4x600x900xf32>) -> tensor<4x600x900xf32>
  %o = graph.matmul %p, %v {spec = "bmk,bkn->bmn"} : (tensor<4x600x900xf32>, tensor<4x900x9xf32>) -> tensor<4x600x9xf32>
  graph.return %o : tensor<4x600x9xf32>
}

// So they cannot where what is made of a row needs to know a place in it.
// CHECK-LABEL: graph.step @long_places
// CHECK-COUNT-2: graph.kernel
graph.step @long_places(%q: tensor<4x600x7xf32>, %k: tensor<4x600x7xf32>, %v: tensor<4x600x9xf32>) -> (tensor<4x600x9xf32>, tensor<4x600xi64>) {
  %s = graph.matmul %q, %k {spec = "bmk,bnk->bmn"} : (tensor<4x600x7xf32>, tensor<4x600x7xf32>) -> tensor<4x600x600xf32>
  %r = graph.argmax %s {dim = 2 : i64} : (tensor<4x600x600xf32>) -> tensor<4x600xi64>
  %o = graph.matmul %s, %v {spec = "bmk,bkn->bmn"} : (tensor<4x600x600xf32>, tensor<4x600x9xf32>) -> tensor<4x600x9xf32>
  graph.return %o, %r : tensor<4x600x9xf32>, tensor<4x600xi64>
}

// All that is between them is stored: tiles of products are better apart.
// CHECK-LABEL: graph.step @stored
// CHECK-COUNT-2: graph.kernel
graph.step @stored(%q: tensor<4x300x7xf32>, %k: tensor<4x300x7xf32>, %v: tensor<4x300x9xf32>) -> (tensor<4x300x9xf32>, tensor<4x300x300xf32>) {
  %s = graph.matmul %q, %k {spec = "bmk,bnk->bmn"} : (tensor<4x300x7xf32>, tensor<4x300x7xf32>) -> tensor<4x300x300xf32>
  %p = graph.exp %s : (tensor<4x300x300xf32>) -> tensor<4x300x300xf32>
  %o = graph.matmul %p, %v {spec = "bmk,bkn->bmn"} : (tensor<4x300x300xf32>, tensor<4x300x9xf32>) -> tensor<4x300x9xf32>
  graph.return %o, %p : tensor<4x300x9xf32>, tensor<4x300x300xf32>
}

// The second product takes columns of the first one.
// CHECK-LABEL: graph.step @columns
// CHECK-COUNT-2: graph.kernel
graph.step @columns(%q: tensor<4x300x7xf32>, %k: tensor<4x300x7xf32>, %v: tensor<4x300x9xf32>) -> tensor<4x300x9xf32> {
  %s = graph.matmul %q, %k {spec = "bmk,bnk->bmn"} : (tensor<4x300x7xf32>, tensor<4x300x7xf32>) -> tensor<4x300x300xf32>
  %p = graph.exp %s : (tensor<4x300x300xf32>) -> tensor<4x300x300xf32>
  %o = graph.matmul %p, %v {spec = "bkm,bkn->bmn"} : (tensor<4x300x300xf32>, tensor<4x300x9xf32>) -> tensor<4x300x9xf32>
  graph.return %o : tensor<4x300x9xf32>
}
