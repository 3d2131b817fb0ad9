// Updates that read the same gradient are one kernel, though neither makes what the other reads: the gradient is read
// once, and the parameter's update finds both moments in registers.

// RUN: dl-opt --form-kernels %s | FileCheck %s
// RUN: dl-opt --form-kernels %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=SAID

// CHECK-LABEL: @adam
// CHECK: %[[ALL:.*]]:3 = graph.kernel
// CHECK-NOT: graph.kernel
// CHECK: graph.return %[[ALL]]#2, %[[ALL]]#0, %[[ALL]]#1
// SAID: remark: {{.*}}add: computed beside mul: it reads the same values
#update = loc(fused<"update">["m.dl"])
graph.state @w {type = tensor<256x128xf32>, role = "parameter"}
graph.state @m {type = tensor<256x128xf32>, role = "slot", of = "w"}
graph.state @v {type = tensor<256x128xf32>, role = "slot", of = "w"}
graph.step @adam(%w: tensor<256x128xf32> state @w, %m: tensor<256x128xf32> state @m, %v: tensor<256x128xf32> state @v, %g: tensor<256x128xf32>)
    -> (tensor<256x128xf32> state @w, tensor<256x128xf32> state @m, tensor<256x128xf32> state @v) {
  %b1 = graph.full {type = tensor<256x128xf32>, value = 9.000000e-01 : f64} : () -> tensor<256x128xf32> loc(#update)
  %c1 = graph.full {type = tensor<256x128xf32>, value = 1.000000e-01 : f64} : () -> tensor<256x128xf32> loc(#update)
  %m0 = graph.mul %m, %b1 : (tensor<256x128xf32>, tensor<256x128xf32>) -> tensor<256x128xf32> loc(#update)
  %m1 = graph.mul %g, %c1 : (tensor<256x128xf32>, tensor<256x128xf32>) -> tensor<256x128xf32> loc(#update)
  %m2 = graph.add %m0, %m1 : (tensor<256x128xf32>, tensor<256x128xf32>) -> tensor<256x128xf32> loc(#update)
  %v0 = graph.mul %v, %b1 : (tensor<256x128xf32>, tensor<256x128xf32>) -> tensor<256x128xf32> loc(#update)
  %g2 = graph.mul %g, %g : (tensor<256x128xf32>, tensor<256x128xf32>) -> tensor<256x128xf32> loc(#update)
  %v1 = graph.mul %g2, %c1 : (tensor<256x128xf32>, tensor<256x128xf32>) -> tensor<256x128xf32> loc(#update)
  %v2 = graph.add %v0, %v1 : (tensor<256x128xf32>, tensor<256x128xf32>) -> tensor<256x128xf32> loc(#update)
  %d = graph.sqrt %v2 : (tensor<256x128xf32>) -> tensor<256x128xf32> loc(#update)
  %q = graph.div %m2, %d : (tensor<256x128xf32>, tensor<256x128xf32>) -> tensor<256x128xf32> loc(#update)
  %w2 = graph.sub %w, %q : (tensor<256x128xf32>, tensor<256x128xf32>) -> tensor<256x128xf32> loc(#update)
  graph.return %w2, %m2, %v2 : tensor<256x128xf32>, tensor<256x128xf32>, tensor<256x128xf32>
}

// What is no update stays apart: the two could run at once.
// CHECK-LABEL: @forward
// CHECK-COUNT-2: graph.kernel
graph.step @forward(%x: tensor<256x128xf32> input 0) -> (tensor<256x128xf32>, tensor<256x128xf32>) {
  %a = graph.exp %x : (tensor<256x128xf32>) -> tensor<256x128xf32>
  %b = graph.tanh %x : (tensor<256x128xf32>) -> tensor<256x128xf32>
  graph.return %a, %b : tensor<256x128xf32>, tensor<256x128xf32>
}

// Sums of one gradient are one pass over it: the kernel that makes it stores it once, and no product for a sum. The
// update of a parameter does not wait in there, since a later kernel reads its old value.
// CHECK-LABEL: @sums_beside
// CHECK: %[[G:.*]] = graph.kernel %{{.*}} {name = "exp_
// CHECK: %[[SUMS:.*]]:2 = graph.kernel %[[G]], %{{.*}} {name = "sum_mul_
// CHECK: graph.kernel %[[G]], %{{.*}}, %[[SUMS]]#1 {name = "mul_
// CHECK: graph.kernel %{{.*}}, %[[SUMS]]#0 {inplace = array<i64: 0>, name = "sub_
// CHECK-NOT: graph.kernel
// SAID: remark: {{.*}}sum: added up beside sum: it goes over the same points
// SAID: remark: {{.*}}sub: not fused with sum: its old value is read by what waits for the other sums there
graph.state @b {type = tensor<1x16x1x1xf32>, role = "parameter"}
graph.step @sums_beside(%w: tensor<1x16x1x1xf32> state @b, %x: tensor<32x16x32x32xf32> input 0, %y: tensor<32x16x32x32xf32> input 1)
    -> (tensor<1x16x1x1xf32> state @b, tensor<32x16x32x32xf32>) {
  %g = graph.exp %y : (tensor<32x16x32x32xf32>) -> tensor<32x16x32x32xf32>
  %s0 = graph.sum %g {dims = array<i64: 0, 2, 3>, keepdim = true} : (tensor<32x16x32x32xf32>) -> tensor<1x16x1x1xf32>
  %p = graph.mul %g, %x : (tensor<32x16x32x32xf32>, tensor<32x16x32x32xf32>) -> tensor<32x16x32x32xf32>
  %s1 = graph.sum %p {dims = array<i64: 0, 2, 3>, keepdim = true} : (tensor<32x16x32x32xf32>) -> tensor<1x16x1x1xf32>
  %q = graph.mul %g, %w : (tensor<32x16x32x32xf32>, tensor<1x16x1x1xf32>) -> tensor<32x16x32x32xf32>
  %d = graph.add %q, %s1 : (tensor<32x16x32x32xf32>, tensor<1x16x1x1xf32>) -> tensor<32x16x32x32xf32>
  %w2 = graph.sub %w, %s0 : (tensor<1x16x1x1xf32>, tensor<1x16x1x1xf32>) -> tensor<1x16x1x1xf32> loc(#update)
  graph.return %w2, %d : tensor<1x16x1x1xf32>, tensor<32x16x32x32xf32>
}

// Short updates are one kernel for each shape, though they share no operand; long ones are not.
// CHECK-LABEL: @short
// CHECK: graph.kernel %{{.*}}, %{{.*}} {inplace = array<i64: 0, 1>, name = "add_
// CHECK: graph.kernel %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {inplace = array<i64: 0, 2>, name = "sub_
// CHECK: graph.kernel %{{.*}}, %{{.*}} {inplace = array<i64: 0>, name = "sub_
// CHECK: graph.kernel %{{.*}}, %{{.*}} {inplace = array<i64: 0>, name = "sub_
// CHECK-NOT: graph.kernel
// SAID: remark: {{.*}}add: computed beside add: both are short updates
// SAID: remark: {{.*}}sub: computed beside sub: both are short updates
graph.state @n0 {type = tensor<i64>, role = "buffer"}
graph.state @n1 {type = tensor<i64>, role = "buffer"}
graph.state @p0 {type = tensor<64xf32>, role = "parameter"}
graph.state @p1 {type = tensor<64xf32>, role = "parameter"}
graph.state @l0 {type = tensor<256x128xf32>, role = "parameter"}
graph.state @l1 {type = tensor<256x128xf32>, role = "parameter"}
graph.step @short(%n0: tensor<i64> state @n0, %n1: tensor<i64> state @n1, %p0: tensor<64xf32> state @p0, %p1: tensor<64xf32> state @p1, %l0: tensor<256x128xf32> state @l0, %l1: tensor<256x128xf32> state @l1,
    %g0: tensor<64xf32>, %g1: tensor<64xf32>, %h0: tensor<256x128xf32>, %h1: tensor<256x128xf32>)
    -> (tensor<i64> state @n0, tensor<i64> state @n1, tensor<64xf32> state @p0, tensor<64xf32> state @p1, tensor<256x128xf32> state @l0, tensor<256x128xf32> state @l1) {
  %one = graph.full {type = tensor<i64>, value = 1.0 : f64} : () -> tensor<i64>
  %a = graph.add %n0, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %b = graph.add %n1, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %c = graph.sub %p0, %g0 : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32> loc(#update)
  %d = graph.sub %p1, %g1 : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32> loc(#update)
  %e = graph.sub %l0, %h0 : (tensor<256x128xf32>, tensor<256x128xf32>) -> tensor<256x128xf32> loc(#update)
  %f = graph.sub %l1, %h1 : (tensor<256x128xf32>, tensor<256x128xf32>) -> tensor<256x128xf32> loc(#update)
  graph.return %a, %b, %c, %d, %e, %f : tensor<i64>, tensor<i64>, tensor<64xf32>, tensor<64xf32>, tensor<256x128xf32>, tensor<256x128xf32>
}

// Two gradients of one value are one kernel, which reads the value and what both are made from once; small ones could
// run at once.
// CHECK-LABEL: @gradients
// CHECK: graph.kernel %{{.*}}, %{{.*}} {name = "mul_exp_tanh_
// CHECK-NOT: graph.kernel
// CHECK-LABEL: @small_gradients
// CHECK-COUNT-2: graph.kernel
// SAID: remark: {{.*}}mul: computed beside mul: it reads the same values
#back = loc(fused<"backward">["m.dl"])
graph.step @gradients(%x: tensor<256x1024xf32> input 0, %g: tensor<256x1024xf32> input 1) -> (tensor<256x1024xf32>, tensor<256x1024xf32>) {
  %e = graph.mul %x, %g : (tensor<256x1024xf32>, tensor<256x1024xf32>) -> tensor<256x1024xf32> loc(#back)
  %a = graph.exp %e : (tensor<256x1024xf32>) -> tensor<256x1024xf32> loc(#back)
  %b = graph.tanh %x : (tensor<256x1024xf32>) -> tensor<256x1024xf32> loc(#back)
  %c = graph.mul %b, %g : (tensor<256x1024xf32>, tensor<256x1024xf32>) -> tensor<256x1024xf32> loc(#back)
  graph.return %a, %c : tensor<256x1024xf32>, tensor<256x1024xf32>
}
graph.step @small_gradients(%x: tensor<256x128xf32> input 0, %g: tensor<256x128xf32> input 1) -> (tensor<256x128xf32>, tensor<256x128xf32>) {
  %a = graph.mul %x, %g : (tensor<256x128xf32>, tensor<256x128xf32>) -> tensor<256x128xf32> loc(#back)
  %b = graph.tanh %x : (tensor<256x128xf32>) -> tensor<256x128xf32> loc(#back)
  graph.return %a, %b : tensor<256x128xf32>, tensor<256x128xf32>
}

// Parts of one product that fit into the first-level cache take as long to start as to run: one kernel. What is read of
// it as it is, is no work at all.
// CHECK-LABEL: @gates
// CHECK: %[[Z:.*]] = graph.kernel {{.*}} {name = "matmul_
// CHECK: graph.kernel %[[Z]] {{.*}}name = "copy_
// CHECK: graph.kernel %[[Z]], %[[Z]] {{.*}}name = "sigmoid_tanh_mul_
// CHECK-NOT: graph.kernel
// SAID: remark: {{.*}}tanh: computed beside sigmoid: it reads the same values, and both are short
graph.step @gates(%x: tensor<16x32xf32> input 0, %w: tensor<96x32xf32> input 1) -> (tensor<16x32xf32>, tensor<32x16xf32>) {
  %z = graph.matmul %x, %w {spec = "mk,nk->mn"} : (tensor<16x32xf32>, tensor<96x32xf32>) -> tensor<16x96xf32>
  %i = graph.slice %z {offsets = array<i64: 0, 0>, sizes = array<i64: 16, 32>, strides = array<i64: 1, 1>} : (tensor<16x96xf32>) -> tensor<16x32xf32>
  %g = graph.slice %z {offsets = array<i64: 0, 32>, sizes = array<i64: 16, 32>, strides = array<i64: 1, 1>} : (tensor<16x96xf32>) -> tensor<16x32xf32>
  %o = graph.slice %z {offsets = array<i64: 0, 64>, sizes = array<i64: 16, 32>, strides = array<i64: 1, 1>} : (tensor<16x96xf32>) -> tensor<16x32xf32>
  %0 = graph.sigmoid %i : (tensor<16x32xf32>) -> tensor<16x32xf32>
  %1 = graph.tanh %g : (tensor<16x32xf32>) -> tensor<16x32xf32>
  %2 = graph.mul %0, %1 : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
  %3 = graph.reshape %o {shape = array<i64: 32, 16>} : (tensor<16x32xf32>) -> tensor<32x16xf32>
  graph.return %2, %3 : tensor<16x32xf32>, tensor<32x16xf32>
}
