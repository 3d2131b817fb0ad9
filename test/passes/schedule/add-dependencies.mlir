// RUN: dl-opt %s --add-dependencies --split-input-file | FileCheck %s

// The edges of a diamond, of an update, and of bytes that are used again.
// CHECK: [[MAKE:%.*]] = plan.command @move(%x, %a)
// CHECK-NEXT: [[LEFT:%.*]] = plan.command @move(%a, %b) after([[MAKE]])
// CHECK-NEXT: [[RIGHT:%.*]] = plan.command @move(%a, %c) after([[MAKE]])
//   Reads both: @make follows from either.
// CHECK-NEXT: [[JOIN:%.*]] = plan.command @join(%b, %c, %d) after([[LEFT]], [[RIGHT]])
//   Overwrites the state that @make read; that follows from the join.
// CHECK-NEXT: [[UPDATE:%.*]] = plan.command @join(%x, %d, %x) after([[JOIN]])
//   Uses the bytes of b and c again, which the join read last.
// CHECK-NEXT: [[REUSE:%.*]] = plan.command @make(%e) after([[JOIN]])
//   Reads the new state.
// CHECK-NEXT: plan.command @join(%x, %e, %f) after([[UPDATE]], [[REUSE]])
plan.plan "m" f32 arena 1024 parameters 10 machine "" {
  %x = plan.buffer "x" arena bytes 64 offset 0 pinned
  plan.state "x" parameter in %x : tensor<16xf32> dims [] init <zero, 0.0 : f64, 0.0 : f64, key = 0>
  %a = plan.buffer "a" arena bytes 64 offset 64
  %b = plan.buffer "b" arena bytes 64 offset 128
  %c = plan.buffer "c" arena bytes 64 offset 192
  %d = plan.buffer "d" arena bytes 64 offset 256
  %e = plan.buffer "e" arena bytes 128 offset 128
  %f = plan.buffer "f" arena bytes 64 offset 320
  plan.kernel @make "" tiles 1 scratch 0 bindings [64] writes [true] flops 0 bytes 0
  plan.kernel @move "" tiles 1 scratch 0 bindings [64, 64] writes [false, true] flops 0 bytes 0
  plan.kernel @join "" tiles 1 scratch 0 bindings [64, 64, 64] writes [false, false, true] flops 0 bytes 0
  plan.step "train" training dataset 0 accumulate 1 {
    plan.program full batch 1 {
      plan.command @move(%x, %a)
      plan.command @move(%a, %b)
      plan.command @move(%a, %c)
      plan.command @join(%b, %c, %d)
      plan.command @join(%x, %d, %x)
      plan.command @make(%e)
      plan.command @join(%x, %e, %f)
    }
  }
}

// -----

// Halves of a buffer are written at once, and each is written over once its own
// reader is done.
// CHECK: [[LEFT:%.*]] = plan.command @make(%a[0, 64])
// CHECK-NEXT: [[RIGHT:%.*]] = plan.command @make(%a[64, 64])
// CHECK-NEXT: [[BOTH:%.*]] = plan.command @both(%a, %b) after([[LEFT]], [[RIGHT]])
// CHECK-NEXT: [[READ:%.*]] = plan.command @move(%a[32, 64], %c) after([[LEFT]], [[RIGHT]])
// CHECK-NEXT: plan.command @make(%d) after([[BOTH]], [[READ]])
// CHECK-NEXT: plan.command @quarter(%a[96, 32]) after([[BOTH]])
plan.plan "m" f32 arena 1024 parameters 10 machine "" {
  %a = plan.buffer "a" arena bytes 128 offset 0
  %b = plan.buffer "b" arena bytes 128 offset 128
  %c = plan.buffer "c" arena bytes 64 offset 256
  %d = plan.buffer "d" arena bytes 64 offset 0
  plan.kernel @make "" tiles 1 scratch 0 bindings [64] writes [true] flops 0 bytes 0
  plan.kernel @quarter "" tiles 1 scratch 0 bindings [32] writes [true] aligns [4] flops 0 bytes 0
  plan.kernel @both "" tiles 1 scratch 0 bindings [128, 128] writes [false, true] flops 0 bytes 0
  plan.kernel @move "" tiles 1 scratch 0 bindings [64, 64] writes [false, true] aligns [4, 4] flops 0 bytes 0
  plan.step "train" training dataset 0 accumulate 1 {
    plan.program full batch 1 {
      plan.command @make(%a[0, 64])
      plan.command @make(%a[64, 64])
      plan.command @both(%a, %b)
      plan.command @move(%a[32, 64], %c)
      plan.command @make(%d)
      plan.command @quarter(%a[96, 32])
    }
  }
}
