// RUN: dl-opt %s --insert-copies --split-input-file 2>/dev/null | FileCheck %s
// RUN: dl-opt %s --insert-copies --lower-to-plan --place-buffers --add-dependencies --verify-races --split-input-file 2>&1 | FileCheck %s --check-prefix=REMARK

// A kernel that reads its state other than element by element cannot write it.
// REMARK: remark: copied: the new value of 'a' cannot be written while its kernel reads the old one
// CHECK-LABEL: @matmul_update
// CHECK: [[NEW:%.*]] = graph.kernel %arg0 {name = "k"}
// CHECK: [[COPY:%.*]] = graph.kernel [[NEW]] {name = "copy_4xf32"}
// CHECK: graph.copy
// CHECK: return [[COPY]]
graph.state @a {type = tensor<4xf32>, role = "parameter"}
graph.step @matmul_update(%a: tensor<4xf32> state @a) -> (tensor<4xf32> state @a)
    of "train" training {
  %0 = graph.kernel %a {name = "k"} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%x: tensor<4xf32>):
    graph.yield %x : tensor<4xf32>
  }
  graph.return %0 : tensor<4xf32>
}

// -----

// Old and new value are read by one kernel: the new one waits in a temporary.
// REMARK: remark: copied: the old value of 'a' is read together with the new one
// CHECK-LABEL: @old_and_new
// CHECK: [[NEW:%.*]] = graph.kernel %arg0 {inplace = array<i64: 0>, name = "update"}
// CHECK: [[DIFFERENCE:%.*]] = graph.kernel %arg0, [[NEW]]
// CHECK: [[COPY:%.*]] = graph.kernel [[NEW]] {name = "copy_4xf32"}
// CHECK: return [[COPY]], [[DIFFERENCE]]
graph.state @a {type = tensor<4xf32>, role = "parameter"}
graph.step @old_and_new(%a: tensor<4xf32> state @a)
    -> (tensor<4xf32> state @a, tensor<4xf32> metric "step")
    of "train" training {
  %0 = graph.kernel %a {name = "update", inplace = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%x: tensor<4xf32>):
    graph.yield %x : tensor<4xf32>
  }
  %1 = graph.kernel %a, %0 {name = "difference"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%x: tensor<4xf32>, %y: tensor<4xf32>):
    graph.yield %x : tensor<4xf32>
  }
  graph.return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// The same of two states: each is a knot of its own.
// REMARK: remark: copied: the old value of 'a' is read together with the new one
// REMARK: remark: copied: the old value of 'b' is read together with the new one
// CHECK-LABEL: @two_knots
// CHECK: [[NEWA:%.*]] = graph.kernel %arg0 {inplace = array<i64: 0>, name = "update"}
// CHECK: [[NEWB:%.*]] = graph.kernel %arg1 {inplace = array<i64: 0>, name = "update"}
// CHECK: graph.kernel %arg0, [[NEWA]]
// CHECK: graph.kernel %arg1, [[NEWB]]
// CHECK: [[COPYA:%.*]] = graph.kernel [[NEWA]] {name = "copy_4xf32"}
// CHECK: [[COPYB:%.*]] = graph.kernel [[NEWB]] {name = "copy_4xf32"}
// CHECK: return [[COPYA]], [[COPYB]]
graph.state @a {type = tensor<4xf32>, role = "parameter"}
graph.state @b {type = tensor<4xf32>, role = "parameter"}
graph.step @two_knots(%a: tensor<4xf32> state @a, %b: tensor<4xf32> state @b)
    -> (tensor<4xf32> state @a, tensor<4xf32> state @b, tensor<4xf32> metric "da", tensor<4xf32> metric "db")
    of "train" training {
  %0 = graph.kernel %a {name = "update", inplace = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%x: tensor<4xf32>):
    graph.yield %x : tensor<4xf32>
  }
  %1 = graph.kernel %b {name = "update", inplace = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%x: tensor<4xf32>):
    graph.yield %x : tensor<4xf32>
  }
  %2 = graph.kernel %a, %0 {name = "difference"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%x: tensor<4xf32>, %y: tensor<4xf32>):
    graph.yield %x : tensor<4xf32>
  }
  %3 = graph.kernel %b, %1 {name = "difference"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%x: tensor<4xf32>, %y: tensor<4xf32>):
    graph.yield %x : tensor<4xf32>
  }
  graph.return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Two states change places: three copies, the last through a temporary.
// REMARK: remark: copied: the new value of 'a' is an argument of the step
// REMARK: remark: copied: the new value of 'b' is an argument of the step
// REMARK: remark: copied: the old value of 'a' is read together with the new one
// CHECK-LABEL: @swap
// CHECK-SAME: [[A:%.*]]: tensor<2x3xf32> state @a, [[B:%.*]]: tensor<2x3xf32>
// CHECK: [[NEWA:%.*]] = graph.kernel [[B]] {name = "copy_2x3xf32_to_1_0"
// CHECK: [[NEWB:%.*]] = graph.kernel [[A]] {name = "copy_2x3xf32_from_1_0"
// CHECK: [[COPY:%.*]] = graph.kernel [[NEWA]]
// CHECK: return [[COPY]], [[NEWB]]
graph.state @a {type = tensor<2x3xf32>, role = "buffer", layout = array<i64: 1, 0>}
graph.state @b {type = tensor<2x3xf32>, role = "buffer"}
graph.step @swap(%a: tensor<2x3xf32> state @a, %b: tensor<2x3xf32> state @b)
    -> (tensor<2x3xf32> state @a, tensor<2x3xf32> state @b)
    of "train" training {
  graph.return %b, %a : tensor<2x3xf32>, tensor<2x3xf32>
}

// -----

// A metric may be a state that stays as it is, but not one that changes.
// REMARK: remark: copied: the step returns an argument as it was
// CHECK-LABEL: @metrics
// CHECK: [[NEW:%.*]] = graph.kernel %arg0
// CHECK: [[COPY:%.*]] = graph.kernel %arg0 {name = "copy_4xf32"}
// CHECK: return [[NEW]], [[COPY]], %arg1
graph.state @a {type = tensor<4xf32>, role = "parameter"}
graph.state @b {type = tensor<4xf32>, role = "parameter"}
graph.step @metrics(%a: tensor<4xf32> state @a, %b: tensor<4xf32> state @b)
    -> (tensor<4xf32> state @a, tensor<4xf32> metric "a", tensor<4xf32> metric "b")
    of "train" training {
  %0 = graph.kernel %a {name = "update", inplace = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%x: tensor<4xf32>):
    graph.yield %x : tensor<4xf32>
  }
  graph.return %0, %a, %b : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
