// RUN: dl-opt %s --place-buffers --split-input-file | FileCheck %s

// States first; then what does not live at the same time shares its bytes, and
// so do the temporaries of different programs.
// CHECK: plan.plan "m" f32 arena 448
// CHECK: plan.buffer "w" arena bytes 40 offset 0 pinned
// CHECK: plan.buffer "a" arena bytes 100 offset 64
// CHECK: plan.buffer "b" arena bytes 130 offset 192
// CHECK: plan.buffer "c" arena bytes 100 offset 64
// CHECK: plan.buffer "eval" arena bytes 10 offset 64
plan.plan "m" f32 arena 0 parameters 10 machine "" {
  %w = plan.buffer "w" arena bytes 40 pinned
  plan.state "w" parameter in %w : tensor<10xf32> dims [] init <zero, 0.0 : f64, 0.0 : f64, key = 0>
  %a = plan.buffer "a" arena bytes 100
  %b = plan.buffer "b" arena bytes 130
  %c = plan.buffer "c" arena bytes 100
  plan.kernel @first "" tiles 1 scratch 0 bindings [40, 10] writes [false, true] flops 0 bytes 0
  plan.kernel @next "" tiles 1 scratch 0 bindings [100, 100] writes [false, true] flops 0 bytes 0
  plan.step "train" training dataset 0 accumulate 1 {
    plan.program full batch 1 {
      %0 = plan.launch @first(%w, %a)
      %1 = plan.launch @next(%a, %b)
      %2 = plan.launch @next(%b, %c)
    }
  }
  %e = plan.buffer "eval" arena bytes 10
  plan.step "test" dataset 0 accumulate 1 {
    plan.program full batch 1 {
      %0 = plan.launch @first(%w, %e)
    }
  }
}
