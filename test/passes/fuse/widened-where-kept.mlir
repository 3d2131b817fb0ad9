// RUN: dl-opt %s --form-kernels | FileCheck %s

// What lives from step to step as bf16 is widened by the products that read it, however many do, and stored as that alone; nothing
// else is beside a slice that is written where it belongs.
graph.state @w {init = {a = 0.0, b = 0.0, key = 0 : i64, kind = "zero"}, role = "prepared", type = tensor<512x512xbf16>}
graph.state @k {init = {a = 0.0, b = 0.0, key = 0 : i64, kind = "zero"}, role = "cache", type = tensor<2x1000x256xbf16>}

// CHECK-LABEL: graph.step @text(
// CHECK-SAME: %[[W:[^ :]+]]: tensor<512x512xbf16> state @w
// CHECK-SAME: %[[WAS:[^ :]+]]: tensor<2x1000x256xbf16> state @k
// CHECK-NOT: tensor<2x1000x256xf32>) {
// CHECK: %[[ALL:.*]] = graph.kernel {{.*}}%[[WAS]]{{.*}} -> tensor<2x1000x256xbf16> {
// CHECK-NOT: graph.matmul
// CHECK: graph.update_slice
// CHECK: graph.kernel {{.*}}%[[ALL]]
// CHECK: graph.cast {{.*}} -> tensor<2x1000x256xf32>
// CHECK-NEXT: graph.matmul
// CHECK: graph.kernel {{.*}}%[[W]]
// CHECK: graph.cast {{.*}} -> tensor<512x512xf32>
// CHECK: graph.matmul
// CHECK: graph.kernel {{.*}}%[[W]]
// CHECK: graph.matmul
// CHECK: graph.kernel {{.*}}%[[W]]
// CHECK: graph.matmul
graph.step @text(%i: tensor<1xi64>, %x: tensor<1x512xf32>, %row: tensor<2x1x256xbf16>, %q: tensor<2x1x256xf32>,
                 %w: tensor<512x512xbf16> state @w, %was: tensor<2x1000x256xbf16> state @k)
    -> (tensor<2x1x1000xf32>, tensor<1x512xf32>, tensor<2x1000x256xbf16> state @k) {
  %all = graph.update_slice %i, %row, %was {dim = 1 : i64} : (tensor<1xi64>, tensor<2x1x256xbf16>, tensor<2x1000x256xbf16>) -> tensor<2x1000x256xbf16>
  %k = graph.cast %all {to = f32} : (tensor<2x1000x256xbf16>) -> tensor<2x1000x256xf32>
  %s = graph.matmul %q, %k {spec = "bmk,bnk->bmn"} : (tensor<2x1x256xf32>, tensor<2x1000x256xf32>) -> tensor<2x1x1000xf32>
  %ww = graph.cast %w {to = f32} : (tensor<512x512xbf16>) -> tensor<512x512xf32>
  %a = graph.matmul %x, %ww {spec = "mk,kn->mn"} : (tensor<1x512xf32>, tensor<512x512xf32>) -> tensor<1x512xf32>
  %b = graph.matmul %a, %ww {spec = "mk,kn->mn"} : (tensor<1x512xf32>, tensor<512x512xf32>) -> tensor<1x512xf32>
  %c = graph.matmul %b, %ww {spec = "mk,kn->mn"} : (tensor<1x512xf32>, tensor<512x512xf32>) -> tensor<1x512xf32>
  graph.return %s, %c, %all : tensor<2x1x1000xf32>, tensor<1x512xf32>, tensor<2x1000x256xbf16>
}
