// Products that are a chain through large values are one kernel.
// RUN: dl-opt --form-kernels %s 2>/dev/null | FileCheck %s
// RUN: echo "chain_scratch_bytes = 0" > %t.machine
// RUN: dl-opt --form-kernels=machine=%t.machine %s 2>/dev/null | FileCheck %s --check-prefix=APART

// CHECK-LABEL: graph.step @softmax
// CHECK: graph.kernel {{.*}}name = "matmul_amax_sub_exp_
// CHECK: graph.matmul
// CHECK: graph.sum
// CHECK: graph.matmul
// CHECK-NOT: graph.kernel
// APART-LABEL: graph.step @softmax
// APART-COUNT-3: graph.kernel
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

// Values of less than 1 MiB are in a cache anyway.
// CHECK-LABEL: graph.step @small
// CHECK-COUNT-2: graph.kernel
graph.step @small(%q: tensor<4x200x7xf32>, %k: tensor<4x200x7xf32>, %v: tensor<4x200x9xf32>) -> tensor<4x200x9xf32> {
  %s = graph.matmul %q, %k {spec = "bmk,bnk->bmn"} : (tensor<4x200x7xf32>, tensor<4x200x7xf32>) -> tensor<4x200x200xf32>
  %p = graph.exp %s : (tensor<4x200x200xf32>) -> tensor<4x200x200xf32>
  %o = graph.matmul %p, %v {spec = "bmk,bkn->bmn"} : (tensor<4x200x200xf32>, tensor<4x200x9xf32>) -> tensor<4x200x9xf32>
  graph.return %o : tensor<4x200x9xf32>
}

// Of one slice more than the scratch that a chain may have.
// CHECK-LABEL: graph.step @large_slices
// CHECK-COUNT-2: graph.kernel
graph.step @large_slices(%q: tensor<4x1500x7xf32>, %k: tensor<4x1500x7xf32>, %v: tensor<4x1500x9xf32>) -> tensor<4x1500x9xf32> {
  %s = graph.matmul %q, %k {spec = "bmk,bnk->bmn"} : (tensor<4x1500x7xf32>, tensor<4x1500x7xf32>) -> tensor<4x1500x1500xf32>
  %p = graph.exp %s : (tensor<4x1500x1500xf32>) -> tensor<4x1500x1500xf32>
  %o = graph.matmul %p, %v {spec = "bmk,bkn->bmn"} : (tensor<4x1500x1500xf32>, tensor<4x1500x9xf32>) -> tensor<4x1500x9xf32>
  graph.return %o : tensor<4x1500x9xf32>
}

// Rows that share a weight are no slices: each tile would pack all of it.
// CHECK-LABEL: graph.step @layers
// CHECK-COUNT-2: graph.kernel
graph.step @layers(%x: tensor<8x100x30xf32>, %w: tensor<30x400xf32>, %u: tensor<400x30xf32>) -> tensor<8x100x30xf32> {
  %s = graph.matmul %x, %w {spec = "abk,kn->abn"} : (tensor<8x100x30xf32>, tensor<30x400xf32>) -> tensor<8x100x400xf32>
  %p = graph.relu %s : (tensor<8x100x400xf32>) -> tensor<8x100x400xf32>
  %o = graph.matmul %p, %u {spec = "abk,kn->abn"} : (tensor<8x100x400xf32>, tensor<400x30xf32>) -> tensor<8x100x30xf32>
  graph.return %o : tensor<8x100x30xf32>
}

// It is read through a view, for which it has to be whole.
// CHECK-LABEL: graph.step @through_a_view
// CHECK-COUNT-2: graph.kernel
graph.step @through_a_view(%q: tensor<4x300x7xf32>, %k: tensor<4x300x7xf32>, %v: tensor<4x300x9xf32>) -> tensor<4x300x9xf32> {
  %s = graph.matmul %q, %k {spec = "bmk,bnk->bmn"} : (tensor<4x300x7xf32>, tensor<4x300x7xf32>) -> tensor<4x300x300xf32>
  %t = graph.transpose %s {permutation = array<i64: 0, 2, 1>} : (tensor<4x300x300xf32>) -> tensor<4x300x300xf32>
  %o = graph.matmul %t, %v {spec = "bmk,bkn->bmn"} : (tensor<4x300x300xf32>, tensor<4x300x9xf32>) -> tensor<4x300x9xf32>
  graph.return %o : tensor<4x300x9xf32>
}

// What is made in between goes another way, too: that would have to wait.
// CHECK-LABEL: graph.step @another_way
// CHECK-COUNT-3: graph.kernel
graph.step @another_way(%q: tensor<4x300x7xf32>, %k: tensor<4x300x7xf32>) -> tensor<4x300x7xf32> {
  %s = graph.matmul %q, %k {spec = "bmk,bnk->bmn"} : (tensor<4x300x7xf32>, tensor<4x300x7xf32>) -> tensor<4x300x300xf32>
  %c = graph.cumsum %s {dim = 0 : i64} : (tensor<4x300x300xf32>) -> tensor<4x300x300xf32>
  %v = graph.slice %c {offsets = array<i64: 0, 0, 0>, sizes = array<i64: 4, 300, 7>, strides = array<i64: 1, 1, 1>} : (tensor<4x300x300xf32>) -> tensor<4x300x7xf32>
  %o = graph.matmul %s, %v {spec = "bmk,bkn->bmn"} : (tensor<4x300x300xf32>, tensor<4x300x7xf32>) -> tensor<4x300x7xf32>
  graph.return %o : tensor<4x300x7xf32>
}
