// RUN: dl-opt %s --place-buffers --add-dependencies --verify-races --split-input-file 2>/dev/null | FileCheck %s
// RUN: dl-opt %s --place-buffers --split-input-file 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// Two branches worth threads of their own: %b does not take %a's bytes although
// it could in sequence, and so nothing orders the branches.
// REMARK: remark: independent kernels may run at once: 704 bytes of temporaries, 640 in sequence
// CHECK: plan.plan
// CHECK: plan.buffer "a" arena bytes 64 offset [[A:[0-9]+]]
// CHECK: plan.buffer "b" arena bytes 64 offset
// CHECK-NOT: offset [[A]]{{$}}
// CHECK: plan.launch @make(%a)
// CHECK-NEXT: [[LEFT:%.*]] = plan.launch @grow(%a, %x) after(%0)
// CHECK-NEXT: plan.launch @make(%b)
// CHECK-NEXT: [[RIGHT:%.*]] = plan.launch @grow(%b, %y) after(%2)
// CHECK-NEXT: plan.launch @join(%x, %y) after([[LEFT]], [[RIGHT]])
plan.plan "m" f32 arena 0 parameters 0 machine "" {
  %a = plan.buffer "a" arena bytes 64
  %b = plan.buffer "b" arena bytes 64
  %x = plan.buffer "x" arena bytes 256
  %y = plan.buffer "y" arena bytes 320
  plan.kernel @make "" tiles 1 scratch 0 bindings [64] writes [true] flops 0 bytes 0
  plan.kernel @grow "" tiles 1 scratch 0 bindings [64, 256] writes [false, true] flops 0 bytes 0
  plan.kernel @join "" tiles 1 scratch 0 bindings [256, 256] writes [false, false] flops 0 bytes 0
  plan.step "train" training dataset 0 accumulate 1 {
    plan.program full batch 1 {
      plan.launch @make(%a)
      plan.launch @grow(%a, %x)
      plan.launch @make(%b)
      plan.launch @grow(%b, %y)
      plan.launch @join(%x, %y)
    }
  }
}

// -----

// Small ones stay as they are.
// REMARK-NOT: remark
// CHECK: plan.launch @make(%a) serial
// CHECK-NEXT: plan.launch @grow(%a, %x) after(%0) serial
// CHECK-NEXT: plan.launch @make(%b) after(%1) serial
plan.plan "m" f32 arena 0 parameters 0 machine "" {
  %a = plan.buffer "a" arena bytes 64
  %b = plan.buffer "b" arena bytes 64
  %x = plan.buffer "x" arena bytes 256
  %y = plan.buffer "y" arena bytes 320
  plan.kernel @make "" tiles 1 scratch 0 bindings [64] writes [true] flops 0 bytes 0
  plan.kernel @grow "" tiles 1 scratch 0 bindings [64, 256] writes [false, true] flops 0 bytes 0
  plan.kernel @join "" tiles 1 scratch 0 bindings [256, 256] writes [false, false] flops 0 bytes 0
  plan.step "train" training dataset 0 accumulate 1 {
    plan.program full batch 1 {
      plan.launch @make(%a) serial
      plan.launch @grow(%a, %x) serial
      plan.launch @make(%b) serial
      plan.launch @grow(%b, %y) serial
      plan.launch @join(%x, %y) serial
    }
  }
}

// -----

// Nor do those that would take too much memory at once.
// REMARK: remark: independent kernels run one by one: at once they need 8320 bytes of temporaries, 4224 in sequence
// CHECK: plan.launch @make(%a)
// CHECK-NEXT: plan.launch @shrink(%a, %x) after(%0)
// CHECK-NEXT: plan.launch @make(%b) after(%1)
plan.plan "m" f32 arena 0 parameters 0 machine "" {
  %a = plan.buffer "a" arena bytes 4096
  %b = plan.buffer "b" arena bytes 4096
  %x = plan.buffer "x" arena bytes 64
  %y = plan.buffer "y" arena bytes 64
  plan.kernel @make "" tiles 1 scratch 0 bindings [4096] writes [true] flops 0 bytes 0
  plan.kernel @shrink "" tiles 1 scratch 0 bindings [4096, 64] writes [false, true] flops 0 bytes 0
  plan.kernel @join "" tiles 1 scratch 0 bindings [64, 64] writes [false, false] flops 0 bytes 0
  plan.step "train" training dataset 0 accumulate 1 {
    plan.program full batch 1 {
      plan.launch @make(%a)
      plan.launch @shrink(%a, %x)
      plan.launch @make(%b)
      plan.launch @shrink(%b, %y)
      plan.launch @join(%x, %y)
    }
  }
}

// -----

