// RUN: dl-opt %s --mark-serial | FileCheck %s
// RUN: dl-opt %s --mark-serial -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: echo "serial_seconds = 1e3" > %t.machine
// RUN: dl-opt %s --mark-serial=machine=%t.machine | FileCheck %s --check-prefix=SLOW

// SLOW-COUNT-5: serial
// SLOW-NOT: serial

// REMARK: remark: small: on one thread: its work (1000 FLOP, 1000 bytes) takes less time than to share it
// REMARK: remark: copy: on one thread: its work (0 FLOP, 64 bytes) takes less time than to share it
// REMARK-NOT: remark

// CHECK: plan.launch @small(%w) serial seconds 8.33{{[0-9]*}}E-8
// CHECK: plan.launch @much_work(%w) seconds 0.0166
// CHECK: plan.launch @much_traffic(%w) seconds 0.083333
// CHECK: plan.copy %w[0, 32] to %w[32, 32] serial seconds 5.33{{[0-9]*}}E-9
// CHECK: plan.copy %big[0, 1000000] to %big[1000000, 1000000] seconds 1.66{{[0-9]*}}E-4
plan.plan "m" f32 arena 1024 parameters 10 machine "" {
  %w = plan.buffer "w" arena bytes 64 pinned
  %big = plan.buffer "big" arena bytes 2000000
  plan.kernel @small "" tiles 8 scratch 0 bindings [64] writes [true] flops 1000 bytes 1000
  plan.kernel @much_work "" tiles 8 scratch 0 bindings [64] writes [true] flops 1000000000 bytes 1000
  plan.kernel @much_traffic "" tiles 8 scratch 0 bindings [64] writes [true] flops 1000 bytes 1000000000
  plan.step "train" training dataset 0 accumulate 1 {
    plan.program full batch 1 {
      plan.launch @small(%w)
      plan.launch @much_work(%w)
      plan.launch @much_traffic(%w)
      plan.copy %w[0, 32] to %w[32, 32]
      plan.copy %big[0, 1000000] to %big[1000000, 1000000]
    }
  }
}

// Devices have no threads to wake; a launch of theirs takes its time, and what is known of one stays.
// CHECK: "gpu"
// CHECK: plan.launch @small(%w) seconds 1.08{{[0-9]*}}E-6
// CHECK: plan.launch @small(%w) seconds 5.000000e-06
plan.plan "gpu" f32 for cuda arena 1024 parameters 10 machine "" {
  %w = plan.buffer "w" arena of device bytes 64 pinned
  plan.kernel @small "" tiles 8 threads 32 scratch 0 bindings [64] writes [true] flops 1000 bytes 1000
  plan.step "train" training dataset 0 accumulate 1 {
    plan.program full batch 1 {
      plan.launch @small(%w)
      plan.launch @small(%w) seconds 5.0e-06
    }
  }
}
