// RUN: dl-opt %s --lower-to-plan --split-input-file | FileCheck %s

// The update of a stands first, but b's gradient still reads the old value:
// readers of an old value come before the kernel that overwrites it.
// CHECK-LABEL: plan.plan
// CHECK: plan.launch @grad(%a,
// CHECK-NEXT: plan.launch @update(%a, %a)
graph.state @a {type = tensor<4xf32>, role = "parameter"}
graph.step @train(%a: tensor<4xf32> state @a) -> (tensor<4xf32> state @a, tensor<4xf32> metric "grad")
    of "train" training {
  %0 = graph.kernel %a {name = "update", inplace = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%x: tensor<4xf32>):
    graph.yield %x : tensor<4xf32>
  }
  %1 = graph.kernel %a {name = "grad"} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%x: tensor<4xf32>):
    graph.yield %x : tensor<4xf32>
  }
  graph.return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// An update needs no memory of its own and frees the gradient it reads, so it
// runs as soon as it can.
// CHECK-LABEL: plan.plan
// CHECK: plan.launch @grad_a
// CHECK-NEXT: plan.launch @update_a
// CHECK-NEXT: plan.launch @grad_b
// CHECK-NEXT: plan.launch @update_b
graph.state @a {type = tensor<4xf32>, role = "parameter"}
graph.state @b {type = tensor<4xf32>, role = "parameter"}
graph.step @train(%a: tensor<4xf32> state @a, %b: tensor<4xf32> state @b)
    -> (tensor<4xf32> state @a, tensor<4xf32> state @b)
    of "train" training {
  %0 = graph.kernel %a {name = "grad_a"} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%x: tensor<4xf32>):
    graph.yield %x : tensor<4xf32>
  }
  %1 = graph.kernel %b {name = "grad_b"} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%x: tensor<4xf32>):
    graph.yield %x : tensor<4xf32>
  }
  %2 = graph.kernel %a, %0 {name = "update_a", inplace = array<i64: 0>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%x: tensor<4xf32>, %y: tensor<4xf32>):
    graph.yield %x : tensor<4xf32>
  }
  %3 = graph.kernel %b, %1 {name = "update_b", inplace = array<i64: 0>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%x: tensor<4xf32>, %y: tensor<4xf32>):
    graph.yield %x : tensor<4xf32>
  }
  graph.return %2, %3 : tensor<4xf32>, tensor<4xf32>
}

// -----

// @shares takes over what only it reads; @keeps cannot, because @last reads its
// operand as well.
// CHECK-LABEL: plan.plan
// CHECK: plan.launch @first(%batch_0_, [[X:%.*]])
// CHECK: plan.launch @shares([[X]], [[X]])
// CHECK: plan.launch @keeps([[X]], [[Y:%.*]])
// CHECK: plan.launch @last([[X]], [[Y]], %{{.*}})
graph.step @train(%x: tensor<4xf32> input 0) -> (tensor<4xf32> metric "m")
    of "train" training {
  %0 = graph.kernel %x {name = "first", inplace = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    graph.yield %a : tensor<4xf32>
  }
  %1 = graph.kernel %0 {name = "shares", inplace = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    graph.yield %a : tensor<4xf32>
  }
  %2 = graph.kernel %1 {name = "keeps", inplace = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    graph.yield %a : tensor<4xf32>
  }
  %3 = graph.kernel %1, %2 {name = "last"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    graph.yield %a : tensor<4xf32>
  }
  graph.return %3 : tensor<4xf32>
}
