// What is elementwise and cheap is computed by each kernel that reads it, where fewer bytes move than if it were stored.

// RUN: dl-opt --form-kernels %s | FileCheck %s
// RUN: dl-opt --form-kernels %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=SAID

// A batch norm reads x three times and writes neither x - mean nor its square.
// CHECK-LABEL: @batch_norm
// CHECK: %[[MEAN:.*]] = graph.kernel %[[X:.*]] {name = "sum_mul_
// CHECK: %[[SCALE:.*]] = graph.kernel %[[X]], %[[MEAN]] {name = "sub_mul_sum_rsqrt_
// CHECK: graph.kernel %[[X]], %[[MEAN]], %[[SCALE]] {name = "sub_mul_
// CHECK-NOT: graph.kernel
// SAID-DAG: remark: {{.*}}mul: computed within sum: fewer bytes move than if it were stored
// SAID-DAG: remark: {{.*}}sub: computed within mul: fewer bytes move than if it were stored
graph.step @batch_norm(%x: tensor<32x16x32x32xf32> input 0) -> (tensor<32x16x32x32xf32>) {
  %n = graph.full {type = tensor<f32>, value = 3.0517578125E-5 : f64} : () -> tensor<f32>
  %s = graph.sum %x {dims = array<i64: 0, 2, 3>, keepdim = true} : (tensor<32x16x32x32xf32>) -> tensor<1x16x1x1xf32>
  %mean = graph.mul %s, %n : (tensor<1x16x1x1xf32>, tensor<f32>) -> tensor<1x16x1x1xf32>
  %rest = graph.sub %x, %mean : (tensor<32x16x32x32xf32>, tensor<1x16x1x1xf32>) -> tensor<32x16x32x32xf32>
  %square = graph.mul %rest, %rest : (tensor<32x16x32x32xf32>, tensor<32x16x32x32xf32>) -> tensor<32x16x32x32xf32>
  %t = graph.sum %square {dims = array<i64: 0, 2, 3>, keepdim = true} : (tensor<32x16x32x32xf32>) -> tensor<1x16x1x1xf32>
  %scale = graph.rsqrt %t : (tensor<1x16x1x1xf32>) -> tensor<1x16x1x1xf32>
  %y = graph.mul %rest, %scale : (tensor<32x16x32x32xf32>, tensor<1x16x1x1xf32>) -> tensor<32x16x32x32xf32>
  graph.return %y : tensor<32x16x32x32xf32>
}

// An exponential costs more than to be stored and read; and two operands are as many bytes as one that is written and
// read.
// CHECK-LABEL: @stored
// CHECK: graph.kernel {{.*}} {name = "exp_
// CHECK: graph.kernel {{.*}} {name = "sum_
// CHECK: %[[BOTH:.*]]:2 = graph.kernel {{.*}} {name = "add_exp_
// CHECK: graph.kernel %[[BOTH]]#0 {name = "sum_
// CHECK-NOT: graph.kernel
graph.step @stored(%x: tensor<32x16x32x32xf32> input 0, %z: tensor<32x16x32x32xf32> input 1) -> (tensor<16xf32>, tensor<16xf32>, tensor<32x16x32x32xf32>) {
  %e = graph.exp %x : (tensor<32x16x32x32xf32>) -> tensor<32x16x32x32xf32>
  %s = graph.sum %e {dims = array<i64: 0, 2, 3>} : (tensor<32x16x32x32xf32>) -> tensor<16xf32>
  %a = graph.add %x, %z : (tensor<32x16x32x32xf32>, tensor<32x16x32x32xf32>) -> tensor<32x16x32x32xf32>
  %b = graph.exp %a : (tensor<32x16x32x32xf32>) -> tensor<32x16x32x32xf32>
  %t = graph.sum %a {dims = array<i64: 0, 2, 3>} : (tensor<32x16x32x32xf32>) -> tensor<16xf32>
  graph.return %s, %t, %b : tensor<16xf32>, tensor<16xf32>, tensor<32x16x32x32xf32>
}

// What a window or a product reads many times is computed once.
// CHECK-LABEL: @read_often
// CHECK: graph.kernel {{.*}} {name = "relu_
// CHECK: graph.kernel {{.*}} {name = "matmul_
// CHECK: graph.kernel {{.*}} {name = "sum_
// CHECK-NOT: graph.kernel
graph.step @read_often(%x: tensor<256x256xf32> input 0) -> (tensor<256x256xf32>, tensor<256xf32>) {
  %r = graph.relu %x : (tensor<256x256xf32>) -> tensor<256x256xf32>
  %p = graph.matmul %r, %r {spec = "mk,kn->mn"} : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %s = graph.sum %r {dims = array<i64: 0>} : (tensor<256x256xf32>) -> tensor<256xf32>
  graph.return %p, %s : tensor<256x256xf32>, tensor<256xf32>
}

