// RUN: dl-opt %s --mark-serial | FileCheck %s
// RUN: dl-opt %s --mark-serial -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: echo "serial_seconds = 1e3" > %t.machine
// RUN: dl-opt %s --mark-serial=machine=%t.machine | FileCheck %s --check-prefix=SLOW

// SLOW-COUNT-3: serial

// REMARK-COUNT-1: remark: small: on one thread: its work (1000 FLOP, 1000 bytes) takes less time than to share it
// REMARK-NOT: remark

// CHECK: plan.command @small(%w) serial seconds 8.33{{[0-9]*}}E-8
// CHECK: plan.command @much_work(%w) seconds 0.0166
// CHECK: plan.command @much_traffic(%w) seconds 0.083333
plan.plan "m" f32 arena 1024 parameters 10 machine "" {
  %w = plan.buffer "w" arena bytes 64 offset 0 pinned
  plan.kernel @small "" tiles 8 scratch 0 bindings [64] writes [true] flops 1000 bytes 1000
  plan.kernel @much_work "" tiles 8 scratch 0 bindings [64] writes [true] flops 1000000000 bytes 1000
  plan.kernel @much_traffic "" tiles 8 scratch 0 bindings [64] writes [true] flops 1000 bytes 1000000000
  plan.step "train" training dataset 0 accumulate 1 {
    plan.program full batch 1 {
      plan.command @small(%w)
      plan.command @much_work(%w)
      plan.command @much_traffic(%w)
    }
  }
}