// A gradient beside a chain that is longer: what it reads is small, and kept
// until the chain's end.
// REMARK: remark: independent kernels may run at once: 8320 bytes of temporaries, 8192 in sequence
// CHECK: plan.launch @make(%s)
// CHECK-NEXT: [[GRADIENT:%.*]] = plan.launch @use(%s) after(%0)
// CHECK-NEXT: plan.launch @large(%a) serial
// CHECK-NEXT: plan.launch @next(%a, %b) after(%2)
// CHECK-NEXT: plan.launch @next(%b, %c) after(%3)
plan.plan "m" f32 arena 0 parameters 0 machine "" {
  %s = plan.buffer "s" arena bytes 128
  %a = plan.buffer "a" arena bytes 4096
  %b = plan.buffer "b" arena bytes 4096
  %c = plan.buffer "c" arena bytes 128
  plan.kernel @make "" tiles 1 scratch 0 bindings [128] writes [true] flops 0 bytes 0
  plan.kernel @use "" tiles 1 scratch 0 bindings [128] writes [false] flops 0 bytes 0
  plan.kernel @large "" tiles 1 scratch 0 bindings [4096] writes [true] flops 0 bytes 0
  plan.kernel @next "" tiles 1 scratch 0 bindings [4096, 128] writes [false, true] flops 0 bytes 0
  plan.step "train" training dataset 0 accumulate 1 {
    plan.program full batch 1 {
      plan.launch @make(%s)
      plan.launch @use(%s)
      plan.launch @large(%a) serial
      plan.launch @next(%a, %b) serial
      plan.launch @next(%b, %c)
    }
  }
}

// -----

// Where all at once is too much, neighbours may still run at once: the first
// @use goes before the @next that takes over what it reads, and before no other.
// REMARK: remark: independent kernels may run at once with the next 2: 8384 bytes of temporaries, 8320 in sequence
// CHECK: plan.launch @use(%a, %s0) after(%0)
// CHECK-NEXT: plan.launch @next(%a, %b) after(%0)
// CHECK-NEXT: plan.launch @use(%b, %s1) after(%2)
// CHECK-NEXT: plan.launch @next(%b, %c) after(%1, %2)
// CHECK-NEXT: plan.launch @use(%c, %s2) after(%4)
plan.plan "m" f32 arena 0 parameters 0 machine "" {
  %s0 = plan.buffer "s0" arena bytes 64
  %s1 = plan.buffer "s1" arena bytes 64
  %s2 = plan.buffer "s2" arena bytes 64
  %a = plan.buffer "a" arena bytes 4096
  %b = plan.buffer "b" arena bytes 4096
  %c = plan.buffer "c" arena bytes 4096
  plan.kernel @make "" tiles 1 scratch 0 bindings [4096] writes [true] flops 0 bytes 0
  plan.kernel @next "" tiles 1 scratch 0 bindings [4096, 4096] writes [false, true] flops 0 bytes 0
  plan.kernel @use "" tiles 1 scratch 0 bindings [4096, 64] writes [false, true] flops 0 bytes 0
  plan.kernel @read "" tiles 1 scratch 0 bindings [64, 64, 64] writes [false, false, false] flops 0 bytes 0
  plan.step "train" training dataset 0 accumulate 1 {
    plan.program full batch 1 {
      plan.launch @make(%a)
      plan.launch @use(%a, %s0)
      plan.launch @next(%a, %b)
      plan.launch @use(%b, %s1)
      plan.launch @next(%b, %c)
      plan.launch @use(%c, %s2)
      plan.launch @read(%s0, %s1, %s2)
    }
  }
}

// -----

// What runs beside an exchange takes no bytes over from it: the second @make does not wait for the exchange,
// although %c would find room where %a and %b lie. Beside exchanges that may cost half as much memory as the rank keeps.
// REMARK: remark: independent kernels may run at once: 24576 bytes of temporaries, 16384 in sequence
// CHECK: [[GRADIENT:%.*]] = plan.launch @make(%a)
// CHECK-NEXT: [[SWAP:%.*]] = plan.communicate over ["dp"] order 0 send(1: %a) receive(1: %b) after([[GRADIENT]])
// CHECK-NEXT: [[UPDATE:%.*]] = plan.launch @move(%b, %w, %w) after([[SWAP]])
// CHECK-NEXT: [[NEXT:%.*]] = plan.launch @make(%c){{( serial)?}}{{$}}
// CHECK-NEXT: plan.launch @move(%c, %v, %v) after([[NEXT]])
plan.plan "m" f32 arena 0 parameters 0 machine "" mesh [#plan.axis<"dp", 2>] {
  %w = plan.buffer "w" arena bytes 8192 pinned
  %v = plan.buffer "v" arena bytes 65536 pinned
  plan.state "w" parameter in %w : tensor<2048xf32> dims [] init <zero, 0.0 : f64, 0.0 : f64, key = 0>
  plan.state "v" parameter in %v : tensor<16384xf32> dims [] init <zero, 0.0 : f64, 0.0 : f64, key = 0>
  %a = plan.buffer "a" arena bytes 8192
  %b = plan.buffer "b" arena bytes 8192
  %c = plan.buffer "c" arena bytes 8192
  plan.kernel @make "" tiles 1 scratch 0 bindings [8192] writes [true] flops 0 bytes 0
  plan.kernel @move "" tiles 1 scratch 0 bindings [8192, 8192, 8192] writes [false, false, true] flops 0 bytes 0
  plan.step "train" training dataset 0 accumulate 1 {
    plan.program full batch 1 {
      plan.launch @make(%a)
      plan.communicate over ["dp"] order 0 send(1: %a) receive(1: %b)
      plan.launch @move(%b, %w, %w)
      plan.launch @make(%c)
      plan.launch @move(%c, %v, %v)
    }
  }
}
