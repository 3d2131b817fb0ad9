// Values of a chain are made again, transposed, for sums over their rows, where that takes less than memory does.
// RUN: printf "chain_rows = 32\nchain_scratch_bytes = 73728\nchain_least_bytes = 4096\nproduct_f32_flops = 4e13\n" > %t.machine
// RUN: printf "bytes_per_second = 1e12\nprocessors = 4\n" >> %t.machine
// RUN: dl-opt --transpose-chains=machine=%t.machine %s | FileCheck %s
// RUN: dl-opt --transpose-chains=machine=%t.machine --canonicalize --form-kernels=machine=%t.machine %s 2>/dev/null | FileCheck %s --check-prefix=KERNELS
// RUN: sed -e s/1e12/1e14/ %t.machine > %t.memory
// RUN: dl-opt --transpose-chains=machine=%t.memory %s | FileCheck %s --check-prefix=APART
// RUN: dl-opt --transpose-chains %s | FileCheck %s --check-prefix=APART

// The gradients of values and keys, the latter as columns. Both are made of the same scores, in one kernel.
// CHECK-LABEL: graph.step @attention(
// CHECK-SAME: [[Q:%[a-z0-9]+]]: tensor<4x96x8xf32>, [[K:%[a-z0-9]+]]: tensor<4x80x8xf32>, [[V:%[a-z0-9]+]]: tensor<4x80x8xf32>,
// CHECK-SAME: [[DO:%[a-z0-9]+]]: tensor<4x96x8xf32>, [[M:%[a-z0-9]+]]: tensor<4x96x1xf32>
// CHECK: [[I:%.*]] = graph.transpose {{.*}} -> tensor<1x96xi64>
// CHECK: [[J:%.*]] = graph.iota {dim = 0 : i64, type = tensor<80x1xi64>}
// CHECK: [[UNSEEN:%.*]] = graph.lt [[I]], [[J]] {{.*}} -> tensor<80x96xi1>
// CHECK: [[S:%.*]] = graph.matmul [[Q]], [[K]] {graph.chained, spec = "bmk,bnk->bnm"} : {{.*}} -> tensor<4x80x96xf32>
// CHECK: [[HIDDEN:%.*]] = graph.select [[UNSEEN]], {{.*}}, [[S]]
// CHECK: [[MT:%.*]] = graph.transpose [[M]] {permutation = array<i64: 0, 2, 1>}
// CHECK: [[D:%.*]] = graph.sub [[HIDDEN]], [[MT]]
// CHECK: [[P:%.*]] = graph.exp [[D]] : (tensor<4x80x96xf32>) -> tensor<4x80x96xf32>
// CHECK: [[DV:%.*]] = graph.matmul [[P]], [[DO]] {graph.chained, spec = "bnm,bmv->bnv"} : {{.*}} -> tensor<4x80x8xf32>
// CHECK: [[DP:%.*]] = graph.matmul [[DO]], [[V]] {graph.chained, spec = "bmv,bnv->bnm"}
// CHECK: [[DS:%.*]] = graph.mul [[DP]], [[P]]
// CHECK: [[DKT:%.*]] = graph.matmul [[Q]], [[DS]] {graph.chained, spec = "bmk,bnm->bnk"} : {{.*}} -> tensor<4x80x8xf32>
// CHECK: [[DK:%.*]] = graph.transpose [[DKT]] {permutation = array<i64: 0, 2, 1>} : {{.*}} -> tensor<4x8x80xf32>
// CHECK: return {{%.*}}, [[DV]], [[DK]]
// Three kernels of six: the gradient of queries, that of values and keys, and the second one seen otherwise.
// KERNELS-LABEL: graph.step @attention(
// KERNELS: graph.kernel {{.*}} -> (tensor<4x80x8xf32>, tensor<4x80x8xf32>)
// KERNELS: graph.kernel {{.*}} -> tensor<4x96x8xf32>
// KERNELS: graph.kernel {{.*}} -> tensor<4x8x80xf32>
// KERNELS-NOT: graph.kernel
// KERNELS: graph.return
// APART-LABEL: graph.step @attention(
// APART-NOT: graph.chained
graph.step @attention(%q: tensor<4x96x8xf32>, %k: tensor<4x80x8xf32>, %v: tensor<4x80x8xf32>, %do: tensor<4x96x8xf32>,
                      %m: tensor<4x96x1xf32>) -> (tensor<4x96x8xf32>, tensor<4x80x8xf32>, tensor<4x8x80xf32>) {
  %s = graph.matmul %q, %k {spec = "bmk,bnk->bmn"} : (tensor<4x96x8xf32>, tensor<4x80x8xf32>) -> tensor<4x96x80xf32>
  %i = graph.iota {dim = 0 : i64, type = tensor<96x1xi64>} : () -> tensor<96x1xi64>
  %j = graph.iota {dim = 0 : i64, type = tensor<80xi64>} : () -> tensor<80xi64>
  %unseen = graph.lt %i, %j : (tensor<96x1xi64>, tensor<80xi64>) -> tensor<96x80xi1>
  %inf = graph.full {type = tensor<f32>, value = 0xFFF0000000000000 : f64} : () -> tensor<f32>
  %hidden = graph.select %unseen, %inf, %s : (tensor<96x80xi1>, tensor<f32>, tensor<4x96x80xf32>) -> tensor<4x96x80xf32>
  %d = graph.sub %hidden, %m : (tensor<4x96x80xf32>, tensor<4x96x1xf32>) -> tensor<4x96x80xf32>
  %p = graph.exp %d : (tensor<4x96x80xf32>) -> tensor<4x96x80xf32>
  %dv = graph.matmul %p, %do {spec = "bmn,bmv->bnv"} : (tensor<4x96x80xf32>, tensor<4x96x8xf32>) -> tensor<4x80x8xf32>
  %dp = graph.matmul %do, %v {spec = "bmv,bnv->bmn"} : (tensor<4x96x8xf32>, tensor<4x80x8xf32>) -> tensor<4x96x80xf32>
  %ds = graph.mul %dp, %p : (tensor<4x96x80xf32>, tensor<4x96x80xf32>) -> tensor<4x96x80xf32>
  %dq = graph.matmul %ds, %k {spec = "bmn,bnk->bmk"} : (tensor<4x96x80xf32>, tensor<4x80x8xf32>) -> tensor<4x96x8xf32>
  %dk = graph.matmul %q, %ds {spec = "bmk,bmn->bkn"} : (tensor<4x96x8xf32>, tensor<4x96x80xf32>) -> tensor<4x8x80xf32>
  graph.return %dq, %dv, %dk : tensor<4x96x8xf32>, tensor<4x80x8xf32>, tensor<4x8x80xf32>
}

