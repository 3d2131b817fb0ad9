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

// An update in two halves: the first takes memory, but the second, which can
// follow at once, has the last reader of that and of the gradient. The number
// that both need is too small to wait with.
// CHECK-LABEL: plan.plan
// CHECK: plan.launch @number
// CHECK-NEXT: plan.launch @grad_a
// CHECK-NEXT: plan.launch @half
// CHECK-NEXT: plan.launch @update_a
// CHECK-NEXT: plan.launch @grad_b
graph.state @a {type = tensor<64xf32>, role = "parameter"}
graph.state @b {type = tensor<64xf32>, role = "parameter"}
graph.step @train(%a: tensor<64xf32> state @a, %b: tensor<64xf32> state @b, %x: tensor<64xf32> input 0)
    -> (tensor<64xf32> state @a, tensor<64xf32> state @b)
    of "train" training batch 64 dataset 0 {
  %0 = graph.kernel %x {name = "grad_a"} : (tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%y: tensor<64xf32>):
    graph.yield %y : tensor<64xf32>
  }
  %1 = graph.kernel %x {name = "grad_b"} : (tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%y: tensor<64xf32>):
    graph.yield %y : tensor<64xf32>
  }
  %2 = graph.kernel %x {name = "number"} : (tensor<64xf32>) -> tensor<1xf32> {
  ^bb0(%y: tensor<64xf32>):
    %s = graph.slice %y {offsets = array<i64: 0>, sizes = array<i64: 1>, strides = array<i64: 1>} : (tensor<64xf32>) -> tensor<1xf32>
    graph.yield %s : tensor<1xf32>
  }
  %3 = graph.kernel %0, %2 {name = "half"} : (tensor<64xf32>, tensor<1xf32>) -> tensor<64xf32> {
  ^bb0(%y: tensor<64xf32>, %n: tensor<1xf32>):
    graph.yield %y : tensor<64xf32>
  }
  %4 = graph.kernel %a, %0, %3 {name = "update_a", inplace = array<i64: 0>} : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%y: tensor<64xf32>, %g: tensor<64xf32>, %h: tensor<64xf32>):
    graph.yield %y : tensor<64xf32>
  }
  %5 = graph.kernel %b, %1 {name = "update_b", inplace = array<i64: 0>} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%y: tensor<64xf32>, %g: tensor<64xf32>):
    graph.yield %y : tensor<64xf32>
  }
  graph.return %4, %5 : tensor<64xf32>, tensor<64xf32>
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
