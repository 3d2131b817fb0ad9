// RUN: dl-opt --assign-layouts %s | FileCheck %s
// RUN: dl-opt --assign-layouts %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// REMARK: remark: first: stored with dim 0 innermost: the vectors of every product that reads it, such as matmul, run along it
// REMARK: remark: both: stored row by row: matmul reads it along dim {{[01]}}, matmul along dim {{[01]}}
// REMARK: remark: shaped: stored row by row: it is also seen in another shape

// The forward product of a first layer reads its weight along n only: stored with n innermost.
// CHECK: graph.state @first {{.*}}layout = array<i64: 1, 0>
graph.state @first {type = tensor<8x5xf32>, role = "parameter", init = {kind = "zero", a = 0.0 : f64, b = 0.0 : f64, key = 0 : i64}}
// Its slot is updated element by element with it.
// CHECK: graph.state @slot {{.*}}layout = array<i64: 1, 0>
graph.state @slot {type = tensor<8x5xf32>, role = "slot", of = "first", init = {kind = "zero", a = 0.0 : f64, b = 0.0 : f64, key = 0 : i64}}
// The input gradient of another layer reads the weight along k: the uses contradict each other.
// CHECK: graph.state @both
// CHECK-NOT: layout
// CHECK: graph.state @shaped
graph.state @both {type = tensor<8x5xf32>, role = "parameter", init = {kind = "zero", a = 0.0 : f64, b = 0.0 : f64, key = 0 : i64}}
// Seen in another shape, elements have to lie in row-major order.
// CHECK-NOT: layout
// CHECK: graph.step
graph.state @shaped {type = tensor<8x5xf32>, role = "parameter", init = {kind = "zero", a = 0.0 : f64, b = 0.0 : f64, key = 0 : i64}}

graph.step @train(%x: tensor<3x5xf32> input 0, %dy: tensor<3x8xf32> input 1,
                 %first: tensor<8x5xf32> state @first, %both: tensor<8x5xf32> state @both,
                 %shaped: tensor<8x5xf32> state @shaped)
    -> (tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x5xf32>, tensor<3x8xf32>, tensor<40xf32>) {
  %0 = graph.matmul %x, %first {spec = "mk,nk->mn"} : (tensor<3x5xf32>, tensor<8x5xf32>) -> tensor<3x8xf32>
  %1 = graph.matmul %x, %both {spec = "mk,nk->mn"} : (tensor<3x5xf32>, tensor<8x5xf32>) -> tensor<3x8xf32>
  %2 = graph.matmul %dy, %both {spec = "mk,kn->mn"} : (tensor<3x8xf32>, tensor<8x5xf32>) -> tensor<3x5xf32>
  %3 = graph.matmul %x, %shaped {spec = "mk,nk->mn"} : (tensor<3x5xf32>, tensor<8x5xf32>) -> tensor<3x8xf32>
  %4 = graph.reshape %shaped {shape = array<i64: 40>} : (tensor<8x5xf32>) -> tensor<40xf32>
  graph.return %0, %1, %2, %3, %4 : tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x5xf32>, tensor<3x8xf32>, tensor<40xf32>
}
