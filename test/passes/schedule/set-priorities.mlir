// RUN: dl-opt %s --set-priorities | FileCheck %s

// Each command and the longer of the two ways behind it; what is not known takes
// no time.
// CHECK: plan.launch @k(%a) priority 1150
// CHECK-NEXT: plan.launch @k(%b) after({{.*}}) priority 120
// CHECK-NEXT: plan.launch @k(%c) after({{.*}}) priority 1050
// CHECK-NEXT: plan.copy %c to %d after({{.*}}) priority 50
// CHECK-NEXT: plan.launch @k(%e) after({{.*}}) priority 20
// CHECK-NEXT: plan.launch @k(%a) after({{.*}}) priority 0
plan.plan "m" f32 arena 1024 parameters 0 machine "" {
  %a = plan.buffer "a" arena bytes 64 offset 0
  %b = plan.buffer "b" arena bytes 64 offset 64
  %c = plan.buffer "c" arena bytes 64 offset 128
  %d = plan.buffer "d" arena bytes 64 offset 192
  %e = plan.buffer "e" arena bytes 64 offset 256
  plan.kernel @k "" tiles 8 scratch 0 bindings [64] writes [true] flops 0 bytes 0
  plan.step "train" training dataset 0 accumulate 1 {
    plan.program full batch 1 {
      %0 = plan.launch @k(%a) seconds 1.0e-07
      %1 = plan.launch @k(%b) after(%0) seconds 1.0e-07
      %2 = plan.launch @k(%c) after(%0) seconds 1.0e-06
      %3 = plan.copy %c to %d after(%2) seconds 3.0e-08
      %4 = plan.launch @k(%e) after(%1, %3) seconds 2.0e-08
      %5 = plan.launch @k(%a) after(%4)
    }
  }
}