// Rounding comes before what is transposed is turned round: the product does it.
// CHECK-LABEL: graph.step @rounded
// CHECK: [[DKT:%.*]] = graph.matmul {{.*}} spec = "bmk,bnm->bnk"
// CHECK-NEXT: [[R:%.*]] = graph.cast [[DKT]] {to = bf16} : {{.*}} -> tensor<4x80x8xbf16>
// CHECK-NEXT: graph.transpose [[R]]
graph.step @rounded(%q: tensor<4x96x8xf32>, %k: tensor<4x80x8xf32>) -> tensor<4x8x80xbf16> {
  %s = graph.matmul %q, %k {spec = "bmk,bnk->bmn"} : (tensor<4x96x8xf32>, tensor<4x80x8xf32>) -> tensor<4x96x80xf32>
  %p = graph.exp %s : (tensor<4x96x80xf32>) -> tensor<4x96x80xf32>
  %dk = graph.matmul %q, %p {spec = "bmk,bmn->bkn"} : (tensor<4x96x8xf32>, tensor<4x96x80xf32>) -> tensor<4x8x80xf32>
  %r = graph.cast %dk {to = bf16} : (tensor<4x8x80xf32>) -> tensor<4x8x80xbf16>
  graph.return %r : tensor<4x8x80xbf16>
}

// Heads that share keys: their parts of the gradient of values are rows of the chain, and added up behind it.
// CHECK-LABEL: graph.step @shared
// CHECK: [[PARTS:%.*]] = graph.matmul {{.*}} {graph.chained, spec = "bgnm,bgmv->bgnv"} : {{.*}} -> tensor<2x3x80x8xf32>
// CHECK-NEXT: [[SUM:%.*]] = graph.sum [[PARTS]] {dims = array<i64: 1>, keepdim = true}
// CHECK-NEXT: return [[SUM]] : tensor<2x1x80x8xf32>
graph.step @shared(%q: tensor<2x3x96x8xf32>, %k: tensor<2x1x80x8xf32>) -> tensor<2x1x80x8xf32> {
  %s = graph.matmul %q, %k {spec = "bgmk,bGnk->bgmn"} : (tensor<2x3x96x8xf32>, tensor<2x1x80x8xf32>) -> tensor<2x3x96x80xf32>
  %p = graph.exp %s : (tensor<2x3x96x80xf32>) -> tensor<2x3x96x80xf32>
  %dv = graph.matmul %p, %q {spec = "bgmn,bgmv->bGnv"} : (tensor<2x3x96x80xf32>, tensor<2x3x96x8xf32>) -> tensor<2x1x80x8xf32>
  graph.return %dv : tensor<2x1x80x8xf32>
}

