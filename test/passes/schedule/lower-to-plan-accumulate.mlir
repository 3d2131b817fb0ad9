// RUN: dl-opt %s --lower-to-plan --place-buffers --add-dependencies --verify-races | FileCheck %s

// Micro-batches add into an accumulator, the update reads it: it is a state, so
// that it outlives the program.
// CHECK: [[W:%.*]] = plan.buffer "w" arena bytes 16 offset 0 pinned
// CHECK: [[ACC:%.*]] = plan.buffer "accumulate.w" arena bytes 16 offset 64 pinned
// CHECK: plan.state "accumulate.w" accumulator of "w" in [[ACC]]
// CHECK: plan.step "train" training dataset 0 accumulate 4 {
// CHECK-NEXT: plan.program full batch 2 {
// CHECK-NEXT:   [[GRAD:%.*]] = plan.launch @grad([[W]], %{{.*}}, [[G:%.*]]) from
// CHECK-NEXT:   plan.launch @add([[ACC]], [[G]], [[ACC]]) after([[GRAD]])
// CHECK:      plan.program update batch 0 {
// CHECK-NEXT:   plan.launch @update([[W]], [[ACC]], [[W]])
module {
graph.program "net.dl" dtype f32 accumulate 4
  graph.state @w {type = tensor<4xf32>, role = "parameter"}
  graph.state @"accumulate.w" {type = tensor<4xf32>, role = "accumulator", of = "w"}
  graph.step @train(%x: tensor<4xf32> input 0, %w: tensor<4xf32> state @w,
                   %acc: tensor<4xf32> state @"accumulate.w")
      -> (tensor<4xf32> state @"accumulate.w")
      of "train" training batch 2 {
    %0 = graph.kernel %w, %x {name = "grad"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
      %c = graph.mul %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      graph.yield %c : tensor<4xf32>
    }
    %1 = graph.kernel %acc, %0 {name = "add", inplace = array<i64: 0>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
      %c = graph.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      graph.yield %c : tensor<4xf32>
    }
    graph.return %1 : tensor<4xf32>
  }
  graph.step @train.update(%w: tensor<4xf32> state @w, %acc: tensor<4xf32> state @"accumulate.w")
      -> (tensor<4xf32> state @w)
      update of "train" training {
    %0 = graph.kernel %w, %acc {name = "update", inplace = array<i64: 0>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
      %c = graph.sub %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      graph.yield %c : tensor<4xf32>
    }
    graph.return %0 : tensor<4xf32>
  }
}
