// RUN: dl-opt %s --split-step --split-input-file --verify-diagnostics

module {
graph.program "net.dl" dtype f32 accumulate 4
graph.state @w {type = tensor<3xf32>, role = "parameter"}
graph.step @train(%x: tensor<3xf32> input 0, %s: tensor<8xi64> scalars, %w: tensor<3xf32> state @w)
    -> (tensor<3xf32> state @w) of "train" training batch 16 {
  %0 = graph.mul %w, %x : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %1 = graph.sum %0 {dims = array<i64: 0>} : (tensor<3xf32>) -> tensor<f32>
  %g = graph.gradients %1, %w : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  // expected-error@+1 {{accumulate: the update uses a value that belongs to one micro-batch: it is made from input 0}}
  %h = graph.mul %g, %1 : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %w1 = graph.sgd %w, %h {lr = 0.1} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  graph.return %w1 : tensor<3xf32>
}
}

// -----

module {
graph.program "net.dl" dtype f32 accumulate 4
graph.state @w {type = tensor<f32>, role = "parameter"}
// expected-error@+1 {{accumulate: needs the step's scalars}}
graph.step @train(%w: tensor<f32> state @w) -> (tensor<f32> state @w)
    of "train" training batch 16 {
  %g = graph.gradients %w, %w : (tensor<f32>, tensor<f32>) -> tensor<f32>
  graph.return %g : tensor<f32>
}
}

// -----

module {
graph.program "net.dl" dtype f32 accumulate 4
graph.state @w {type = tensor<f32>, role = "parameter"}
graph.step @train(%s: tensor<8xi64> scalars, %w: tensor<f32> state @w) -> (tensor<f32> state @w)
    of "train" training batch 16 {
  %g = graph.gradients %w, %w : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %w1 = graph.sgd %w, %g {lr = 0.1} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // expected-error@+1 {{accumulate: this backward() depends on gradients or updated weights of the same step; call every backward() before gradients are used and before the first optimizer.step(), or leave --accumulate out}}
  %g2 = graph.gradients %w1, %w1 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %w2 = graph.sgd %w1, %g2 {lr = 0.1} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  graph.return %w2 : tensor<f32>
}
}

// -----

// Drawn for the loss of each micro-batch, and again in the update: these would be other numbers.
module {
graph.program "net.dl" dtype f32 accumulate 4
graph.state @w {type = tensor<3xf32>, role = "parameter"}
graph.step @train(%s: tensor<8xi64> scalars, %w: tensor<3xf32> state @w)
    -> (tensor<3xf32> state @w) of "train" training batch 16 {
  %u = graph.uniform %s {key = 7, type = tensor<3xf32>} : (tensor<8xi64>) -> tensor<3xf32>
  %0 = graph.mul %w, %u : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %1 = graph.sum %0 {dims = array<i64: 0>} : (tensor<3xf32>) -> tensor<f32>
  %g = graph.gradients %1, %w : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  %n = graph.neg %u : (tensor<3xf32>) -> tensor<3xf32>
  // expected-error@+1 {{accumulate: the update uses a value that belongs to one micro-batch: it is made from random numbers that each micro-batch draws}}
  %h = graph.mul %g, %n : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %w1 = graph.sgd %w, %h {lr = 0.1} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  graph.return %w1 : tensor<3xf32>
}
}

// -----

// The update alone may draw.
module {
graph.program "net.dl" dtype f32 accumulate 4
graph.state @w {type = tensor<3xf32>, role = "parameter"}
graph.step @train(%s: tensor<8xi64> scalars, %w: tensor<3xf32> state @w)
    -> (tensor<3xf32> state @w) of "train" training batch 16 {
  %u = graph.uniform %s {key = 7, type = tensor<3xf32>} : (tensor<8xi64>) -> tensor<3xf32>
  %1 = graph.sum %w {dims = array<i64: 0>} : (tensor<3xf32>) -> tensor<f32>
  %g = graph.gradients %1, %w : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  %h = graph.mul %g, %u : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %w1 = graph.sgd %w, %h {lr = 0.1} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  graph.return %w1 : tensor<3xf32>
}
}

// -----

module {
graph.program "net.dl" dtype f32 accumulate 4
graph.state @w {type = tensor<3xf32>, role = "parameter"}
graph.state @b {type = tensor<3xf32>, role = "parameter"}
graph.step @train(%x: tensor<3xf32> input 0, %s: tensor<8xi64> scalars, %w: tensor<3xf32> state @w, %b: tensor<3xf32> state @b)
    -> (tensor<3xf32> state @w, tensor<3xf32> state @b) of "train" training batch 16 {
  %0 = graph.mul %w, %x : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %1 = graph.sum %0 {dims = array<i64: 0>} : (tensor<3xf32>) -> tensor<f32>
  %g = graph.gradients %1, %w : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  %w1 = graph.sgd %w, %g {lr = 0.1} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %h = graph.gradients %1, %x {within_step = true} : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  // expected-error@+1 {{accumulate: this changes the parameter 'b' in each micro-batch, by gradients of autograd::grad; w.grad() is their mean, or leave --accumulate out}}
  %b1 = graph.sub %b, %h : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  graph.return %w1, %b1 : tensor<3xf32>, tensor<3xf32>
}
}