// No library gets products whose columns stream: they would be in memory between the two.
// CHECK-LABEL: graph.step @together
// CHECK: graph.matmul {{.*}} {graph.chained, spec = "bmk,bnk->bmn"}
// CHECK: graph.matmul {{.*}} {graph.chained, spec = "bmn,bnk->bmk"}
// CHECK: return
graph.step @together(%q: tensor<4x96x8xf32>, %k: tensor<4x80x8xf32>) -> tensor<4x96x8xf32> {
  %s = graph.matmul %q, %k {spec = "bmk,bnk->bmn"} : (tensor<4x96x8xf32>, tensor<4x80x8xf32>) -> tensor<4x96x80xf32>
  %p = graph.exp %s : (tensor<4x96x80xf32>) -> tensor<4x96x80xf32>
  %o = graph.matmul %p, %k {spec = "bmn,bnk->bmk"} : (tensor<4x96x80xf32>, tensor<4x80x8xf32>) -> tensor<4x96x8xf32>
  graph.return %o : tensor<4x96x8xf32>
}

// What is as large as the scores, and no part of the chain, would be read transposed from memory.
// CHECK-LABEL: graph.step @large_bias
// CHECK-NOT: graph.chained
graph.step @large_bias(%q: tensor<4x96x8xf32>, %k: tensor<4x80x8xf32>, %b: tensor<4x96x80xf32>) -> tensor<4x80x8xf32> {
  %s = graph.matmul %q, %k {spec = "bmk,bnk->bmn"} : (tensor<4x96x8xf32>, tensor<4x80x8xf32>) -> tensor<4x96x80xf32>
  %p = graph.add %s, %b : (tensor<4x96x80xf32>, tensor<4x96x80xf32>) -> tensor<4x96x80xf32>
  %dk = graph.matmul %p, %q {spec = "bmn,bmk->bnk"} : (tensor<4x96x80xf32>, tensor<4x96x8xf32>) -> tensor<4x80x8xf32>
  graph.return %dk : tensor<4x80x8xf32>
}

// Scores that are made again are added up in another order, and whether one is the largest may differ.
// CHECK-LABEL: graph.step @compared
// CHECK-NOT: graph.chained
graph.step @compared(%q: tensor<4x96x8xf32>, %k: tensor<4x80x8xf32>, %m: tensor<4x96x1xf32>) -> tensor<4x80x8xf32> {
  %s = graph.matmul %q, %k {spec = "bmk,bnk->bmn"} : (tensor<4x96x8xf32>, tensor<4x80x8xf32>) -> tensor<4x96x80xf32>
  %e = graph.eq %s, %m : (tensor<4x96x80xf32>, tensor<4x96x1xf32>) -> tensor<4x96x80xi1>
  %p = graph.cast %e {to = f32} : (tensor<4x96x80xi1>) -> tensor<4x96x80xf32>
  %dk = graph.matmul %p, %q {spec = "bmn,bmk->bnk"} : (tensor<4x96x80xf32>, tensor<4x96x8xf32>) -> tensor<4x80x8xf32>
  graph.return %dk : tensor<4x80x8xf32>
}

// Both operands have rows that are summed, and one of them stays.
// CHECK-LABEL: graph.step @squares
// CHECK: [[PT:%.*]] = graph.exp {{.*}} -> tensor<4x80x96xf32>
// CHECK: graph.matmul [[PT]], [[P:%.*]] {graph.chained, spec = "bnm,bmk->bnk"}
// CHECK-NEXT: return
graph.step @squares(%q: tensor<4x96x8xf32>, %k: tensor<4x80x8xf32>) -> tensor<4x80x80xf32> {
  %s = graph.matmul %q, %k {spec = "bmk,bnk->bmn"} : (tensor<4x96x8xf32>, tensor<4x80x8xf32>) -> tensor<4x96x80xf32>
  %p = graph.exp %s : (tensor<4x96x80xf32>) -> tensor<4x96x80xf32>
  %r = graph.matmul %p, %p {spec = "bmn,bmk->bnk"} : (tensor<4x96x80xf32>, tensor<4x96x80xf32>) -> tensor<4x80x80xf32>
  graph.return %r : tensor<4x80x80xf32>
}
