// RUN: dl-opt --prepare-weights %s | FileCheck %s

// What is made of weights alone becomes a state; of what is widened, or seen otherwise, that which is.
// CHECK: graph.state @generate.text.prepared.0 {{.*}}role = "prepared", type = tensor<64x80xbf16>
// CHECK: graph.state @generate.text.prepared.1 {{.*}}role = "prepared", type = tensor<64x80xf32>
// CHECK-LABEL: graph.step @text.initial(%arg0: tensor<64x80xf32> state @w, %arg1: tensor<80xf32> state @g)
// CHECK-SAME: tensor<64x80xbf16> state @generate.text.prepared.0, tensor<64x80xf32> state @generate.text.prepared.1
// CHECK-SAME: initial of "text"
// CHECK-NEXT: %[[R:.*]] = graph.cast %arg0 {to = bf16}
// CHECK-NEXT: %[[M:.*]] = graph.mul %arg0, %arg1
// CHECK-NEXT: graph.return %[[R]], %[[M]]
graph.state @w {init = {a = 0.0, b = 0.0, key = 0 : i64, kind = "zero"}, role = "parameter", type = tensor<64x80xf32>}
graph.state @g {init = {a = 0.0, b = 0.0, key = 0 : i64, kind = "zero"}, role = "parameter", type = tensor<80xf32>}
graph.state @seen {init = {a = 0.0, b = 0.0, key = 0 : i64, kind = "zero"}, role = "buffer", type = tensor<64x80xf32>}

// Not so a state that the step changes, what takes more room than it is made of, the weights themselves, what takes little.
// CHECK-LABEL: graph.step @text(
// CHECK-SAME: %[[P0:[^ :]+]]: tensor<64x80xbf16> state @generate.text.prepared.0
// CHECK-SAME: %[[P1:[^ :]+]]: tensor<64x80xf32> state @generate.text.prepared.1
// CHECK-NOT: graph.mul
// CHECK: %[[W:.*]] = graph.cast %[[P0]] {to = f32}
// CHECK: graph.matmul %arg0, %[[W]]
// CHECK: graph.matmul %arg0, %[[P1]]
// CHECK: graph.transpose %arg1
// CHECK: graph.add %arg3, %arg1
// CHECK: graph.expand
// CHECK: graph.exp
graph.step @text(%x: tensor<1x64xf32>, %w: tensor<64x80xf32> state @w, %g: tensor<80xf32> state @g, %seen: tensor<64x80xf32> state @seen)
    -> (tensor<1x80xf32>, tensor<1x80xf32>, tensor<80x64xf32>, tensor<64x80xf32> state @seen, tensor<99x80xf32>, tensor<80xf32>)
    of "text" batch 1 dataset 0 attributes {graph.predicts, graph.window = 8 : i64} {
  %r = graph.cast %w {to = bf16} : (tensor<64x80xf32>) -> tensor<64x80xbf16>
  %wide = graph.cast %r {to = f32} : (tensor<64x80xbf16>) -> tensor<64x80xf32>
  %a = graph.matmul %x, %wide {spec = "mk,kn->mn"} : (tensor<1x64xf32>, tensor<64x80xf32>) -> tensor<1x80xf32>
  %m = graph.mul %w, %g : (tensor<64x80xf32>, tensor<80xf32>) -> tensor<64x80xf32>
  %b = graph.matmul %x, %m {spec = "mk,kn->mn"} : (tensor<1x64xf32>, tensor<64x80xf32>) -> tensor<1x80xf32>
  %t = graph.transpose %w {permutation = array<i64: 1, 0>} : (tensor<64x80xf32>) -> tensor<80x64xf32>
  %s = graph.add %seen, %w : (tensor<64x80xf32>, tensor<64x80xf32>) -> tensor<64x80xf32>
  %row = graph.reshape %g {shape = array<i64: 1, 80>} : (tensor<80xf32>) -> tensor<1x80xf32>
  %e = graph.expand %row {shape = array<i64: 99, 80>} : (tensor<1x80xf32>) -> tensor<99x80xf32>
  %small = graph.exp %g : (tensor<80xf32>) -> tensor<80xf32>
  graph.return %a, %b, %t, %s, %e, %small : tensor<1x80xf32>, tensor<1x80xf32>, tensor<80x64xf32>, tensor<64x80xf32>, tensor<99x80xf32>, tensor<80xf32>
}

// The step for a window runs once for a text.
// CHECK-LABEL: graph.step @text.window(%arg0: tensor<64x80xf32> state @w)
// CHECK: graph.cast %arg0
graph.step @text.window(%w: tensor<64x80xf32> state @w) -> tensor<64x80xbf16>
    of "text.window" batch 1 dataset 0 attributes {graph.predicts, graph.window = 8 : i64} {
  %r = graph.cast %w {to = bf16} : (tensor<64x80xf32>) -> tensor<64x80xbf16>
  graph.return %r : tensor<64x80xbf16>
}
