// RUN: dl-opt %s --lower-to-plan | FileCheck %s

// A training step with an update, a short last batch and an evaluation.
module {
  graph.program "linear.dl" dtype f32 accumulate 1
  graph.dataset "tensor" root "" paths ["x.npy", "y.npy"] train items 5 batch 2 shuffle
      components [tensor<3xf32>, tensor<i64>]
  graph.state @"fc.weight" {type = tensor<4x3xf32>, role = "parameter", aliases = ["tied"],
      init = {kind = "uniform", a = -0.5 : f64, b = 0.5 : f64, key = 7 : i64}, layout = array<i64: 1, 0>}

  graph.step @train(%x: tensor<2x3xf32> input 0, %unused: tensor<2xi64> input 1,
                   %s: tensor<8xi64> scalars, %w: tensor<4x3xf32> state @"fc.weight")
      -> (tensor<f32> metric "loss", tensor<4x3xf32> state @"fc.weight")
      of "train" training batch 2 dataset 0 {
    %flat = graph.reshape %x {shape = array<i64: 6>} : (tensor<2x3xf32>) -> tensor<6xf32>
    %0 = graph.kernel %flat, %w {name = "forward", strategy = "contract", tiles = 4 : i64, scratch = 64 : i64,
                                 flops = 48 : i64, bytes = 96 : i64}
        : (tensor<6xf32>, tensor<4x3xf32>) -> tensor<2x4xf32> {
    ^bb0(%a: tensor<6xf32>, %b: tensor<4x3xf32>):
      %y = graph.full {value = 0.0 : f64, type = tensor<2x4xf32>} : () -> tensor<2x4xf32> loc("fc"("linear.dl":3:7))
      graph.yield %y : tensor<2x4xf32>
    }
    %1 = graph.kernel %0 {name = "loss"} : (tensor<2x4xf32>) -> tensor<f32> {
    ^bb0(%a: tensor<2x4xf32>):
      %y = graph.full {value = 0.0 : f64, type = tensor<f32>} : () -> tensor<f32>
      graph.yield %y : tensor<f32>
    }
    %2 = graph.kernel %w, %0, %s {name = "update", inplace = array<i64: 0>}
        : (tensor<4x3xf32>, tensor<2x4xf32>, tensor<8xi64>) -> tensor<4x3xf32> {
    ^bb0(%a: tensor<4x3xf32>, %b: tensor<2x4xf32>, %c: tensor<8xi64>):
      graph.yield %a : tensor<4x3xf32>
    }
    graph.return %1, %2 : tensor<f32>, tensor<4x3xf32>
  }
  graph.step @train.short(%x: tensor<1x3xf32> input 0, %w: tensor<4x3xf32> state @"fc.weight")
      -> (tensor<f32> metric "loss", tensor<4x3xf32> state @"fc.weight")
      of "train" training short batch 1 dataset 0 {
    %0 = graph.kernel %x {name = "loss.short"} : (tensor<1x3xf32>) -> tensor<f32> {
    ^bb0(%a: tensor<1x3xf32>):
      %y = graph.full {value = 0.0 : f64, type = tensor<f32>} : () -> tensor<f32>
      graph.yield %y : tensor<f32>
    }
    graph.return %0, %w : tensor<f32>, tensor<4x3xf32>
  }
  graph.step @eval.test(%x: tensor<2x3xf32> input 0, %w: tensor<4x3xf32> state @"fc.weight")
      -> (tensor<2x4xf32> metric "y", tensor<4x3xf32> metric "w",
          tensor<i32> error "nll_loss: target out of range [0, 4)")
      of "test" batch 2 dataset 0 {
    %flat = graph.reshape %x {shape = array<i64: 6>} : (tensor<2x3xf32>) -> tensor<6xf32>
    %0 = graph.kernel %flat, %w {name = "forward", strategy = "contract", tiles = 4 : i64, scratch = 64 : i64,
                                 flops = 48 : i64, bytes = 96 : i64}
        : (tensor<6xf32>, tensor<4x3xf32>) -> tensor<2x4xf32> {
    ^bb0(%a: tensor<6xf32>, %b: tensor<4x3xf32>):
      %y = graph.full {value = 0.0 : f64, type = tensor<2x4xf32>} : () -> tensor<2x4xf32>
      graph.yield %y : tensor<2x4xf32>
    }
    %1 = graph.kernel %0 {name = "check"} : (tensor<2x4xf32>) -> tensor<i32> {
    ^bb0(%a: tensor<2x4xf32>):
      %y = graph.full {value = 0.0 : f64, type = tensor<i32>} : () -> tensor<i32> loc("linear.dl":9:1)
      graph.yield %y : tensor<i32>
    }
    graph.return %0, %w, %1 : tensor<2x4xf32>, tensor<4x3xf32>, tensor<i32>
  }
}

