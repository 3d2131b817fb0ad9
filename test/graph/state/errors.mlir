// RUN: dl-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{@w: the role is parameter, slot, buffer, accumulator, cache or prepared, not 'weight'}}
graph.state @w {type = tensor<4xf32>, role = "weight"}

// -----

// expected-error@+1 {{@m: needs 'of', the parameter it belongs to}}
graph.state @m {type = tensor<4xf32>, role = "slot"}

// -----

// expected-error@+1 {{@w: cannot have 'of', the parameter it belongs to}}
graph.state @w {type = tensor<4xf32>, role = "parameter", of = "v"}

// -----

// expected-error@+1 {{@w: the layout [0,0] does not name each dim of [4,5] once}}
graph.state @w {type = tensor<4x5xf32>, role = "parameter", layout = array<i64: 0, 0>}

// -----

// expected-error@+1 {{@w: the kind of init is one of zero, constant, uniform, normal, truncated, padded, orthogonal, dirac, sparse}}
graph.state @w {type = tensor<4xf32>, role = "parameter", init = {kind = "ones"}}

// -----

// expected-error@+1 {{graph.state: the type 'f32' is not a tensor of this dialect}}
graph.state @w {type = f32, role = "parameter"}

// -----

graph.step @arguments(%x: tensor<4xf32>) {
  // expected-error@+1 {{the block's arguments must be the operands}}
  %0 = graph.kernel %x {name = "k"} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<5xf32>):
    graph.yield
  }
  graph.return
}

// -----

graph.step @results(%x: tensor<4xf32>) {
  // expected-error@+1 {{must end by yielding its results}}
  %0 = graph.kernel %x {name = "k"} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    graph.yield
  }
  graph.return
}

// -----

graph.step @inplace_count(%x: tensor<4xf32>) {
  // expected-error@+1 {{inplace needs one number for each result}}
  %0 = graph.kernel %x {name = "k", inplace = array<i64: 0, 0>} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    graph.yield %a : tensor<4xf32>
  }
  graph.return
}

// -----

graph.step @inplace_operand(%x: tensor<4xf32>) {
  // expected-error@+1 {{inplace names operand 1 of 1}}
  %0 = graph.kernel %x {name = "k", inplace = array<i64: 1>} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    graph.yield %a : tensor<4xf32>
  }
  graph.return
}

// -----

graph.step @bf16_operand(%x: tensor<4xf64>) {
  // expected-error@+1 {{bf16_operands names 0, which is no operand of f32}}
  %0 = graph.kernel %x {name = "k", bf16_operands = array<i64: 0>} : (tensor<4xf64>) -> tensor<4xf64> {
  ^bb0(%a: tensor<4xf64>):
    graph.yield %a : tensor<4xf64>
  }
  graph.return
}

// -----

graph.step @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = arith.constant 1 : i64
  // expected-error@+1 {{an element draws one word or two, not 4}}
  %1:4 = graph.philox %0, %0, %0, %0, %0 : i32, i32, i32, i32
  graph.return %x : tensor<2xf32>
}
