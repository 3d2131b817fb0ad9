// RUN: dl-opt %s --print-gradients --no-output | FileCheck %s

// CHECK-LABEL: graph.step @gradient.matmul
// CHECK: graph.matmul %arg2, %arg1 {spec = "mn,kn->mk"}
// CHECK: graph.matmul %arg0, %arg2 {spec = "mk,mn->kn"}
graph.step @plain(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) {
  %0 = graph.matmul %a, %b {spec = "mk,kn->mn"} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  graph.return
}

// A linear layer: no reshape, and the weight's gradient has the weight's order.
// CHECK-LABEL: graph.step @gradient.matmul
// CHECK-NOT: graph.reshape
// CHECK: graph.matmul %arg2, %arg1 {spec = "bto,oc->btc"} : (tensor<2x3x5xf32>, tensor<5x4xf32>) -> tensor<2x3x4xf32>
// CHECK: graph.matmul %arg2, %arg0 {spec = "bto,btc->oc"} : (tensor<2x3x5xf32>, tensor<2x3x4xf32>) -> tensor<5x4xf32>
// CHECK-NOT: graph.reshape
// CHECK: return
graph.step @linear(%x: tensor<2x3x4xf32>, %w: tensor<5x4xf32>) {
  %0 = graph.matmul %x, %w {spec = "btc,oc->bto"} : (tensor<2x3x4xf32>, tensor<5x4xf32>) -> tensor<2x3x5xf32>
  graph.return
}

// What was broadcast is summed.
// CHECK-LABEL: graph.step @gradient.matmul
// CHECK: graph.matmul %arg2, %arg1 {spec = "bmn,bkn->Bmk"} : (tensor<6x2x4xf32>, tensor<6x3x4xf32>) -> tensor<1x2x3xf32>
// CHECK: graph.matmul %arg2, %arg0 {spec = "bmn,Bmk->bkn"} : (tensor<6x2x4xf32>, tensor<1x2x3xf32>) -> tensor<6x3x4xf32>
graph.step @broadcast(%a: tensor<1x2x3xf32>, %b: tensor<6x3x4xf32>) {
  %0 = graph.matmul %a, %b {spec = "Bmk,bkn->bmn"} : (tensor<1x2x3xf32>, tensor<6x3x4xf32>) -> tensor<6x2x4xf32>
  graph.return
}

// CHECK-LABEL: graph.step @gradient.matmul
// CHECK: graph.matmul %arg2, %arg1 {spec = "bhts,bshd->bthd"}
// CHECK: graph.matmul %arg2, %arg0 {spec = "bhts,bthd->bshd"}
graph.step @heads(%q: tensor<2x7x3x4xf32>, %k: tensor<2x5x3x4xf32>) {
  %0 = graph.matmul %q, %k {spec = "bthd,bshd->bhts"} : (tensor<2x7x3x4xf32>, tensor<2x5x3x4xf32>) -> tensor<2x3x7x5xf32>
  graph.return
}
