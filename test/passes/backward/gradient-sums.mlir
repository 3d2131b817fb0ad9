// RUN: dl-opt %s --expand-gradients --canonicalize | FileCheck %s

// What a loop over nine parts of x makes: one cat in place of nine passes over all of x, with zeros for the part that is not used,
// one product for the weight, one sum for the bias.
// CHECK-LABEL: @unrolled
// CHECK: [[HOLE:%.*]] = graph.full  {type = tensor<1x2x16xf32>, value = 0.000000e+00 : f64}
// CHECK: [[DX:%.*]] = graph.cat %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, [[HOLE]], %{{.*}} {dim = 0 : i64}
// CHECK: [[A:%.*]] = graph.cat {{.*}} -> tensor<18x16xf32>
// CHECK: [[B:%.*]] = graph.cat {{.*}} -> tensor<18x16xf32>
// CHECK: [[DW:%.*]] = graph.matmul [[A]], [[B]] {spec = "an,ak->nk"} : (tensor<18x16xf32>, tensor<18x16xf32>) -> tensor<16x16xf32>
// CHECK: [[DB:%.*]] = graph.sum {{.*}} {dims = array<i64: 0>} : (tensor<18x16xf32>) -> tensor<16xf32>
// CHECK: return [[DX]], [[DW]], [[DB]]
graph.step @unrolled(%x: tensor<10x2x16xf32>, %w: tensor<16x16xf32>, %b: tensor<16xf32>) -> (tensor<10x2x16xf32>, tensor<16x16xf32>, tensor<16xf32>) {
  %h0 = graph.full {type = tensor<2x16xf32>, value = 1.0 : f64} : () -> tensor<2x16xf32>
  %s0 = graph.slice %x {offsets = array<i64: 0, 0, 0>, sizes = array<i64: 1, 2, 16>, strides = array<i64: 1, 1, 1>} : (tensor<10x2x16xf32>) -> tensor<1x2x16xf32>
  %r0 = graph.reshape %s0 {shape = array<i64: 2, 16>} : (tensor<1x2x16xf32>) -> tensor<2x16xf32>
  %m0 = graph.matmul %h0, %w {spec = "ak,nk->an"} : (tensor<2x16xf32>, tensor<16x16xf32>) -> tensor<2x16xf32>
  %z0 = graph.add %m0, %r0 : (tensor<2x16xf32>, tensor<2x16xf32>) -> tensor<2x16xf32>
  %y0 = graph.add %z0, %b : (tensor<2x16xf32>, tensor<16xf32>) -> tensor<2x16xf32>
  %h1 = graph.tanh %y0 : (tensor<2x16xf32>) -> tensor<2x16xf32>
  %s1 = graph.slice %x {offsets = array<i64: 1, 0, 0>, sizes = array<i64: 1, 2, 16>, strides = array<i64: 1, 1, 1>} : (tensor<10x2x16xf32>) -> tensor<1x2x16xf32>
  %r1 = graph.reshape %s1 {shape = array<i64: 2, 16>} : (tensor<1x2x16xf32>) -> tensor<2x16xf32>
  %m1 = graph.matmul %h1, %w {spec = "ak,nk->an"} : (tensor<2x16xf32>, tensor<16x16xf32>) -> tensor<2x16xf32>
  %z1 = graph.add %m1, %r1 : (tensor<2x16xf32>, tensor<2x16xf32>) -> tensor<2x16xf32>
  %y1 = graph.add %z1, %b : (tensor<2x16xf32>, tensor<16xf32>) -> tensor<2x16xf32>
  %h2 = graph.tanh %y1 : (tensor<2x16xf32>) -> tensor<2x16xf32>
  %s2 = graph.slice %x {offsets = array<i64: 2, 0, 0>, sizes = array<i64: 1, 2, 16>, strides = array<i64: 1, 1, 1>} : (tensor<10x2x16xf32>) -> tensor<1x2x16xf32>
  %r2 = graph.reshape %s2 {shape = array<i64: 2, 16>} : (tensor<1x2x16xf32>) -> tensor<2x16xf32>
  %m2 = graph.matmul %h2, %w {spec = "ak,nk->an"} : (tensor<2x16xf32>, tensor<16x16xf32>) -> tensor<2x16xf32>
  %z2 = graph.add %m2, %r2 : (tensor<2x16xf32>, tensor<2x16xf32>) -> tensor<2x16xf32>
  %y2 = graph.add %z2, %b : (tensor<2x16xf32>, tensor<16xf32>) -> tensor<2x16xf32>
  %h3 = graph.tanh %y2 : (tensor<2x16xf32>) -> tensor<2x16xf32>
  %s3 = graph.slice %x {offsets = array<i64: 3, 0, 0>, sizes = array<i64: 1, 2, 16>, strides = array<i64: 1, 1, 1>} : (tensor<10x2x16xf32>) -> tensor<1x2x16xf32>
  %r3 = graph.reshape %s3 {shape = array<i64: 2, 16>} : (tensor<1x2x16xf32>) -> tensor<2x16xf32>
  %m3 = graph.matmul %h3, %w {spec = "ak,nk->an"} : (tensor<2x16xf32>, tensor<16x16xf32>) -> tensor<2x16xf32>
  %z3 = graph.add %m3, %r3 : (tensor<2x16xf32>, tensor<2x16xf32>) -> tensor<2x16xf32>
  %y3 = graph.add %z3, %b : (tensor<2x16xf32>, tensor<16xf32>) -> tensor<2x16xf32>
  %h4 = graph.tanh %y3 : (tensor<2x16xf32>) -> tensor<2x16xf32>
  %s4 = graph.slice %x {offsets = array<i64: 5, 0, 0>, sizes = array<i64: 1, 2, 16>, strides = array<i64: 1, 1, 1>} : (tensor<10x2x16xf32>) -> tensor<1x2x16xf32>
  %r4 = graph.reshape %s4 {shape = array<i64: 2, 16>} : (tensor<1x2x16xf32>) -> tensor<2x16xf32>
  %m4 = graph.matmul %h4, %w {spec = "ak,nk->an"} : (tensor<2x16xf32>, tensor<16x16xf32>) -> tensor<2x16xf32>
  %z4 = graph.add %m4, %r4 : (tensor<2x16xf32>, tensor<2x16xf32>) -> tensor<2x16xf32>
  %y4 = graph.add %z4, %b : (tensor<2x16xf32>, tensor<16xf32>) -> tensor<2x16xf32>
  %h5 = graph.tanh %y4 : (tensor<2x16xf32>) -> tensor<2x16xf32>
  %s5 = graph.slice %x {offsets = array<i64: 6, 0, 0>, sizes = array<i64: 1, 2, 16>, strides = array<i64: 1, 1, 1>} : (tensor<10x2x16xf32>) -> tensor<1x2x16xf32>
  %r5 = graph.reshape %s5 {shape = array<i64: 2, 16>} : (tensor<1x2x16xf32>) -> tensor<2x16xf32>
  %m5 = graph.matmul %h5, %w {spec = "ak,nk->an"} : (tensor<2x16xf32>, tensor<16x16xf32>) -> tensor<2x16xf32>
  %z5 = graph.add %m5, %r5 : (tensor<2x16xf32>, tensor<2x16xf32>) -> tensor<2x16xf32>
  %y5 = graph.add %z5, %b : (tensor<2x16xf32>, tensor<16xf32>) -> tensor<2x16xf32>
  %h6 = graph.tanh %y5 : (tensor<2x16xf32>) -> tensor<2x16xf32>
  %s6 = graph.slice %x {offsets = array<i64: 7, 0, 0>, sizes = array<i64: 1, 2, 16>, strides = array<i64: 1, 1, 1>} : (tensor<10x2x16xf32>) -> tensor<1x2x16xf32>
  %r6 = graph.reshape %s6 {shape = array<i64: 2, 16>} : (tensor<1x2x16xf32>) -> tensor<2x16xf32>
  %m6 = graph.matmul %h6, %w {spec = "ak,nk->an"} : (tensor<2x16xf32>, tensor<16x16xf32>) -> tensor<2x16xf32>
  %z6 = graph.add %m6, %r6 : (tensor<2x16xf32>, tensor<2x16xf32>) -> tensor<2x16xf32>
  %y6 = graph.add %z6, %b : (tensor<2x16xf32>, tensor<16xf32>) -> tensor<2x16xf32>
  %h7 = graph.tanh %y6 : (tensor<2x16xf32>) -> tensor<2x16xf32>
  %s7 = graph.slice %x {offsets = array<i64: 8, 0, 0>, sizes = array<i64: 1, 2, 16>, strides = array<i64: 1, 1, 1>} : (tensor<10x2x16xf32>) -> tensor<1x2x16xf32>
  %r7 = graph.reshape %s7 {shape = array<i64: 2, 16>} : (tensor<1x2x16xf32>) -> tensor<2x16xf32>
  %m7 = graph.matmul %h7, %w {spec = "ak,nk->an"} : (tensor<2x16xf32>, tensor<16x16xf32>) -> tensor<2x16xf32>
  %z7 = graph.add %m7, %r7 : (tensor<2x16xf32>, tensor<2x16xf32>) -> tensor<2x16xf32>
  %y7 = graph.add %z7, %b : (tensor<2x16xf32>, tensor<16xf32>) -> tensor<2x16xf32>
  %h8 = graph.tanh %y7 : (tensor<2x16xf32>) -> tensor<2x16xf32>
  %s8 = graph.slice %x {offsets = array<i64: 9, 0, 0>, sizes = array<i64: 1, 2, 16>, strides = array<i64: 1, 1, 1>} : (tensor<10x2x16xf32>) -> tensor<1x2x16xf32>
  %r8 = graph.reshape %s8 {shape = array<i64: 2, 16>} : (tensor<1x2x16xf32>) -> tensor<2x16xf32>
  %m8 = graph.matmul %h8, %w {spec = "ak,nk->an"} : (tensor<2x16xf32>, tensor<16x16xf32>) -> tensor<2x16xf32>
  %z8 = graph.add %m8, %r8 : (tensor<2x16xf32>, tensor<2x16xf32>) -> tensor<2x16xf32>
  %y8 = graph.add %z8, %b : (tensor<2x16xf32>, tensor<16xf32>) -> tensor<2x16xf32>
  %h9 = graph.tanh %y8 : (tensor<2x16xf32>) -> tensor<2x16xf32>
  %loss = graph.sum %h9 {dims = array<i64: 0, 1>} : (tensor<2x16xf32>) -> tensor<f32>
  %g:3 = graph.gradients %loss, %x, %w, %b : (tensor<f32>, tensor<10x2x16xf32>, tensor<16x16xf32>, tensor<16xf32>) -> (tensor<10x2x16xf32>, tensor<16x16xf32>, tensor<16xf32>)
  graph.return %g#0, %g#1, %g#2 : tensor<10x2x16xf32>, tensor<16x16xf32>, tensor<16xf32>
}

