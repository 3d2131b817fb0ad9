// Products that are a chain through values larger than 1 MiB: attention.

// Tiles are parts of rows, the last one shorter. What the backward needs of
// rows leaves the kernel, too.
graph.step @attention(%q: tensor<4x300x7xf32>, %k: tensor<4x229x7xf32>, %v: tensor<4x229x9xf32>) -> (tensor<4x300x9xf32>, tensor<4x300x1xf32>, tensor<4x300x1xf32>) {
  %s = graph.matmul %q, %k {spec = "bmk,bnk->bmn"} : (tensor<4x300x7xf32>, tensor<4x229x7xf32>) -> tensor<4x300x229xf32>
  %m = graph.amax %s {dims = array<i64: 2>, keepdim = true} : (tensor<4x300x229xf32>) -> tensor<4x300x1xf32>
  %d = graph.sub %s, %m : (tensor<4x300x229xf32>, tensor<4x300x1xf32>) -> tensor<4x300x229xf32>
  %e = graph.exp %d : (tensor<4x300x229xf32>) -> tensor<4x300x229xf32>
  %l = graph.sum %e {dims = array<i64: 2>, keepdim = true} : (tensor<4x300x229xf32>) -> tensor<4x300x1xf32>
  %p = graph.div %e, %l : (tensor<4x300x229xf32>, tensor<4x300x1xf32>) -> tensor<4x300x229xf32>
  %o = graph.matmul %p, %v {spec = "bmk,bkn->bmn"} : (tensor<4x300x229xf32>, tensor<4x229x9xf32>) -> tensor<4x300x9xf32>
  graph.return %o, %m, %l : tensor<4x300x9xf32>, tensor<4x300x1xf32>, tensor<4x300x1xf32>
}
// Rows of one slice are more than a tile of scratch should have.
graph.step @attention_long(%q: tensor<4x150x5xf32>, %k: tensor<4x1700x5xf32>, %v: tensor<4x1700x6xf32>) -> tensor<4x150x6xf32> {
  %s = graph.matmul %q, %k {spec = "bmk,bnk->bmn"} : (tensor<4x150x5xf32>, tensor<4x1700x5xf32>) -> tensor<4x150x1700xf32>
  %e = graph.exp %s : (tensor<4x150x1700xf32>) -> tensor<4x150x1700xf32>
  %o = graph.matmul %e, %v {spec = "bmk,bkn->bmn"} : (tensor<4x150x1700xf32>, tensor<4x1700x6xf32>) -> tensor<4x150x6xf32>
  graph.return %o : tensor<4x150x6xf32>
}
// The backward: sums along rows, and products along them and across them.
graph.step @attention_backward(%q: tensor<2x3x170x7xf64>, %k: tensor<2x3x130x7xf64>, %v: tensor<2x3x130x9xf64>, %l: tensor<2x3x170x1xf64>, %g: tensor<2x3x170x9xf64>) -> (tensor<2x3x170x7xf64>, tensor<2x3x130x7xf64>, tensor<2x3x130x9xf64>) {
  %s = graph.matmul %q, %k {spec = "abmk,abnk->abmn"} : (tensor<2x3x170x7xf64>, tensor<2x3x130x7xf64>) -> tensor<2x3x170x130xf64>
  %d = graph.sub %s, %l : (tensor<2x3x170x130xf64>, tensor<2x3x170x1xf64>) -> tensor<2x3x170x130xf64>
  %p = graph.exp %d : (tensor<2x3x170x130xf64>) -> tensor<2x3x170x130xf64>
  %dv = graph.matmul %p, %g {spec = "abmk,abmn->abkn"} : (tensor<2x3x170x130xf64>, tensor<2x3x170x9xf64>) -> tensor<2x3x130x9xf64>
  %dp = graph.matmul %g, %v {spec = "abmn,abkn->abmk"} : (tensor<2x3x170x9xf64>, tensor<2x3x130x9xf64>) -> tensor<2x3x170x130xf64>
  %pdp = graph.mul %dp, %p : (tensor<2x3x170x130xf64>, tensor<2x3x170x130xf64>) -> tensor<2x3x170x130xf64>
  %r = graph.sum %pdp {dims = array<i64: 3>, keepdim = true} : (tensor<2x3x170x130xf64>) -> tensor<2x3x170x1xf64>
  %c = graph.sub %dp, %r : (tensor<2x3x170x130xf64>, tensor<2x3x170x1xf64>) -> tensor<2x3x170x130xf64>
  %ds = graph.mul %c, %p : (tensor<2x3x170x130xf64>, tensor<2x3x170x130xf64>) -> tensor<2x3x170x130xf64>
  %dq = graph.matmul %ds, %k {spec = "abmk,abkn->abmn"} : (tensor<2x3x170x130xf64>, tensor<2x3x130x7xf64>) -> tensor<2x3x170x7xf64>
  %dk = graph.matmul %ds, %q {spec = "abmk,abmn->abkn"} : (tensor<2x3x170x130xf64>, tensor<2x3x170x7xf64>) -> tensor<2x3x130x7xf64>
  graph.return %dq, %dk, %dv : tensor<2x3x170x7xf64>, tensor<2x3x130x7xf64>, tensor<2x3x130x9xf64>
}
// Heads are the third dim of what lies in memory, and keys are seen by fours.
graph.step @attention_of_heads(%x: tensor<2x260x4x6xf32>, %y: tensor<2x140x4x6xf32>) -> tensor<2x4x260x6xf32> {
  %q = graph.transpose %x {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x260x4x6xf32>) -> tensor<2x4x260x6xf32>
  %k = graph.transpose %y {permutation = array<i64: 0, 2, 3, 1>} : (tensor<2x140x4x6xf32>) -> tensor<2x4x6x140xf32>
  %v = graph.transpose %y {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x140x4x6xf32>) -> tensor<2x4x140x6xf32>
  %s = graph.matmul %q, %k {spec = "abmk,abkn->abmn"} : (tensor<2x4x260x6xf32>, tensor<2x4x6x140xf32>) -> tensor<2x4x260x140xf32>
  %t = graph.tanh %s : (tensor<2x4x260x140xf32>) -> tensor<2x4x260x140xf32>
  %o = graph.matmul %t, %v {spec = "abmk,abkn->abmn"} : (tensor<2x4x260x140xf32>, tensor<2x4x140x6xf32>) -> tensor<2x4x260x6xf32>
  graph.return %o : tensor<2x4x260x6xf32>
}
// Three products one behind the other, the last of the middle one's rows.
graph.step @three_products(%a: tensor<5x240x4xf32>, %b: tensor<5x4x240xf32>, %c: tensor<5x240x240xf32>, %d: tensor<5x240x3xf32>) -> tensor<5x240x3xf32> {
  %0 = graph.matmul %a, %b {spec = "bmk,bkn->bmn"} : (tensor<5x240x4xf32>, tensor<5x4x240xf32>) -> tensor<5x240x240xf32>
  %1 = graph.matmul %0, %c {spec = "bmk,bkn->bmn"} : (tensor<5x240x240xf32>, tensor<5x240x240xf32>) -> tensor<5x240x240xf32>
  %2 = graph.matmul %1, %d {spec = "bkm,bkn->bmn"} : (tensor<5x240x240xf32>, tensor<5x240x3xf32>) -> tensor<5x240x3xf32>
  graph.return %2 : tensor<5x240x3xf32>
}
// Probabilities and the gradient of scores are stored for products across rows, and read again for those along them.
graph.step @attention_backward_single(%q: tensor<3x200x12xf32>, %k: tensor<3x456x12xf32>, %v: tensor<3x456x20xf32>, %m: tensor<200x456xi1>, %l: tensor<3x200x1xf32>, %g: tensor<3x200x20xf32>) -> (tensor<3x200x12xf32>, tensor<3x456x12xf32>, tensor<3x456x20xf32>) {
  %s = graph.matmul %q, %k {spec = "bmk,bnk->bmn"} : (tensor<3x200x12xf32>, tensor<3x456x12xf32>) -> tensor<3x200x456xf32>
  %least = graph.full {value = -30.0 : f64, type = tensor<f32>} : () -> tensor<f32>
  %none = graph.full {value = 0.0 : f64, type = tensor<f32>} : () -> tensor<f32>
  %h = graph.select %m, %least, %s : (tensor<200x456xi1>, tensor<f32>, tensor<3x200x456xf32>) -> tensor<3x200x456xf32>
  %d = graph.sub %h, %l : (tensor<3x200x456xf32>, tensor<3x200x1xf32>) -> tensor<3x200x456xf32>
  %e = graph.exp %d : (tensor<3x200x456xf32>) -> tensor<3x200x456xf32>
  %z = graph.sum %e {dims = array<i64: 2>, keepdim = true} : (tensor<3x200x456xf32>) -> tensor<3x200x1xf32>
  %p = graph.div %e, %z : (tensor<3x200x456xf32>, tensor<3x200x1xf32>) -> tensor<3x200x456xf32>
  %dv = graph.matmul %p, %g {spec = "bmk,bmn->bkn"} : (tensor<3x200x456xf32>, tensor<3x200x20xf32>) -> tensor<3x456x20xf32>
  %dp = graph.matmul %g, %v {spec = "bmn,bkn->bmk"} : (tensor<3x200x20xf32>, tensor<3x456x20xf32>) -> tensor<3x200x456xf32>
  %pdp = graph.mul %dp, %p : (tensor<3x200x456xf32>, tensor<3x200x456xf32>) -> tensor<3x200x456xf32>
  %r = graph.sum %pdp {dims = array<i64: 2>, keepdim = true} : (tensor<3x200x456xf32>) -> tensor<3x200x1xf32>
  %c = graph.sub %dp, %r : (tensor<3x200x456xf32>, tensor<3x200x1xf32>) -> tensor<3x200x456xf32>
  %cp = graph.mul %c, %p : (tensor<3x200x456xf32>, tensor<3x200x456xf32>) -> tensor<3x200x456xf32>
  %ds = graph.select %m, %none, %cp : (tensor<200x456xi1>, tensor<f32>, tensor<3x200x456xf32>) -> tensor<3x200x456xf32>
  %dq = graph.matmul %ds, %k {spec = "bmk,bkn->bmn"} : (tensor<3x200x456xf32>, tensor<3x456x12xf32>) -> tensor<3x200x12xf32>
  %dk = graph.matmul %ds, %q {spec = "bmk,bmn->bkn"} : (tensor<3x200x456xf32>, tensor<3x200x12xf32>) -> tensor<3x456x12xf32>
  graph.return %dq, %dk, %dv : tensor<3x200x12xf32>, tensor<3x456x12xf32>, tensor<3x456x20xf32>
}
// Queries lie column by column, those of a group beside each other: a tile has neighbours in memory, or one group's.
graph.step @attention_of_columns(%x: tensor<2x2x8x420xf32>, %k: tensor<2x2x192x8xf32>, %v: tensor<2x2x70x192xf32>) -> tensor<2x2x420x70xf32> {
  %q = graph.transpose %x {permutation = array<i64: 0, 1, 3, 2>} : (tensor<2x2x8x420xf32>) -> tensor<2x2x420x8xf32>
  %s = graph.matmul %q, %k {spec = "abmk,abnk->abmn"} : (tensor<2x2x420x8xf32>, tensor<2x2x192x8xf32>) -> tensor<2x2x420x192xf32>
  %m = graph.amax %s {dims = array<i64: 3>, keepdim = true} : (tensor<2x2x420x192xf32>) -> tensor<2x2x420x1xf32>
  %d = graph.sub %s, %m : (tensor<2x2x420x192xf32>, tensor<2x2x420x1xf32>) -> tensor<2x2x420x192xf32>
  %e = graph.exp %d : (tensor<2x2x420x192xf32>) -> tensor<2x2x420x192xf32>
  %l = graph.sum %e {dims = array<i64: 3>, keepdim = true} : (tensor<2x2x420x192xf32>) -> tensor<2x2x420x1xf32>
  %p = graph.div %e, %l : (tensor<2x2x420x192xf32>, tensor<2x2x420x1xf32>) -> tensor<2x2x420x192xf32>
  %o = graph.matmul %p, %v {spec = "abmk,abnk->abmn"} : (tensor<2x2x420x192xf32>, tensor<2x2x70x192xf32>) -> tensor<2x2x420x70xf32>
  graph.return %o : tensor<2x2x420x70xf32>
}
// Groups of heads share keys: one of their dims is a row's, too.
graph.step @attention_of_groups(%q: tensor<2x2x3x66x10xf32>, %k: tensor<2x2x343x10xf32>, %v: tensor<2x2x343x10xf32>) -> tensor<2x2x3x66x10xf32> {
  %s = graph.matmul %q, %k {spec = "abgmk,abnk->abgmn"} : (tensor<2x2x3x66x10xf32>, tensor<2x2x343x10xf32>) -> tensor<2x2x3x66x343xf32>
  %m = graph.amax %s {dims = array<i64: 4>, keepdim = true} : (tensor<2x2x3x66x343xf32>) -> tensor<2x2x3x66x1xf32>
  %d = graph.sub %s, %m : (tensor<2x2x3x66x343xf32>, tensor<2x2x3x66x1xf32>) -> tensor<2x2x3x66x343xf32>
  %e = graph.exp %d : (tensor<2x2x3x66x343xf32>) -> tensor<2x2x3x66x343xf32>
  %l = graph.sum %e {dims = array<i64: 4>, keepdim = true} : (tensor<2x2x3x66x343xf32>) -> tensor<2x2x3x66x1xf32>
  %p = graph.div %e, %l : (tensor<2x2x3x66x343xf32>, tensor<2x2x3x66x1xf32>) -> tensor<2x2x3x66x343xf32>
  %o = graph.matmul %p, %v {spec = "abgmk,abkn->abgmn"} : (tensor<2x2x3x66x343xf32>, tensor<2x2x343x10xf32>) -> tensor<2x2x3x66x10xf32>
  graph.return %o : tensor<2x2x3x66x10xf32>
}
// Rows longer than a block's memory: their columns come some at a time, the last of them fewer. The maximum and the sum
// are there before what needs them, and scores are computed again.
graph.step @streamed(%q: tensor<2x80x5xf32>, %k: tensor<2x1700x5xf32>, %v: tensor<2x1700x6xf32>) -> tensor<2x80x6xf32> {
  %s = graph.matmul %q, %k {spec = "bmk,bnk->bmn"} : (tensor<2x80x5xf32>, tensor<2x1700x5xf32>) -> tensor<2x80x1700xf32>
  %m = graph.amax %s {dims = array<i64: 2>, keepdim = true} : (tensor<2x80x1700xf32>) -> tensor<2x80x1xf32>
  %d = graph.sub %s, %m : (tensor<2x80x1700xf32>, tensor<2x80x1xf32>) -> tensor<2x80x1700xf32>
  %e = graph.exp %d : (tensor<2x80x1700xf32>) -> tensor<2x80x1700xf32>
  %l = graph.sum %e {dims = array<i64: 2>, keepdim = true} : (tensor<2x80x1700xf32>) -> tensor<2x80x1xf32>
  %p = graph.div %e, %l : (tensor<2x80x1700xf32>, tensor<2x80x1xf32>) -> tensor<2x80x1700xf32>
  %o = graph.matmul %p, %v {spec = "bmk,bkn->bmn"} : (tensor<2x80x1700xf32>, tensor<2x1700x6xf32>) -> tensor<2x80x6xf32>
  graph.return %o : tensor<2x80x6xf32>
}
// By fours, with totals that leave the kernel, and what is divided behind the product.
graph.step @streamed_totals(%q: tensor<2x140x8xf32>, %k: tensor<2x1160x8xf32>, %v: tensor<2x1160x12xf32>, %hidden: tensor<140x1160xi1>) -> (tensor<2x140x12xf32>, tensor<2x140x1xf32>, tensor<2x140x1xf32>) {
  %least = graph.full {value = -30.0 : f64, type = tensor<f32>} : () -> tensor<f32>
  %s = graph.matmul %q, %k {spec = "bmk,bnk->bmn"} : (tensor<2x140x8xf32>, tensor<2x1160x8xf32>) -> tensor<2x140x1160xf32>
  %h = graph.select %hidden, %least, %s : (tensor<140x1160xi1>, tensor<f32>, tensor<2x140x1160xf32>) -> tensor<2x140x1160xf32>
  %m = graph.amax %h {dims = array<i64: 2>, keepdim = true} : (tensor<2x140x1160xf32>) -> tensor<2x140x1xf32>
  %d = graph.sub %h, %m : (tensor<2x140x1160xf32>, tensor<2x140x1xf32>) -> tensor<2x140x1160xf32>
  %e = graph.exp %d : (tensor<2x140x1160xf32>) -> tensor<2x140x1160xf32>
  %l = graph.sum %e {dims = array<i64: 2>, keepdim = true} : (tensor<2x140x1160xf32>) -> tensor<2x140x1xf32>
  %y = graph.matmul %e, %v {spec = "bmk,bkn->bmn"} : (tensor<2x140x1160xf32>, tensor<2x1160x12xf32>) -> tensor<2x140x12xf32>
  %o = graph.div %y, %l : (tensor<2x140x12xf32>, tensor<2x140x1xf32>) -> tensor<2x140x12xf32>
  graph.return %o, %m, %l : tensor<2x140x12xf32>, tensor<2x140x1xf32>, tensor<2x140x1xf32>
}
// What has columns leaves the kernel for sums over rows.
graph.step @streamed_backward(%q: tensor<2x130x7xf32>, %k: tensor<2x1150x7xf32>, %v: tensor<2x1150x9xf32>, %m: tensor<2x130x1xf32>, %g: tensor<2x130x9xf32>, %r: tensor<2x130x1xf32>) -> (tensor<2x130x7xf32>, tensor<2x1150x7xf32>) {
  %s = graph.matmul %q, %k {spec = "bmk,bnk->bmn"} : (tensor<2x130x7xf32>, tensor<2x1150x7xf32>) -> tensor<2x130x1150xf32>
  %d = graph.sub %s, %m : (tensor<2x130x1150xf32>, tensor<2x130x1xf32>) -> tensor<2x130x1150xf32>
  %e = graph.tanh %d : (tensor<2x130x1150xf32>) -> tensor<2x130x1150xf32>
  %de = graph.matmul %g, %v {spec = "bmn,bkn->bmk"} : (tensor<2x130x9xf32>, tensor<2x1150x9xf32>) -> tensor<2x130x1150xf32>
  %a = graph.add %de, %r : (tensor<2x130x1150xf32>, tensor<2x130x1xf32>) -> tensor<2x130x1150xf32>
  %ds = graph.mul %e, %a : (tensor<2x130x1150xf32>, tensor<2x130x1150xf32>) -> tensor<2x130x1150xf32>
  %dq = graph.matmul %ds, %k {spec = "bmk,bkn->bmn"} : (tensor<2x130x1150xf32>, tensor<2x1150x7xf32>) -> tensor<2x130x7xf32>
  %dk = graph.matmul %ds, %q {spec = "bmk,bmn->bkn"} : (tensor<2x130x1150xf32>, tensor<2x130x7xf32>) -> tensor<2x1150x7xf32>
  graph.return %dq, %dk : tensor<2x130x7xf32>, tensor<2x1150x7xf32>
}
// What one stage has made for itself and what it stores: the next pass makes the former again.
graph.step @streamed_again(%q: tensor<2x80x6xf32>, %k: tensor<2x1700x6xf32>, %v: tensor<2x1700x5xf32>) -> (tensor<2x80x1700xf32>, tensor<2x80x5xf32>) {
  %s = graph.matmul %q, %k {spec = "bmk,bnk->bmn"} : (tensor<2x80x6xf32>, tensor<2x1700x6xf32>) -> tensor<2x80x1700xf32>
  %z = graph.tanh %s : (tensor<2x80x1700xf32>) -> tensor<2x80x1700xf32>
  %t = graph.amax %z {dims = array<i64: 2>, keepdim = true} : (tensor<2x80x1700xf32>) -> tensor<2x80x1xf32>
  %h = graph.mul %s, %t : (tensor<2x80x1700xf32>, tensor<2x80x1xf32>) -> tensor<2x80x1700xf32>
  %o = graph.matmul %h, %v {spec = "bmk,bkn->bmn"} : (tensor<2x80x1700xf32>, tensor<2x1700x5xf32>) -> tensor<2x80x5xf32>
  graph.return %z, %o : tensor<2x80x1700xf32>, tensor<2x80x5xf32>
}
graph.step @streamed_double(%q: tensor<2x96x6xf64>, %k: tensor<2x900x6xf64>, %v: tensor<2x900x4xf64>, %hidden: tensor<96x900xi1>) -> (tensor<2x96x4xf64>, tensor<2x96x1xf64>, tensor<2x96x1xf64>) {
  %least = graph.full {value = -30.0 : f64, type = tensor<f64>} : () -> tensor<f64>
  %s = graph.matmul %q, %k {spec = "bmk,bnk->bmn"} : (tensor<2x96x6xf64>, tensor<2x900x6xf64>) -> tensor<2x96x900xf64>
  %h = graph.select %hidden, %least, %s : (tensor<96x900xi1>, tensor<f64>, tensor<2x96x900xf64>) -> tensor<2x96x900xf64>
  %m = graph.amax %h {dims = array<i64: 2>, keepdim = true} : (tensor<2x96x900xf64>) -> tensor<2x96x1xf64>
  %d = graph.sub %h, %m : (tensor<2x96x900xf64>, tensor<2x96x1xf64>) -> tensor<2x96x900xf64>
  %e = graph.exp %d : (tensor<2x96x900xf64>) -> tensor<2x96x900xf64>
  %l = graph.sum %e {dims = array<i64: 2>, keepdim = true} : (tensor<2x96x900xf64>) -> tensor<2x96x1xf64>
  %y = graph.matmul %e, %v {spec = "bmk,bkn->bmn"} : (tensor<2x96x900xf64>, tensor<2x900x4xf64>) -> tensor<2x96x4xf64>
  %o = graph.div %y, %l : (tensor<2x96x4xf64>, tensor<2x96x1xf64>) -> tensor<2x96x4xf64>
  graph.return %o, %m, %l : tensor<2x96x4xf64>, tensor<2x96x1xf64>, tensor<2x96x1xf64>
}
