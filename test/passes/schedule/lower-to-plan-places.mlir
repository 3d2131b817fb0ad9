// What a kernel only puts one after the other is computed where the result has it, and a stretch of a value is read
// where it is: there is nothing to launch.

// RUN: dl-opt %s --lower-to-plan | FileCheck %s
// RUN: dl-opt %s --lower-to-plan --place-buffers --add-dependencies --verify-races -o /dev/null

graph.program "net.dl" dtype f32 accumulate 1
graph.dataset "tensor" root "" paths ["a.npy"] train items 1 batch 16 components [tensor<8xf32>]
graph.state @w {type = tensor<32x8xf32>, role = "parameter"}
graph.state @v {type = tensor<32x8xf32>, role = "parameter"}

// Values of a sequence, all of them and all but the first, and one of them again.
// CHECK-LABEL: plan.step "sequence"
// CHECK: plan.launch @exp(%{{batch_[0-9_]*}}, [[ALL:%[a-z0-9_]+]][0, 512])
// CHECK-NEXT: plan.launch @tanh([[ALL]][0, 512], [[ALL]][512, 512])
// CHECK-NEXT: plan.launch @tanh([[ALL]][512, 512], [[ALL]][1024, 512])
// CHECK-NEXT: plan.launch @sum_48([[ALL]], %
// CHECK-NEXT: plan.launch @sum_32([[ALL]][512, 1024], %
// CHECK-NEXT: plan.launch @sum_16([[ALL]][1024, 512], %
// CHECK-NOT: plan.launch
// CHECK-NOT: plan.copy
graph.step @eval.sequence(%x: tensor<16x8xf32> input 0) -> (tensor<f32> metric "all", tensor<f32> metric "later", tensor<f32> metric "last") of "sequence" batch 16 {
  %0 = graph.kernel %x {name = "exp"} : (tensor<16x8xf32>) -> tensor<16x8xf32> {
  ^bb0(%a0: tensor<16x8xf32>):
    %r = graph.exp %a0 : (tensor<16x8xf32>) -> tensor<16x8xf32>
    graph.yield %r : tensor<16x8xf32>
  }
  %1 = graph.kernel %0 {name = "tanh"} : (tensor<16x8xf32>) -> tensor<16x8xf32> {
  ^bb0(%a0: tensor<16x8xf32>):
    %r = graph.tanh %a0 : (tensor<16x8xf32>) -> tensor<16x8xf32>
    graph.yield %r : tensor<16x8xf32>
  }
  %2 = graph.kernel %1 {name = "tanh"} : (tensor<16x8xf32>) -> tensor<16x8xf32> {
  ^bb0(%a0: tensor<16x8xf32>):
    %r = graph.tanh %a0 : (tensor<16x8xf32>) -> tensor<16x8xf32>
    graph.yield %r : tensor<16x8xf32>
  }
  %3 = graph.kernel %0, %1, %2 {name = "all"} : (tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<48x8xf32> {
  ^bb0(%a0: tensor<16x8xf32>, %a1: tensor<16x8xf32>, %a2: tensor<16x8xf32>):
    %r = graph.cat %a0, %a1, %a2 {dim = 0 : i64} : (tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<48x8xf32>
    graph.yield %r : tensor<48x8xf32>
  }
  %4 = graph.kernel %1, %2 {name = "later"} : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<32x8xf32> {
  ^bb0(%a0: tensor<16x8xf32>, %a1: tensor<16x8xf32>):
    %r = graph.cat %a0, %a1 {dim = 0 : i64} : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<32x8xf32>
    graph.yield %r : tensor<32x8xf32>
  }
  %5 = graph.kernel %3 {constants = array<i64: 32>, name = "part"} : (tensor<48x8xf32>) -> tensor<16x8xf32> {
  ^bb0(%a0: tensor<48x8xf32>):
    %r = graph.slice %a0 {launch = {offsets = array<i64: 0, -1>}, offsets = array<i64: 0, 0>, sizes = array<i64: 16, 8>, strides = array<i64: 1, 1>} : (tensor<48x8xf32>) -> tensor<16x8xf32>
    graph.yield %r : tensor<16x8xf32>
  }
  %6 = graph.kernel %3 {name = "sum_48"} : (tensor<48x8xf32>) -> tensor<f32> {
  ^bb0(%a0: tensor<48x8xf32>):
    %r = graph.sum %a0 {dims = array<i64: 0, 1>} : (tensor<48x8xf32>) -> tensor<f32>
    graph.yield %r : tensor<f32>
  }
  %7 = graph.kernel %4 {name = "sum_32"} : (tensor<32x8xf32>) -> tensor<f32> {
  ^bb0(%a0: tensor<32x8xf32>):
    %r = graph.sum %a0 {dims = array<i64: 0, 1>} : (tensor<32x8xf32>) -> tensor<f32>
    graph.yield %r : tensor<f32>
  }
  %8 = graph.kernel %5 {name = "sum_16"} : (tensor<16x8xf32>) -> tensor<f32> {
  ^bb0(%a0: tensor<16x8xf32>):
    %r = graph.sum %a0 {dims = array<i64: 0, 1>} : (tensor<16x8xf32>) -> tensor<f32>
    graph.yield %r : tensor<f32>
  }
  graph.return %6, %7, %8 : tensor<f32>, tensor<f32>, tensor<f32>
}

// Joins of joins, in two orders; one operand is also returned, and one has no bytes that are aligned: both are copied.
// CHECK-LABEL: plan.step "nested"
// CHECK: plan.launch @exp(%{{batch_[0-9_]*}}, [[ALL:%[a-z0-9_]+]][0, 512])
// CHECK-NEXT: plan.launch @tanh([[ALL]][0, 512], [[TANH:%[a-z0-9_]+]])
// CHECK-NEXT: plan.copy [[TANH]][0, 512] to [[ALL]][512, 512]
// CHECK-NEXT: plan.launch @sigmoid([[TANH]], [[ALL]][1024, 512])
// CHECK-NEXT: plan.launch @sum_48([[ALL]], %
graph.step @eval.nested(%x: tensor<16x8xf32> input 0) -> (tensor<16x8xf32> metric "y", tensor<f32> metric "all") of "nested" batch 16 {
  %0 = graph.kernel %x {name = "exp"} : (tensor<16x8xf32>) -> tensor<16x8xf32> {
  ^bb0(%a0: tensor<16x8xf32>):
    %r = graph.exp %a0 : (tensor<16x8xf32>) -> tensor<16x8xf32>
    graph.yield %r : tensor<16x8xf32>
  }
  %1 = graph.kernel %0 {name = "tanh"} : (tensor<16x8xf32>) -> tensor<16x8xf32> {
  ^bb0(%a0: tensor<16x8xf32>):
    %r = graph.tanh %a0 : (tensor<16x8xf32>) -> tensor<16x8xf32>
    graph.yield %r : tensor<16x8xf32>
  }
  %2 = graph.kernel %1 {name = "sigmoid"} : (tensor<16x8xf32>) -> tensor<16x8xf32> {
  ^bb0(%a0: tensor<16x8xf32>):
    %r = graph.sigmoid %a0 : (tensor<16x8xf32>) -> tensor<16x8xf32>
    graph.yield %r : tensor<16x8xf32>
  }
  %3 = graph.kernel %0, %1 {name = "inner"} : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<32x8xf32> {
  ^bb0(%a0: tensor<16x8xf32>, %a1: tensor<16x8xf32>):
    %r = graph.cat %a0, %a1 {dim = 0 : i64} : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<32x8xf32>
    graph.yield %r : tensor<32x8xf32>
  }
  %4 = graph.kernel %3, %2 {name = "outer"} : (tensor<32x8xf32>, tensor<16x8xf32>) -> tensor<48x8xf32> {
  ^bb0(%a0: tensor<32x8xf32>, %a1: tensor<16x8xf32>):
    %r = graph.cat %a0, %a1 {dim = 0 : i64} : (tensor<32x8xf32>, tensor<16x8xf32>) -> tensor<48x8xf32>
    graph.yield %r : tensor<48x8xf32>
  }
  %6 = graph.kernel %4 {name = "sum_48"} : (tensor<48x8xf32>) -> tensor<f32> {
  ^bb0(%a0: tensor<48x8xf32>):
    %r = graph.sum %a0 {dims = array<i64: 0, 1>} : (tensor<48x8xf32>) -> tensor<f32>
    graph.yield %r : tensor<f32>
  }
  graph.return %1, %6 : tensor<16x8xf32>, tensor<f32>
}

// What is early and small would keep much memory free for long, and is copied.
// CHECK-LABEL: plan.step "early"
// CHECK: plan.launch @exp_early(%{{batch_[0-9_]*}}, [[EARLY:%[a-z0-9_]+]])
// CHECK: plan.launch @expand({{.*}}, [[ALL:%[a-z0-9_]+]][512, 16384])
// CHECK-NEXT: plan.copy [[EARLY]][0, 512] to [[ALL]][0, 512]
// CHECK-NEXT: plan.launch @sum_33([[ALL]], %
graph.step @eval.early(%x: tensor<1x16x8xf32> input 0) -> (tensor<f32> metric "all") of "early" batch 16 {
  %0 = graph.kernel %x {name = "exp_early"} : (tensor<1x16x8xf32>) -> tensor<1x16x8xf32> {
  ^bb0(%a0: tensor<1x16x8xf32>):
    %r = graph.exp %a0 : (tensor<1x16x8xf32>) -> tensor<1x16x8xf32>
    graph.yield %r : tensor<1x16x8xf32>
  }
  %t1 = graph.kernel %0 {name = "tanh"} : (tensor<1x16x8xf32>) -> tensor<1x16x8xf32> {
  ^bb0(%a0: tensor<1x16x8xf32>):
    %r = graph.tanh %a0 : (tensor<1x16x8xf32>) -> tensor<1x16x8xf32>
    graph.yield %r : tensor<1x16x8xf32>
  }
  %t2 = graph.kernel %t1 {name = "tanh"} : (tensor<1x16x8xf32>) -> tensor<1x16x8xf32> {
  ^bb0(%a0: tensor<1x16x8xf32>):
    %r = graph.tanh %a0 : (tensor<1x16x8xf32>) -> tensor<1x16x8xf32>
    graph.yield %r : tensor<1x16x8xf32>
  }
  %t3 = graph.kernel %t2 {name = "tanh"} : (tensor<1x16x8xf32>) -> tensor<1x16x8xf32> {
  ^bb0(%a0: tensor<1x16x8xf32>):
    %r = graph.tanh %a0 : (tensor<1x16x8xf32>) -> tensor<1x16x8xf32>
    graph.yield %r : tensor<1x16x8xf32>
  }
  %t4 = graph.kernel %t3 {name = "tanh"} : (tensor<1x16x8xf32>) -> tensor<1x16x8xf32> {
  ^bb0(%a0: tensor<1x16x8xf32>):
    %r = graph.tanh %a0 : (tensor<1x16x8xf32>) -> tensor<1x16x8xf32>
    graph.yield %r : tensor<1x16x8xf32>
  }
  %t5 = graph.kernel %t4 {name = "tanh"} : (tensor<1x16x8xf32>) -> tensor<1x16x8xf32> {
  ^bb0(%a0: tensor<1x16x8xf32>):
    %r = graph.tanh %a0 : (tensor<1x16x8xf32>) -> tensor<1x16x8xf32>
    graph.yield %r : tensor<1x16x8xf32>
  }
  %t6 = graph.kernel %t5 {name = "tanh"} : (tensor<1x16x8xf32>) -> tensor<1x16x8xf32> {
  ^bb0(%a0: tensor<1x16x8xf32>):
    %r = graph.tanh %a0 : (tensor<1x16x8xf32>) -> tensor<1x16x8xf32>
    graph.yield %r : tensor<1x16x8xf32>
  }
  %t7 = graph.kernel %t6 {name = "tanh"} : (tensor<1x16x8xf32>) -> tensor<1x16x8xf32> {
  ^bb0(%a0: tensor<1x16x8xf32>):
    %r = graph.tanh %a0 : (tensor<1x16x8xf32>) -> tensor<1x16x8xf32>
    graph.yield %r : tensor<1x16x8xf32>
  }
  %t8 = graph.kernel %t7 {name = "tanh"} : (tensor<1x16x8xf32>) -> tensor<1x16x8xf32> {
  ^bb0(%a0: tensor<1x16x8xf32>):
    %r = graph.tanh %a0 : (tensor<1x16x8xf32>) -> tensor<1x16x8xf32>
    graph.yield %r : tensor<1x16x8xf32>
  }
  %t9 = graph.kernel %t8 {name = "tanh"} : (tensor<1x16x8xf32>) -> tensor<1x16x8xf32> {
  ^bb0(%a0: tensor<1x16x8xf32>):
    %r = graph.tanh %a0 : (tensor<1x16x8xf32>) -> tensor<1x16x8xf32>
    graph.yield %r : tensor<1x16x8xf32>
  }
  %t10 = graph.kernel %t9 {name = "tanh"} : (tensor<1x16x8xf32>) -> tensor<1x16x8xf32> {
  ^bb0(%a0: tensor<1x16x8xf32>):
    %r = graph.tanh %a0 : (tensor<1x16x8xf32>) -> tensor<1x16x8xf32>
    graph.yield %r : tensor<1x16x8xf32>
  }
  %t11 = graph.kernel %t10 {name = "tanh"} : (tensor<1x16x8xf32>) -> tensor<1x16x8xf32> {
  ^bb0(%a0: tensor<1x16x8xf32>):
    %r = graph.tanh %a0 : (tensor<1x16x8xf32>) -> tensor<1x16x8xf32>
    graph.yield %r : tensor<1x16x8xf32>
  }
  %5 = graph.kernel %t11 {name = "expand"} : (tensor<1x16x8xf32>) -> tensor<32x16x8xf32> {
  ^bb0(%a0: tensor<1x16x8xf32>):
    %r = graph.expand %a0 {shape = array<i64: 32, 16, 8>} : (tensor<1x16x8xf32>) -> tensor<32x16x8xf32>
    graph.yield %r : tensor<32x16x8xf32>
  }
  %6 = graph.kernel %0, %5 {name = "cat"} : (tensor<1x16x8xf32>, tensor<32x16x8xf32>) -> tensor<33x16x8xf32> {
  ^bb0(%a0: tensor<1x16x8xf32>, %a1: tensor<32x16x8xf32>):
    %r = graph.cat %a0, %a1 {dim = 0 : i64} : (tensor<1x16x8xf32>, tensor<32x16x8xf32>) -> tensor<33x16x8xf32>
    graph.yield %r : tensor<33x16x8xf32>
  }
  %7 = graph.kernel %6 {name = "sum_33"} : (tensor<33x16x8xf32>) -> tensor<f32> {
  ^bb0(%a0: tensor<33x16x8xf32>):
    %r = graph.sum %a0 {dims = array<i64: 0, 1, 2>} : (tensor<33x16x8xf32>) -> tensor<f32>
    graph.yield %r : tensor<f32>
  }
  graph.return %7 : tensor<f32>
}

// The other way round there is nothing to keep free. Images are side by side: channels of all of them follow those of
// others. Rows of both would alternate.
// CHECK-LABEL: plan.step "images"
// CHECK: plan.launch @exp_images(%{{batch_[0-9_]*}}, [[ALL:%[a-z0-9_]+]][0, 8192])
// CHECK-NEXT: plan.launch @tanh_images([[ALL]][0, 8192], [[ALL]][8192, 8192])
// CHECK-NEXT: plan.launch @sum_images([[ALL]], %
// CHECK: plan.launch @rows(
graph.step @eval.images(%x: tensor<16x8x4x4xf32> input 0) -> (tensor<f32> metric "all", tensor<f32> metric "rows") of "images" batch 16 {
  %0 = graph.kernel %x {result_layouts = [array<i64: 1, 2, 3, 0>], name = "exp_images"} : (tensor<16x8x4x4xf32>) -> tensor<16x8x4x4xf32> {
  ^bb0(%a0: tensor<16x8x4x4xf32>):
    %r = graph.exp %a0 : (tensor<16x8x4x4xf32>) -> tensor<16x8x4x4xf32>
    graph.yield %r : tensor<16x8x4x4xf32>
  }
  %1 = graph.kernel %0 {operand_layouts = [array<i64: 1, 2, 3, 0>], result_layouts = [array<i64: 1, 2, 3, 0>], name = "tanh_images"} : (tensor<16x8x4x4xf32>) -> tensor<16x8x4x4xf32> {
  ^bb0(%a0: tensor<16x8x4x4xf32>):
    %r = graph.tanh %a0 : (tensor<16x8x4x4xf32>) -> tensor<16x8x4x4xf32>
    graph.yield %r : tensor<16x8x4x4xf32>
  }
  %2 = graph.kernel %0, %1 {operand_layouts = [array<i64: 1, 2, 3, 0>, array<i64: 1, 2, 3, 0>], result_layouts = [array<i64: 1, 2, 3, 0>], name = "channels"} : (tensor<16x8x4x4xf32>, tensor<16x8x4x4xf32>) -> tensor<16x16x4x4xf32> {
  ^bb0(%a0: tensor<16x8x4x4xf32>, %a1: tensor<16x8x4x4xf32>):
    %r = graph.cat %a0, %a1 {dim = 1 : i64} : (tensor<16x8x4x4xf32>, tensor<16x8x4x4xf32>) -> tensor<16x16x4x4xf32>
    graph.yield %r : tensor<16x16x4x4xf32>
  }
  %3 = graph.kernel %2 {operand_layouts = [array<i64: 1, 2, 3, 0>], name = "sum_images"} : (tensor<16x16x4x4xf32>) -> tensor<f32> {
  ^bb0(%a0: tensor<16x16x4x4xf32>):
    %r = graph.sum %a0 {dims = array<i64: 0, 1, 2, 3>} : (tensor<16x16x4x4xf32>) -> tensor<f32>
    graph.yield %r : tensor<f32>
  }
  %4 = graph.kernel %x {name = "exp_rows"} : (tensor<16x8x4x4xf32>) -> tensor<16x8x4x4xf32> {
  ^bb0(%a0: tensor<16x8x4x4xf32>):
    %r = graph.exp %a0 : (tensor<16x8x4x4xf32>) -> tensor<16x8x4x4xf32>
    graph.yield %r : tensor<16x8x4x4xf32>
  }
  %5 = graph.kernel %4 {name = "tanh_rows"} : (tensor<16x8x4x4xf32>) -> tensor<16x8x4x4xf32> {
  ^bb0(%a0: tensor<16x8x4x4xf32>):
    %r = graph.tanh %a0 : (tensor<16x8x4x4xf32>) -> tensor<16x8x4x4xf32>
    graph.yield %r : tensor<16x8x4x4xf32>
  }
  %6 = graph.kernel %4, %5 {name = "rows"} : (tensor<16x8x4x4xf32>, tensor<16x8x4x4xf32>) -> tensor<16x16x4x4xf32> {
  ^bb0(%a0: tensor<16x8x4x4xf32>, %a1: tensor<16x8x4x4xf32>):
    %r = graph.cat %a0, %a1 {dim = 1 : i64} : (tensor<16x8x4x4xf32>, tensor<16x8x4x4xf32>) -> tensor<16x16x4x4xf32>
    graph.yield %r : tensor<16x16x4x4xf32>
  }
  %7 = graph.kernel %6 {name = "sum_rows"} : (tensor<16x16x4x4xf32>) -> tensor<f32> {
  ^bb0(%a0: tensor<16x16x4x4xf32>):
    %r = graph.sum %a0 {dims = array<i64: 0, 1, 2, 3>} : (tensor<16x16x4x4xf32>) -> tensor<f32>
    graph.yield %r : tensor<f32>
  }
  graph.return %3, %7 : tensor<f32>, tensor<f32>
}

// Where the new value of a state will be, the old one is read until all is there; nor is a stretch of a state read
// where it is that this step writes, but of another one.
// CHECK-LABEL: plan.step "states"
// CHECK: plan.launch @sum_16(%v[512, 512], %
// CHECK-NEXT: plan.launch @exp(%{{batch_[0-9_]*}}, [[FIRST:%[a-z0-9_]+]])
// CHECK-NEXT: plan.launch @tanh([[FIRST]], [[SECOND:%[a-z0-9_]+]])
// CHECK-NEXT: plan.launch @of_w(%w, [[PART:%[a-z0-9_]+]])
// CHECK-NEXT: plan.launch @join([[FIRST]], [[SECOND]], %w)
// CHECK-NEXT: plan.launch @sum_16([[PART]], %
// CHECK-NOT: plan.launch
graph.step @train(%x: tensor<16x8xf32> input 0, %w: tensor<32x8xf32> state @w, %v: tensor<32x8xf32> state @v)
    -> (tensor<32x8xf32> state @w, tensor<f32> metric "w", tensor<f32> metric "v") of "states" training batch 16 {
  %0 = graph.kernel %x {name = "exp"} : (tensor<16x8xf32>) -> tensor<16x8xf32> {
  ^bb0(%a0: tensor<16x8xf32>):
    %r = graph.exp %a0 : (tensor<16x8xf32>) -> tensor<16x8xf32>
    graph.yield %r : tensor<16x8xf32>
  }
  %1 = graph.kernel %0 {name = "tanh"} : (tensor<16x8xf32>) -> tensor<16x8xf32> {
  ^bb0(%a0: tensor<16x8xf32>):
    %r = graph.tanh %a0 : (tensor<16x8xf32>) -> tensor<16x8xf32>
    graph.yield %r : tensor<16x8xf32>
  }
  %2 = graph.kernel %0, %1 {name = "join"} : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<32x8xf32> {
  ^bb0(%a0: tensor<16x8xf32>, %a1: tensor<16x8xf32>):
    %r = graph.cat %a0, %a1 {dim = 0 : i64} : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<32x8xf32>
    graph.yield %r : tensor<32x8xf32>
  }
  %3 = graph.kernel %w {name = "of_w"} : (tensor<32x8xf32>) -> tensor<16x8xf32> {
  ^bb0(%a0: tensor<32x8xf32>):
    %r = graph.slice %a0 {offsets = array<i64: 16, 0>, sizes = array<i64: 16, 8>, strides = array<i64: 1, 1>} : (tensor<32x8xf32>) -> tensor<16x8xf32>
    graph.yield %r : tensor<16x8xf32>
  }
  %4 = graph.kernel %v {name = "of_v"} : (tensor<32x8xf32>) -> tensor<16x8xf32> {
  ^bb0(%a0: tensor<32x8xf32>):
    %r = graph.slice %a0 {offsets = array<i64: 16, 0>, sizes = array<i64: 16, 8>, strides = array<i64: 1, 1>} : (tensor<32x8xf32>) -> tensor<16x8xf32>
    graph.yield %r : tensor<16x8xf32>
  }
  %5 = graph.kernel %3 {name = "sum_16"} : (tensor<16x8xf32>) -> tensor<f32> {
  ^bb0(%a0: tensor<16x8xf32>):
    %r = graph.sum %a0 {dims = array<i64: 0, 1>} : (tensor<16x8xf32>) -> tensor<f32>
    graph.yield %r : tensor<f32>
  }
  %6 = graph.kernel %4 {name = "sum_16"} : (tensor<16x8xf32>) -> tensor<f32> {
  ^bb0(%a0: tensor<16x8xf32>):
    %r = graph.sum %a0 {dims = array<i64: 0, 1>} : (tensor<16x8xf32>) -> tensor<f32>
    graph.yield %r : tensor<f32>
  }
  graph.return %2, %5, %6 : tensor<32x8xf32>, tensor<f32>, tensor<f32>
}

// What each rank of a mesh takes from elsewhere has no one place.
// CHECK-LABEL: plan.step "ranks"
// CHECK: plan.launch @tanh_48(%{{batch_[0-9_]*}}, [[ALL:%[a-z0-9_]+]])
// CHECK-NEXT: plan.launch @of_rank([[ALL]], [[PART:%[a-z0-9_]+]])
// CHECK-NEXT: plan.launch @sum_16([[PART]], %
graph.step @eval.ranks(%x: tensor<48x8xf32> input 0) -> (tensor<f32> metric "part") of "ranks" batch 48 {
  %0 = graph.kernel %x {name = "tanh_48"} : (tensor<48x8xf32>) -> tensor<48x8xf32> {
  ^bb0(%a0: tensor<48x8xf32>):
    %r = graph.tanh %a0 : (tensor<48x8xf32>) -> tensor<48x8xf32>
    graph.yield %r : tensor<48x8xf32>
  }
  %1 = graph.kernel %0 {constants = array<i64: 0>, constant_steps = array<i64: 16>, name = "of_rank"} : (tensor<48x8xf32>) -> tensor<16x8xf32> {
  ^bb0(%a0: tensor<48x8xf32>):
    %r = graph.slice %a0 {launch = {offsets = array<i64: 0, -1>}, offsets = array<i64: 0, 0>, sizes = array<i64: 16, 8>, strides = array<i64: 1, 1>} : (tensor<48x8xf32>) -> tensor<16x8xf32>
    graph.yield %r : tensor<16x8xf32>
  }
  %2 = graph.kernel %1 {name = "sum_16"} : (tensor<16x8xf32>) -> tensor<f32> {
  ^bb0(%a0: tensor<16x8xf32>):
    %r = graph.sum %a0 {dims = array<i64: 0, 1>} : (tensor<16x8xf32>) -> tensor<f32>
    graph.yield %r : tensor<f32>
  }
  graph.return %2 : tensor<f32>
}

// A small part that is needed longer than the whole is copied, so that it does not keep that in memory.
// CHECK-LABEL: plan.step "longer"
// CHECK: plan.launch @exp_48(%{{batch_[0-9_]*}}, [[ALL:%[a-z0-9_]+]])
// CHECK-DAG: plan.launch @first([[ALL]], [[FIRST:%[a-z0-9_]+]])
// CHECK-DAG: plan.launch @sum_48([[ALL]], %
// CHECK: plan.launch @later([[FIRST]], %
graph.step @eval.longer(%x: tensor<48x8xf32> input 0) -> (tensor<f32> metric "all", tensor<f32> metric "first") of "longer" batch 48 {
  %0 = graph.kernel %x {name = "exp_48"} : (tensor<48x8xf32>) -> tensor<48x8xf32> {
  ^bb0(%a0: tensor<48x8xf32>):
    %r = graph.exp %a0 : (tensor<48x8xf32>) -> tensor<48x8xf32>
    graph.yield %r : tensor<48x8xf32>
  }
  %1 = graph.kernel %0 {name = "first"} : (tensor<48x8xf32>) -> tensor<8x8xf32> {
  ^bb0(%a0: tensor<48x8xf32>):
    %r = graph.slice %a0 {offsets = array<i64: 0, 0>, sizes = array<i64: 8, 8>, strides = array<i64: 1, 1>} : (tensor<48x8xf32>) -> tensor<8x8xf32>
    graph.yield %r : tensor<8x8xf32>
  }
  %2 = graph.kernel %0 {name = "sum_48"} : (tensor<48x8xf32>) -> tensor<f32> {
  ^bb0(%a0: tensor<48x8xf32>):
    %r = graph.sum %a0 {dims = array<i64: 0, 1>} : (tensor<48x8xf32>) -> tensor<f32>
    graph.yield %r : tensor<f32>
  }
  %t0 = graph.kernel %2 {name = "tanh_1"} : (tensor<f32>) -> tensor<f32> {
  ^bb0(%a0: tensor<f32>):
    %r = graph.tanh %a0 : (tensor<f32>) -> tensor<f32>
    graph.yield %r : tensor<f32>
  }
  %t1 = graph.kernel %t0 {name = "tanh_1"} : (tensor<f32>) -> tensor<f32> {
  ^bb0(%a0: tensor<f32>):
    %r = graph.tanh %a0 : (tensor<f32>) -> tensor<f32>
    graph.yield %r : tensor<f32>
  }
  %t2 = graph.kernel %t1 {name = "tanh_1"} : (tensor<f32>) -> tensor<f32> {
  ^bb0(%a0: tensor<f32>):
    %r = graph.tanh %a0 : (tensor<f32>) -> tensor<f32>
    graph.yield %r : tensor<f32>
  }
  %t3 = graph.kernel %t2 {name = "tanh_1"} : (tensor<f32>) -> tensor<f32> {
  ^bb0(%a0: tensor<f32>):
    %r = graph.tanh %a0 : (tensor<f32>) -> tensor<f32>
    graph.yield %r : tensor<f32>
  }
  %t4 = graph.kernel %t3 {name = "tanh_1"} : (tensor<f32>) -> tensor<f32> {
  ^bb0(%a0: tensor<f32>):
    %r = graph.tanh %a0 : (tensor<f32>) -> tensor<f32>
    graph.yield %r : tensor<f32>
  }
  %t5 = graph.kernel %t4 {name = "tanh_1"} : (tensor<f32>) -> tensor<f32> {
  ^bb0(%a0: tensor<f32>):
    %r = graph.tanh %a0 : (tensor<f32>) -> tensor<f32>
    graph.yield %r : tensor<f32>
  }
  %t6 = graph.kernel %t5 {name = "tanh_1"} : (tensor<f32>) -> tensor<f32> {
  ^bb0(%a0: tensor<f32>):
    %r = graph.tanh %a0 : (tensor<f32>) -> tensor<f32>
    graph.yield %r : tensor<f32>
  }
  %t7 = graph.kernel %t6 {name = "tanh_1"} : (tensor<f32>) -> tensor<f32> {
  ^bb0(%a0: tensor<f32>):
    %r = graph.tanh %a0 : (tensor<f32>) -> tensor<f32>
    graph.yield %r : tensor<f32>
  }
  %t8 = graph.kernel %t7 {name = "tanh_1"} : (tensor<f32>) -> tensor<f32> {
  ^bb0(%a0: tensor<f32>):
    %r = graph.tanh %a0 : (tensor<f32>) -> tensor<f32>
    graph.yield %r : tensor<f32>
  }
  %t9 = graph.kernel %t8 {name = "tanh_1"} : (tensor<f32>) -> tensor<f32> {
  ^bb0(%a0: tensor<f32>):
    %r = graph.tanh %a0 : (tensor<f32>) -> tensor<f32>
    graph.yield %r : tensor<f32>
  }
  %3 = graph.kernel %1, %t9 {name = "later"} : (tensor<8x8xf32>, tensor<f32>) -> tensor<8x8xf32> {
  ^bb0(%a0: tensor<8x8xf32>, %a1: tensor<f32>):
    %r = graph.mul %a0, %a1 : (tensor<8x8xf32>, tensor<f32>) -> tensor<8x8xf32>
    graph.yield %r : tensor<8x8xf32>
  }
  %4 = graph.kernel %3 {name = "sum_8"} : (tensor<8x8xf32>) -> tensor<f32> {
  ^bb0(%a0: tensor<8x8xf32>):
    %r = graph.sum %a0 {dims = array<i64: 0, 1>} : (tensor<8x8xf32>) -> tensor<f32>
    graph.yield %r : tensor<f32>
  }
  graph.return %2, %4 : tensor<f32>, tensor<f32>
}