// Of a tensor that is only cut up the gradient is one op, however few its parts are, and what none of them covers is zeros.
// CHECK-LABEL: @cut_up
// CHECK: [[A:%.*]] = graph.mul
// CHECK: [[B:%.*]] = graph.mul
// CHECK: [[ZEROS:%.*]] = graph.full {type = tensor<2x1xf32>, value = 0.000000e+00 : f64}
// CHECK: graph.cat {{.*}}[[ZEROS]]{{.*}} {dim = 1
// CHECK-NOT: graph.add
// CHECK: return
graph.step @cut_up(%w: tensor<2x6xf32>, %y: tensor<2x2xf32>, %z: tensor<2x3xf32>) -> (tensor<f32>, tensor<2x6xf32>) {
  %0 = graph.slice %w {offsets = array<i64: 0, 0>, sizes = array<i64: 2, 2>, strides = array<i64: 1, 1>} : (tensor<2x6xf32>) -> tensor<2x2xf32>
  %1 = graph.slice %w {offsets = array<i64: 0, 3>, sizes = array<i64: 2, 3>, strides = array<i64: 1, 1>} : (tensor<2x6xf32>) -> tensor<2x3xf32>
  %2 = graph.mul %0, %y : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = graph.mul %1, %z : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = graph.sum %2 {dims = array<i64: 0, 1>} : (tensor<2x2xf32>) -> tensor<f32>
  %5 = graph.sum %3 {dims = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<f32>
  %loss = graph.add %4, %5 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %g = graph.gradients %loss, %w : (tensor<f32>, tensor<2x6xf32>) -> tensor<2x6xf32>
  graph.return %loss, %g : tensor<f32>, tensor<2x6xf32>
}