// States come first, with the layout that was chosen for them.
// CHECK: plan.plan "linear.dl" f32 arena 0 parameters 12
// CHECK-NEXT: [[W:%.*]] = plan.buffer "fc.weight" arena bytes 48 pinned
// CHECK-NEXT: plan.state "fc.weight" parameter in [[W]] : tensor<4x3xf32>
// CHECK-SAME:   dims [#plan.dim<dim = 1, divisor = 1, extent = 3, stride = 4>, #plan.dim<dim = 0, divisor = 1, extent = 4, stride = 1>]
// CHECK-SAME:   init <uniform, -5.000000e-01 : f64, 5.000000e-01 : f64, key = 7> aliases ["tied"]
// CHECK-NEXT: plan.dataset tensor root "" paths ["x.npy", "y.npy"] train items 5 batch 2 shuffle
// CHECK-SAME:   components [tensor<3xf32>, tensor<i64>]

// An input that nobody reads gets no buffer; metrics keep theirs to themselves.
// CHECK-NOT: batch[1]
// CHECK: [[X:%.*]] = plan.buffer "batch[0]" input bytes 24 offset 0
// CHECK: [[S:%.*]] = plan.buffer "scalars" scalars bytes 64 offset 0
// CHECK: [[LOSS:%.*]] = plan.buffer "full [] f32" arena bytes 4 pinned
// CHECK: [[Y:%.*]] = plan.buffer "fc/full [2,4] f32" arena bytes 32 from <"full", "fc", "linear.dl:3:7">

// The same kernel is recorded once.
// CHECK: plan.kernel @forward "contract" tiles 4 scratch 64 bindings [24, 48, 32] writes [false, false, true] aligns [4, 4, 4] flops 48 bytes 96
// CHECK-NOT: plan.kernel @forward

// The new weight lies where the old one does.
// CHECK: plan.step "train" training dataset 0 accumulate 1 {
// CHECK-NEXT: plan.program full batch 2 {
// CHECK-NEXT:   plan.launch @forward([[X]], [[W]], [[Y]]) from [#plan.source<"full", "fc", "linear.dl:3:7">]
// CHECK-NEXT:   plan.launch @loss([[Y]], [[LOSS]])
// CHECK-NEXT:   plan.launch @update([[W]], [[Y]], [[S]], [[W]])
// CHECK-NEXT:   plan.metric "loss" in [[LOSS]] : tensor<f32> dims []
// CHECK:      plan.program short batch 1 {
// CHECK-NEXT:   plan.launch @loss.short
// CHECK-NEXT:   plan.metric "loss"

// CHECK: [[FLAG:%.*]] = plan.buffer "full [] i32" arena bytes 4 pinned
// CHECK: plan.step "test" dataset 0 accumulate 1 {
// CHECK:   plan.launch @forward
// CHECK:   plan.launch @check({{.*}}, [[FLAG]])
// CHECK:   plan.metric "w" in [[W]] : tensor<4x3xf32> dims [#plan.dim<dim = 1,
// CHECK:   plan.error "nll_loss: target out of range [0, 4)" in [[FLAG]] from <"index_check", "", "linear.dl:9:1">
