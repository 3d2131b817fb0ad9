// RUN: dl-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{names the state @nobody, which the module does not have}}
graph.step @takes_nothing(%w: tensor<4xf32> state @nobody) {
  graph.return
}

// -----

// expected-error@+1 {{names the state @nobody, which the module does not have}}
graph.step @returns_nothing(%w: tensor<4xf32>) -> (tensor<4xf32> state @nobody) {
  graph.return %w : tensor<4xf32>
}

// -----

graph.state @w {type = tensor<4xf32>, role = "parameter"}
// expected-error@+1 {{has the state @w as 'tensor<5xf32>', it is 'tensor<4xf32>'}}
graph.step @takes_other_type(%w: tensor<5xf32> state @w) {
  graph.return
}

// -----

graph.state @w {type = tensor<4xf32>, role = "parameter"}
// expected-error@+1 {{has the state @w as 'tensor<4xf64>', it is 'tensor<4xf32>'}}
graph.step @returns_other_type(%w: tensor<4xf64>) -> (tensor<4xf64> state @w) {
  graph.return %w : tensor<4xf64>
}

// -----

graph.state @w {type = tensor<4xf32>, role = "parameter"}
// expected-error@+1 {{argument 1 is a second state @w}}
graph.step @state_twice(%w: tensor<4xf32> state @w, %v: tensor<4xf32> state @w) {
  graph.return
}

// -----

graph.state @w {type = tensor<4xf32>, role = "parameter"}
// expected-error@+1 {{result 1 is a second state @w}}
graph.step @two_new_values(%w: tensor<4xf32> state @w) -> (tensor<4xf32> state @w, tensor<4xf32> state @w) {
  graph.return %w, %w : tensor<4xf32>, tensor<4xf32>
}

// -----

// expected-error@+1 {{argument 1 is a second scalars}}
graph.step @scalars_twice(%s: tensor<8xi64> scalars, %t: tensor<8xi64> scalars) {
  graph.return
}

// -----

// expected-error@+1 {{argument 0 holds the step's scalars, which are tensor<8xi64>, not 'tensor<7xi64>'}}
graph.step @seven_scalars(%s: tensor<7xi64> scalars) {
  graph.return
}

// -----

// expected-error@+1 {{argument 1 is a second input 0}}
graph.step @input_twice(%x: tensor<4xf32> input 0, %y: tensor<4xf32> input 0) {
  graph.return
}

// -----

// expected-error@+1 {{result 1 is a second metric "loss"}}
graph.step @metric_twice(%x: tensor<f32>) -> (tensor<f32> metric "loss", tensor<f32> metric "loss") {
  graph.return %x, %x : tensor<f32>, tensor<f32>
}

// -----

// expected-error@+1 {{result 0 is an error flag, which is tensor<i32>, not 'tensor<f32>'}}
graph.step @flag_of_another_type(%x: tensor<f32>) -> (tensor<f32> error "wrong") {
  graph.return %x : tensor<f32>
}

// -----

// expected-error@+1 {{argument 0 cannot be metric}}
graph.step @metric_as_argument(%x: tensor<f32> metric "loss") {
  graph.return
}

// -----

// expected-error@+1 {{result 0 cannot be input}}
graph.step @input_as_result(%x: tensor<f32>) -> (tensor<f32> input 0) {
  graph.return %x : tensor<f32>
}

// -----

// expected-error@+1 {{argument 0 is an input; an update has no batch}}
graph.step @update_with_input(%x: tensor<f32> input 0) update of "train" training {
  graph.return
}

// -----

// expected-error@+1 {{is an update, which has no batch to be short}}
graph.step @short_update() update of "train" training short {
  graph.return
}

// -----

// expected-error@+1 {{argument 0 is an input; an initial has no batch}}
graph.step @initial_with_input(%x: tensor<f32> input 0) initial of "train" {
  graph.return
}

// -----

// expected-error@+1 {{result 0 is a metric; nobody asks an initial for one}}
graph.step @initial_with_metric(%s: tensor<8xi64> scalars) -> (tensor<8xi64> metric "loss") initial of "train" {
  graph.return %s : tensor<8xi64>
}

// -----

// expected-error@+1 {{trains, and is an initial}}
graph.step @initial_training() initial of "train" training {
  graph.return
}

// -----

// expected-error@+1 {{is the micro of a step that does not train}}
graph.step @micro_of_evaluation() micro of "test" {
  graph.return
}

// -----

// expected-error@+1 {{graph.step: the type 'f32' is not a tensor of this dialect}}
graph.step @no_tensor(%x: f32) {
  graph.return
}

// -----

// expected-error@+1 {{these are not the types of what graph.return has}}
graph.step @other_results(%x: tensor<f32>) -> tensor<f64> {
  graph.return %x : tensor<f32>
}

// -----

// expected-error@+1 {{has 0 arguments and ports for 1}}
"graph.step"() <{sym_name = "ports", arg_ports = [#graph.port<input 0>], res_ports = []}> ({
  graph.return
}) : () -> ()

// -----

// expected-error@+1 {{attribute 'accumulate' failed to satisfy constraint}}
graph.program "net.dl" dtype f32 accumulate 0