// Of a pool only the positions are in memory; so what is made of its values is.
// CHECK-LABEL: @one_result
// CHECK: %[[POOL:.*]]:2 = graph.kernel %{{.*}} {name = "max_pool2d_relu_
// CHECK: graph.kernel %[[POOL]]#1 {name = "sum_
graph.step @one_result(%x: tensor<32x16x64x64xf32> input 0) -> (tensor<32x16x32x32xui8>, tensor<16xf32>) {
  %v, %i = graph.max_pool2d %x {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<32x16x64x64xf32>) -> (tensor<32x16x32x32xf32>, tensor<32x16x32x32xui8>)
  %r = graph.relu %v : (tensor<32x16x32x32xf32>) -> tensor<32x16x32x32xf32>
  %s = graph.sum %r {dims = array<i64: 0, 2, 3>} : (tensor<32x16x32x32xf32>) -> tensor<16xf32>
  graph.return %i, %s : tensor<32x16x32x32xui8>, tensor<16xf32>
}

// The old value of a state is not kept for readers that come after its update.
// CHECK-LABEL: @updated
// CHECK: graph.kernel %{{.*}}, %{{.*}} {name = "mul_
// CHECK-NOT: graph.sum
// CHECK: graph.yield
graph.state @w {type = tensor<16x1x1xf32>, role = "parameter"}
graph.step @updated(%w: tensor<16x1x1xf32> state @w, %x: tensor<32x16x32x32xf32> input 0) -> (tensor<16x1x1xf32> state @w, tensor<32x16x32x32xf32>) {
  %y = graph.mul %x, %w : (tensor<32x16x32x32xf32>, tensor<16x1x1xf32>) -> tensor<32x16x32x32xf32>
  %s = graph.sum %y {dims = array<i64: 0, 2, 3>, keepdim = true} : (tensor<32x16x32x32xf32>) -> tensor<1x16x1x1xf32>
  %t = graph.reshape %s {shape = array<i64: 16, 1, 1>} : (tensor<1x16x1x1xf32>) -> tensor<16x1x1xf32>
  %n = graph.sub %w, %t : (tensor<16x1x1xf32>, tensor<16x1x1xf32>) -> tensor<16x1x1xf32>
  %z = graph.add %y, %n : (tensor<32x16x32x32xf32>, tensor<16x1x1xf32>) -> tensor<32x16x32x32xf32>
  graph.return %n, %z : tensor<16x1x1xf32>, tensor<32x16x32x32xf32>
}

// What is only put one after the other will be computed there, and nothing moves: it is stored, and read as one. Not so
// where an operand has to be copied in any case, or where its bytes begin between two lines of the cache.
// CHECK-LABEL: @joined
// CHECK: graph.kernel {{.*}} {name = "cat_
// CHECK: graph.kernel {{.*}} {name = "sum_
// CHECK-NOT: {name = "cat_
// CHECK: graph.kernel {{.*}} {name = "cat_sum_
// CHECK: graph.kernel {{.*}} {name = "cat_sum_
graph.step @joined(%x: tensor<64x512xf32> input 0, %z: tensor<63x511xf32> input 1) -> (tensor<512xf32>, tensor<512xf32>, tensor<511xf32>) {
  %a = graph.matmul %x, %x {spec = "mk,nk->mn"} : (tensor<64x512xf32>, tensor<64x512xf32>) -> tensor<64x64xf32>
  %b = graph.matmul %a, %x {spec = "mk,kn->mn"} : (tensor<64x64xf32>, tensor<64x512xf32>) -> tensor<64x512xf32>
  %c = graph.matmul %a, %b {spec = "mk,kn->mn"} : (tensor<64x64xf32>, tensor<64x512xf32>) -> tensor<64x512xf32>
  %0 = graph.cat %b, %c {dim = 0 : i64} : (tensor<64x512xf32>, tensor<64x512xf32>) -> tensor<128x512xf32>
  %1 = graph.sum %0 {dims = array<i64: 0>} : (tensor<128x512xf32>) -> tensor<512xf32>
  %2 = graph.cat %b, %x {dim = 0 : i64} : (tensor<64x512xf32>, tensor<64x512xf32>) -> tensor<128x512xf32>
  %3 = graph.sum %2 {dims = array<i64: 0>} : (tensor<128x512xf32>) -> tensor<512xf32>
  %d = graph.matmul %z, %z {spec = "mk,nk->mn"} : (tensor<63x511xf32>, tensor<63x511xf32>) -> tensor<63x63xf32>
  %e = graph.matmul %d, %z {spec = "mk,kn->mn"} : (tensor<63x63xf32>, tensor<63x511xf32>) -> tensor<63x511xf32>
  %f = graph.matmul %d, %e {spec = "mk,kn->mn"} : (tensor<63x63xf32>, tensor<63x511xf32>) -> tensor<63x511xf32>
  %4 = graph.cat %e, %f {dim = 0 : i64} : (tensor<63x511xf32>, tensor<63x511xf32>) -> tensor<126x511xf32>
  %5 = graph.sum %4 {dims = array<i64: 0>} : (tensor<126x511xf32>) -> tensor<511xf32>
  graph.return %1, %3, %5 : tensor<512xf32>, tensor<512xf32>, tensor<511xf32>
}
