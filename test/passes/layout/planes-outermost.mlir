// RUN: dl-opt --planes-outermost %s | FileCheck %s
// RUN: dl-opt --planes-outermost %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// REMARK: remark: complex: stored with dim 2 outermost: each of its elements is read apart
// REMARK-NOT: remark

// Its parts are read one by one, and it is updated element by element, with its slot; the other one's are read together,
// too, and the last one's dim is long.
// CHECK: graph.state @complex {{.*}}layout = array<i64: 2, 0, 1>
graph.state @complex {type = tensor<8x5x2xf32>, role = "parameter", init = {kind = "zero", a = 0.0 : f64, b = 0.0 : f64, key = 0 : i64}}
// CHECK: graph.state @slot {{.*}}layout = array<i64: 2, 0, 1>
graph.state @slot {type = tensor<8x5x2xf32>, role = "slot", of = "complex", init = {kind = "zero", a = 0.0 : f64, b = 0.0 : f64, key = 0 : i64}}
// CHECK-NOT: layout
graph.state @together {type = tensor<8x5x2xf32>, role = "parameter", init = {kind = "zero", a = 0.0 : f64, b = 0.0 : f64, key = 0 : i64}}
graph.state @long {type = tensor<8x5x9xf32>, role = "parameter", init = {kind = "zero", a = 0.0 : f64, b = 0.0 : f64, key = 0 : i64}}

graph.step @train(%complex: tensor<8x5x2xf32> state @complex, %slot: tensor<8x5x2xf32> state @slot,
                  %together: tensor<8x5x2xf32> state @together, %long: tensor<8x5x9xf32> state @long)
    -> (tensor<8x5x1xf32>, tensor<8x5x1xf32>, tensor<8x5x1xf32>, tensor<8x5xf32>, tensor<8x5x1xf32>,
        tensor<8x5x2xf32> state @complex) {
  %0 = graph.slice %complex {offsets = array<i64: 0, 0, 0>, sizes = array<i64: 8, 5, 1>, strides = array<i64: 1, 1, 1>} : (tensor<8x5x2xf32>) -> tensor<8x5x1xf32>
  %1 = graph.slice %complex {offsets = array<i64: 0, 0, 1>, sizes = array<i64: 8, 5, 1>, strides = array<i64: 1, 1, 1>} : (tensor<8x5x2xf32>) -> tensor<8x5x1xf32>
  %2 = graph.slice %together {offsets = array<i64: 0, 0, 1>, sizes = array<i64: 8, 5, 1>, strides = array<i64: 1, 1, 1>} : (tensor<8x5x2xf32>) -> tensor<8x5x1xf32>
  %3 = graph.sum %together {dims = array<i64: 2>} : (tensor<8x5x2xf32>) -> tensor<8x5xf32>
  %4 = graph.slice %long {offsets = array<i64: 0, 0, 1>, sizes = array<i64: 8, 5, 1>, strides = array<i64: 1, 1, 1>} : (tensor<8x5x9xf32>) -> tensor<8x5x1xf32>
  %5 = graph.sub %complex, %slot : (tensor<8x5x2xf32>, tensor<8x5x2xf32>) -> tensor<8x5x2xf32>
  graph.return %0, %1, %2, %3, %4, %5 : tensor<8x5x1xf32>, tensor<8x5x1xf32>, tensor<8x5x1xf32>, tensor<8x5xf32>, tensor<8x5x1xf32>, tensor<8x5x2xf32>
}
