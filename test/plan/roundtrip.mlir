// RUN: dl-opt %s | dl-opt | FileCheck %s

// CHECK: plan.plan "mnist.dl" f32 arena 1024 parameters 10 machine "abc" mesh [#plan.axis<"dp", 2>, #plan.axis<"tp", 1>]
plan.plan "mnist.dl" f32 arena 1024 parameters 10 machine "abc" mesh [#plan.axis<"dp", 2>, #plan.axis<"tp", 1>] {
  // CHECK-NEXT: %fc.weight = plan.buffer "fc.weight" arena bytes 40 offset 0 pinned
  %w = plan.buffer "fc.weight" arena bytes 40 offset 0 pinned
  // CHECK-NEXT: %fc.weight.next = plan.buffer
  %v = plan.buffer "fc.weight.next" arena bytes 40 offset 128
  // CHECK-NEXT: %batch_0_ = plan.buffer "batch[0]" input bytes 40 offset 0
  %x = plan.buffer "batch[0]" input bytes 40 offset 0
  // CHECK-NEXT: %fc_sum = plan.buffer "fc/sum [1] f32" arena bytes 4 offset 64 from <"sum", "fc", "mnist.dl:3:4">
  %y = plan.buffer "fc/sum [1] f32" arena bytes 4 offset 64 from <"sum", "fc", "mnist.dl:3:4">
  // CHECK-NEXT: plan.state "fc.weight" parameter in %fc.weight : tensor<10xf32> dims [#plan.dim<dim = 0, divisor = 1, extent = 10, stride = 1>] init <normal, 0.000000e+00 : f64, 1.000000e+00 : f64, key = 3> aliases ["head"]
  plan.state "fc.weight" parameter in %w : tensor<10xf32> dims [#plan.dim<dim = 0, divisor = 1, extent = 10, stride = 1>] init <normal, 0.0 : f64, 1.0 : f64, key = 3> aliases ["head"]
  // CHECK-NEXT: plan.state "m" slot of "fc.weight" in
  plan.state "m" slot of "fc.weight" in %w : tensor<10xf32> dims [] init <zero, 0.0 : f64, 0.0 : f64, key = 0>
  // CHECK-NEXT: plan.kernel @k "reduce" tiles 1 scratch 64 bindings [40, 40, 4] writes [false, false, true] aligns [4, 4, 4] flops 20 bytes 84
  plan.kernel @k "reduce" tiles 1 scratch 64 bindings [40, 40, 4] writes [false, false, true] aligns [4, 4, 4] flops 20 bytes 84
  // CHECK-NEXT: plan.kernel @draw "loops" tiles 1 scratch 0 bindings [4] writes [true] constants [#plan.range<min = 0, max = 24, multiple_of = 4>, #plan.range<min = -9, max = 9>] flops 1 bytes 4
  plan.kernel @draw "loops" tiles 1 scratch 0 bindings [4] writes [true] constants [#plan.range<min = 0, max = 24, multiple_of = 4>, #plan.range<min = -9, max = 9>] flops 1 bytes 4
  plan.kernel @part "" tiles 1 scratch 0 bindings [32, 40] writes [false, true] aligns [4, 4] flops 0 bytes 0
  // CHECK: plan.dataset mnist root "data/mnist" paths [] train items 60000 batch 4 shuffle drop_last components [tensor<1x28x28xui8>, tensor<ui8>]
  plan.dataset mnist root "data/mnist" paths [] train items 60000 batch 4 shuffle drop_last components [tensor<1x28x28xui8>, tensor<ui8>]
  // CHECK-NEXT: plan.step "train" training dataset 0 accumulate 1 {
  plan.step "train" training dataset 0 accumulate 1 {
    // CHECK-NEXT: plan.program full batch 4 {
    plan.program full batch 4 {
      // CHECK-NEXT: [[A:%.*]] = plan.launch @k(%batch_0_, %fc.weight, %fc_sum) serial from [#plan.source<"sum", "fc", "mnist.dl:3:4">]
      %0 = plan.launch @k(%x, %w, %y) serial from [#plan.source<"sum", "fc", "mnist.dl:3:4">]
      // CHECK-NEXT: plan.launch @k(%batch_0_, %fc.weight, %fc_sum) after([[A]])
      %1 = plan.launch @k(%x, %w, %y) after(%0)
      // CHECK-NEXT: plan.launch @draw(%fc_sum) constants [12, -3] serial seconds 2.500000e-05
      %2 = plan.launch @draw(%y) constants [12, -3] serial seconds 2.5e-05
      // CHECK-NEXT: plan.launch @part(%batch_0_[8, 32], %fc.weight)
      %3 = plan.launch @part(%x[8, 32], %w)
      // CHECK-NEXT: [[C:%.*]] = plan.copy %batch_0_[8, 4] to %fc_sum serial
      %4 = plan.copy %x[8, 4] to %y serial
      // CHECK-NEXT: plan.copy %fc.weight to %fc.weight.next after([[C]]) from [#plan.source<"copy", "", "">]
      %5 = plan.copy %w to %v after(%4) from [#plan.source<"copy", "", "">]
      // CHECK-NEXT: [[E:%.*]] = plan.communicate over ["dp"] order 3 send(0 and 1 more: %fc.weight same, 1: %fc.weight[20, 20]) receive(0 and 1 more: %fc.weight.next[0, 20])
      %6 = plan.communicate over ["dp"] order 3 send(0 and 1 more: %w same, 1: %w[20, 20]) receive(0 and 1 more: %v[0, 20])
      // CHECK-NEXT: plan.communicate over ["tp", "dp"] order 4 send() receive(0: %fc_sum) after([[E]])
      %7 = plan.communicate over ["tp", "dp"] order 4 send() receive(0: %y) after(%6)
      // CHECK-NEXT: plan.metric "loss" in %fc_sum : tensor<1xf32> dims []
      plan.metric "loss" in %y : tensor<1xf32> dims []
      // CHECK-NEXT: plan.error "label out of range" in %fc_sum from <"sum", "fc", "mnist.dl:3:4">
      plan.error "label out of range" in %y from <"sum", "fc", "mnist.dl:3:4">
    }
  }
}

// CHECK: plan.plan "m.dl" f32 for cuda arena 64
plan.plan "m.dl" f32 for cuda arena 64 parameters 0 machine "" {
  // CHECK: plan.buffer "y" arena of device bytes 4 offset 0
  %y = plan.buffer "y" arena of device bytes 4 offset 0
  %z = plan.buffer "z" arena of device bytes 4 offset 0
  // CHECK: plan.kernel @k "map" tiles 7 threads 256 shared 1024 scratch 64 bindings [4]
  plan.kernel @k "map" tiles 7 threads 256 shared 1024 scratch 64 bindings [4] writes [true] flops 1 bytes 4
  // CHECK: plan.kernel @l "map" tiles 7 threads 32 scratch 0 bindings
  plan.kernel @l "map" tiles 7 threads 32 scratch 0 bindings [4] writes [true] flops 1 bytes 4
  %w = plan.buffer "w" arena of device bytes 4 offset 0
  plan.kernel @product "contract" tiles 1 threads 256 scratch 0 bindings [4, 4] writes [false, true] aligns [4, 4] flops 2 bytes 8
  plan.dataset mnist root "" paths [] items 1 batch 1 components []
  plan.step "eval" dataset 0 accumulate 1 {
    plan.program full batch 1 {
      // CHECK: [[M:%.*]] = plan.multiply @product(%y, %z[0, 4]) as <m = 1, n = 1, k = 1, a = <binding = 0, stride = 1>, b = <binding = 0, stride = 1, batch_stride = 2, transposed = true>, d = <binding = 1, stride = 1>, arithmetic = tf32, workspace = 4> in %w
      %0 = plan.multiply @product(%y, %z[0, 4]) as <m = 1, n = 1, k = 1, a = <binding = 0, stride = 1>, b = <binding = 0, stride = 1, batch_stride = 2, transposed = true>, d = <binding = 1, stride = 1>, arithmetic = tf32, workspace = 4> in %w
      // CHECK-NEXT: plan.multiply @product(%y, %z) as <batch = 2, {{.*}}> in %w after([[M]]) serial
      %1 = plan.multiply @product(%y, %z) as <batch = 2, m = 1, n = 1, k = 1, a = <binding = 0, stride = 1>, b = <binding = 0, stride = 1>, d = <binding = 1, stride = 1>, arithmetic = f64, workspace = 4> in %w after(%0) serial
    }
  }
}
