// RUN: dl-opt %s | dl-opt | FileCheck %s

// CHECK: graph.state @fc.weight {aliases = ["head.weight"], init = {a = -1.000000e-01 : f64, b = 1.000000e-01 : f64, key = 3 : i64, kind = "uniform"}, layout = array<i64: 1, 0>, role = "parameter", type = tensor<4x5xf32>}
graph.state @"fc.weight" {type = tensor<4x5xf32>, role = "parameter", aliases = ["head.weight"], layout = array<i64: 1, 0>, init = {kind = "uniform", a = -0.1, b = 0.1, key = 3}}
// CHECK: graph.state @optim.fc.weight.momentum_buffer {of = "fc.weight", role = "slot", type = tensor<4x5xf32>}
graph.state @"optim.fc.weight.momentum_buffer" {type = tensor<4x5xf32>, role = "slot", of = "fc.weight"}

// CHECK: [[R:%.*]] = graph.kernel %arg0, %arg1 {inplace = array<i64: 0>, name = "add"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT: ^bb0([[A:%.*]]: tensor<4xf32>, [[B:%.*]]: tensor<4xf32>):
// CHECK-NEXT: [[SUM:%.*]] = graph.add [[A]], [[B]]
// CHECK-NEXT: graph.yield [[SUM]] : tensor<4xf32>
graph.step @kernel(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.kernel %x, %y {name = "add", inplace = array<i64: 0>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %1 = graph.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    graph.yield %1 : tensor<4xf32>
  }
  graph.return %0 : tensor<4xf32>
}
