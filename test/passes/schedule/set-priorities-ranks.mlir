// RUN: dl-opt %s --set-priorities | FileCheck %s

// What the other rank does with a message is behind its sender, too: of two
// commands that are ready on rank 0 the one with the message goes first.
// CHECK-LABEL: ranks [0]
// CHECK: plan.launch @k(%a) priority 1030
// CHECK-NEXT: plan.communicate {{.*}} priority 1020
// CHECK-NEXT: plan.launch @k(%b) priority 500
// CHECK-LABEL: ranks [1]
// CHECK: plan.communicate {{.*}} priority 1020
// CHECK-NEXT: plan.launch @k(%a) after({{.*}}) priority 1000
plan.plan "m" f32 arena 1024 parameters 0 machine "" mesh [#plan.axis<"pp", 2>] ranks [0] {
  %a = plan.buffer "a" arena bytes 64 offset 0
  %b = plan.buffer "b" arena bytes 64 offset 64
  plan.kernel @k "" tiles 8 scratch 0 bindings [64] writes [true] flops 0 bytes 0
  plan.step "train" training dataset 0 accumulate 1 {
    plan.program full batch 1 {
      %0 = plan.launch @k(%a) seconds 1.0e-08
      %1 = plan.communicate over ["pp"] order 3 send(1: %a[0, 64]) receive() after(%0) seconds 2.0e-08
      %2 = plan.launch @k(%b) seconds 5.0e-07
    }
  }
}
plan.plan "m" f32 arena 1024 parameters 0 machine "" mesh [#plan.axis<"pp", 2>] ranks [1] {
  %a = plan.buffer "a" arena bytes 64 offset 0
  plan.kernel @k "" tiles 8 scratch 0 bindings [64] writes [true] flops 0 bytes 0
  plan.step "train" training dataset 0 accumulate 1 {
    plan.program full batch 1 {
      %0 = plan.communicate over ["pp"] order 3 send() receive(0: %a[0, 64]) seconds 2.0e-08
      %1 = plan.launch @k(%a) after(%0) seconds 1.0e-06
    }
  }
}
