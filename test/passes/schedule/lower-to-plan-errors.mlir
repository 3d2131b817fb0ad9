// RUN: dl-opt %s --lower-to-plan --split-input-file --verify-diagnostics

graph.state @a {type = tensor<4xf32>, role = "parameter"}
// expected-error@+1 {{new value of the state 'a' cannot be written over the old one that its kernel reads; insert-copies did not run}}
graph.step @train(%a: tensor<4xf32> state @a) -> (tensor<4xf32> state @a)
    of "train" training {
  %0 = graph.kernel %a {name = "k"} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%x: tensor<4xf32>):
    graph.yield %x : tensor<4xf32>
  }
  graph.return %0 : tensor<4xf32>
}

// -----

graph.state @a {type = tensor<4xf32>, role = "parameter"}
// expected-error@+1 {{new value of the state 'a' destroys the old one, which is needed later; insert-copies did not run}}
graph.step @train(%a: tensor<4xf32> state @a)
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

graph.step @train(%x: tensor<4xf32> input 0) -> (tensor<4xf32> metric "m") of "train" {
  %0 = graph.kernel %x {name = "k"} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    graph.yield %a : tensor<4xf32>
  }
  %1 = graph.reshape %0 {shape = array<i64: 2, 2>} : (tensor<4xf32>) -> tensor<2x2xf32>
  // expected-error@+1 {{'k' is also another kernel's name}}
  %2 = graph.kernel %x, %0 {name = "k"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    graph.yield %a : tensor<4xf32>
  }
  graph.return %2 : tensor<4xf32>
}

// -----

// expected-error@+1 {{has the unknown transform #graph.image_transform<"pad", 4 by 4>}}
graph.dataset "image_folder" root "p" paths [] train items 9 batch 2 components [tensor<3x4x4xui8>, tensor<i64>]
    transforms [#graph.image_transform<"pad", 4 by 4>] classes ["cat"]
