// RUN: dl-opt %s --add-dependencies --split-input-file | FileCheck %s

// The edges of a diamond, of an update, and of bytes that are used again.
// CHECK: [[MAKE:%.*]] = plan.launch @move(%x, %a)
// CHECK-NEXT: [[LEFT:%.*]] = plan.launch @move(%a, %b) after([[MAKE]])
// CHECK-NEXT: [[RIGHT:%.*]] = plan.launch @move(%a, %c) after([[MAKE]])
//   Reads both: @make follows from either.
// CHECK-NEXT: [[JOIN:%.*]] = plan.launch @join(%b, %c, %d) after([[LEFT]], [[RIGHT]])
//   Overwrites the state that @make read; that follows from the join.
// CHECK-NEXT: [[UPDATE:%.*]] = plan.launch @join(%x, %d, %x) after([[JOIN]])
//   Uses the bytes of b and c again, which the join read last.
// CHECK-NEXT: [[REUSE:%.*]] = plan.launch @make(%e) after([[JOIN]])
//   Reads the new state.
// CHECK-NEXT: plan.launch @join(%x, %e, %f) after([[UPDATE]], [[REUSE]])
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
      plan.launch @move(%x, %a)
      plan.launch @move(%a, %b)
      plan.launch @move(%a, %c)
      plan.launch @join(%b, %c, %d)
      plan.launch @join(%x, %d, %x)
      plan.launch @make(%e)
      plan.launch @join(%x, %e, %f)
    }
  }
}

// -----

// Halves of a buffer are written at once, and each is written over once its own
// reader is done.
// CHECK: [[LEFT:%.*]] = plan.launch @make(%a[0, 64])
// CHECK-NEXT: [[RIGHT:%.*]] = plan.launch @make(%a[64, 64])
// CHECK-NEXT: [[BOTH:%.*]] = plan.launch @both(%a, %b) after([[LEFT]], [[RIGHT]])
// CHECK-NEXT: [[READ:%.*]] = plan.launch @move(%a[32, 64], %c) after([[LEFT]], [[RIGHT]])
// CHECK-NEXT: plan.launch @make(%d) after([[BOTH]], [[READ]])
// CHECK-NEXT: plan.launch @quarter(%a[96, 32]) after([[BOTH]])
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
      plan.launch @make(%a[0, 64])
      plan.launch @make(%a[64, 64])
      plan.launch @both(%a, %b)
      plan.launch @move(%a[32, 64], %c)
      plan.launch @make(%d)
      plan.launch @quarter(%a[96, 32])
    }
  }
}

// -----

// Copies and exchanges wait and are waited for like launches.
// CHECK: [[MAKE:%.*]] = plan.launch @make(%a)
// CHECK-NEXT: [[COPY:%.*]] = plan.copy %a to %b[64, 64] after([[MAKE]])
// CHECK-NEXT: [[OTHER:%.*]] = plan.copy %x[0, 64] to %b[0, 64]{{$}}
// CHECK-NEXT: [[SWAP:%.*]] = plan.communicate over ["dp"] order 0 send(0: %b[0, 64], 1: %b[64, 64]) receive(0: %c, 1: %d) after([[COPY]], [[OTHER]])
// CHECK-NEXT: plan.copy %d to %a after([[SWAP]])
plan.plan "m" f32 arena 1024 parameters 10 machine "" mesh [#plan.axis<"dp", 2>] {
  %x = plan.buffer "x" input bytes 128 offset 0
  %a = plan.buffer "a" arena bytes 64 offset 0
  %b = plan.buffer "b" arena bytes 128 offset 64
  %c = plan.buffer "c" arena bytes 64 offset 192
  %d = plan.buffer "d" arena bytes 64 offset 256
  plan.kernel @make "" tiles 1 scratch 0 bindings [64] writes [true] flops 0 bytes 0
  plan.step "train" training dataset 0 accumulate 1 {
    plan.program full batch 1 {
      plan.launch @make(%a)
      plan.copy %a to %b[64, 64]
      plan.copy %x[0, 64] to %b[0, 64]
      plan.communicate over ["dp"] order 0 send(0: %b[0, 64], 1: %b[64, 64]) receive(0: %c, 1: %d)
      plan.copy %d to %a
    }
  }
}

// -----

// Exchanges wait for what they send alone: both may be under way.
// CHECK: [[FIRST:%.*]] = plan.communicate over ["dp"] order 0 send(1: %a) receive(1: %b){{$}}
// CHECK-NEXT: [[SECOND:%.*]] = plan.communicate over ["dp"] order 1 send(1: %a) receive(1: %c){{$}}
// CHECK-NEXT: plan.communicate over ["dp"] order 2 send(1: %b) receive(1: %d) after([[FIRST]])
plan.plan "m" f32 arena 1024 parameters 10 machine "" mesh [#plan.axis<"dp", 2>] {
  %a = plan.buffer "a" arena bytes 64 offset 0 pinned
  plan.state "a" parameter in %a : tensor<16xf32> dims [] init <zero, 0.0 : f64, 0.0 : f64, key = 0>
  %b = plan.buffer "b" arena bytes 64 offset 64
  %c = plan.buffer "c" arena bytes 64 offset 128
  %d = plan.buffer "d" arena bytes 64 offset 192
  plan.step "train" training dataset 0 accumulate 1 {
    plan.program full batch 1 {
      plan.communicate over ["dp"] order 0 send(1: %a) receive(1: %b)
      plan.communicate over ["dp"] order 1 send(1: %a) receive(1: %c)
      plan.communicate over ["dp"] order 2 send(1: %b) receive(1: %d)
    }
  }
}
