// RUN: dl-opt %s --verify-shardings --split-input-file --verify-diagnostics

graph.mesh [#graph.axis<"dp" = 2>] data "dp"
graph.step @partial(%x: tensor<6xf32> input 0) -> (tensor<f32> metric "e") attributes {graph.batch_axes = ["dp"]} {
  %s = graph.sum %x {dims = array<i64: 0>, graph.factors = #graph.sharding<[["dp"]], sum [], max []>} : (tensor<6xf32>) -> tensor<f32>
  // expected-error@+1 {{operand 0 lies on the mesh as #graph.sharding<[], sum ["dp"], max []>, is needed as #graph.sharding<[], sum [], max []>}}
  %e = graph.exp %s : (tensor<f32>) -> tensor<f32>
  graph.return %e : tensor<f32>
}

// -----

graph.mesh [#graph.axis<"dp" = 2>] data "dp"
graph.step @notlinear(%x: tensor<6xf32> input 0) -> (tensor<f32> metric "e") attributes {graph.batch_axes = ["dp"]} {
  %s = graph.sum %x {dims = array<i64: 0>, graph.factors = #graph.sharding<[["dp"]], sum [], max []>} : (tensor<6xf32>) -> tensor<f32>
  // expected-error@+1 {{is not linear in what is partial along 'dp'}}
  %e = graph.exp %s {graph.factors = #graph.sharding<[], sum ["dp"], max []>} : (tensor<f32>) -> tensor<f32>
  graph.return %e : tensor<f32>
}

// -----

graph.mesh [#graph.axis<"dp" = 2>] data "dp"
graph.step @leaves(%x: tensor<6xf32> input 0) -> (tensor<f32> metric "e") attributes {graph.batch_axes = ["dp"]} {
  %s = graph.sum %x {dims = array<i64: 0>, graph.factors = #graph.sharding<[["dp"]], sum [], max []>} : (tensor<6xf32>) -> tensor<f32>
  // expected-error@+1 {{leaves the step as #graph.sharding<[], sum [], max []>}}
  graph.return %s : tensor<f32>
}

// -----

graph.mesh [#graph.axis<"dp" = 2>] data "dp"
graph.step @reshard(%x: tensor<6xf32> input 0) -> (tensor<6xf32> metric "e") attributes {graph.batch_axes = ["dp"]} {
  // expected-error@+1 {{not as the reshard says}}
  %s = graph.reshard %x {from = #graph.sharding<[[]], sum ["dp"], max []>, to = #graph.sharding<[[]], sum [], max []>} : (tensor<6xf32>) -> tensor<6xf32>
  graph.return %s : tensor<6xf32>
}

// -----

graph.mesh [#graph.axis<"dp" = 2>, #graph.axis<"cp" = 2>] data "dp"
graph.step @digits(%x: tensor<24xf32> input 0) -> (tensor<24xf32> metric "e") {
  // expected-error@+1 {{digits of 20 for a factor of 24}}
  %e = graph.exp %x {graph.factors = #graph.sharding<[[[5, "dp"], [4, "cp"]]], sum [], max []>} : (tensor<24xf32>) -> tensor<24xf32>
  graph.return %e : tensor<24xf32>
}

// -----

graph.mesh [#graph.axis<"dp" = 2>, #graph.axis<"cp" = 2>] data "dp"
graph.step @twice(%x: tensor<24xf32> input 0) -> (tensor<24xf32> metric "e") {
  // expected-error@+1 {{the axis 'cp' divides it twice}}
  %e = graph.exp %x {graph.factors = #graph.sharding<[[[6, "cp"], [4, "cp"]]], sum [], max []>} : (tensor<24xf32>) -> tensor<24xf32>
  graph.return %e : tensor<24xf32>
}

// -----

graph.mesh [#graph.axis<"dp" = 2>, #graph.axis<"cp" = 2>] data "dp"
graph.step @moved(%x: tensor<24xf32> input 0) -> (tensor<24xf32> metric "e") {
  // expected-error@+1 {{moves what lies in no blocks}}
  %e = graph.reshard %x {from = #graph.sharding<[[]], sum [], max []>, to = #graph.sharding<[[[6], [4, "cp"]]], sum [], max []>} : (tensor<24xf32>) -> tensor<24xf32>
  graph.return %e : tensor<24xf32>
}
