// RUN: dl-opt --narrow-caches %s | FileCheck %s

// A cache that products alone read, rounded, is kept rounded, also by the step that takes a window.
// CHECK: graph.state @generate.text.cache.0 {{.*}}tensor<1x4x8xbf16>
// CHECK: graph.state @generate.text.cache.1 {{.*}}tensor<1x4x8xf32>
graph.state @generate.text.cache.0 {init = {a = 0.0, b = 0.0, key = 0 : i64, kind = "zero"}, role = "cache", type = tensor<1x4x8xf32>}
graph.state @generate.text.cache.1 {init = {a = 0.0, b = 0.0, key = 0 : i64, kind = "zero"}, role = "cache", type = tensor<1x4x8xf32>}

// CHECK-LABEL: graph.step @text(
// CHECK-SAME: %[[WAS:[^ :]+]]: tensor<1x4x8xbf16> state @generate.text.cache.0
// CHECK: %[[K:.*]] = graph.cast %{{.*}} {to = bf16} : (tensor<1x4x1xf32>) -> tensor<1x4x1xbf16>
// CHECK: %[[ALL:.*]] = graph.update_slice %{{.*}}, %[[K]], %[[WAS]] {dim = 2 : i64} {{.*}} -> tensor<1x4x8xbf16>
// CHECK-NEXT: graph.cast %[[ALL]] {to = f32}
// The other one is returned as it is read by a sum.
// CHECK: %[[OTHER:.*]] = graph.update_slice {{.*}} -> tensor<1x4x8xf32>
// CHECK: graph.return %{{.*}}, %[[ALL]], %[[OTHER]]
graph.step @text(%i: tensor<1xi64>, %k: tensor<1x4x1xf32>, %q: tensor<1x1x4xf32>, %was: tensor<1x4x8xf32> state @generate.text.cache.0,
                 %other: tensor<1x4x8xf32> state @generate.text.cache.1)
    -> (tensor<1x1x8xf32>, tensor<1x4x8xf32> state @generate.text.cache.0, tensor<1x4x8xf32> state @generate.text.cache.1) {
  %all = graph.update_slice %i, %k, %was {dim = 2 : i64} : (tensor<1xi64>, tensor<1x4x1xf32>, tensor<1x4x8xf32>) -> tensor<1x4x8xf32>
  %r = graph.cast %all {to = bf16} : (tensor<1x4x8xf32>) -> tensor<1x4x8xbf16>
  %w = graph.cast %r {to = f32} : (tensor<1x4x8xbf16>) -> tensor<1x4x8xf32>
  %s = graph.matmul %q, %w {spec = "bqd,bdk->bqk"} : (tensor<1x1x4xf32>, tensor<1x4x8xf32>) -> tensor<1x1x8xf32>
  %more = graph.update_slice %i, %k, %other {dim = 2 : i64} : (tensor<1xi64>, tensor<1x4x1xf32>, tensor<1x4x8xf32>) -> tensor<1x4x8xf32>
  %sum = graph.sum %more {dims = array<i64: 1>, keepdim = true} : (tensor<1x4x8xf32>) -> tensor<1x1x8xf32>
  %t = graph.add %s, %sum : (tensor<1x1x8xf32>, tensor<1x1x8xf32>) -> tensor<1x1x8xf32>
  graph.return %t, %all, %more : tensor<1x1x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>
}

// CHECK-LABEL: graph.step @text.window(
// CHECK-SAME: tensor<1x4x8xbf16> state @generate.text.cache.0
// CHECK: %[[K:.*]] = graph.transpose
// CHECK-NEXT: %[[R:.*]] = graph.cast %[[K]] {to = bf16}
// CHECK: graph.return %[[R]], %[[K]]
graph.step @text.window(%x: tensor<1x8x4xf32>, %was: tensor<1x4x8xf32> state @generate.text.cache.0,
                        %other: tensor<1x4x8xf32> state @generate.text.cache.1)
    -> (tensor<1x4x8xf32> state @generate.text.cache.0, tensor<1x4x8xf32> state @generate.text.cache.1) {
  %k = graph.transpose %x {permutation = array<i64: 0, 2, 1>} : (tensor<1x8x4xf32>) -> tensor<1x4x8xf32>
  graph.return %k, %k : tensor<1x4x8xf32>, tensor<1x4x8xf32>
}
