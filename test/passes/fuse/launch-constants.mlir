// Kernels that differ in keys and offsets only are one code: the numbers are
// constants of the launch.

// RUN: dl-opt %s --form-kernels --split-input-file | FileCheck %s
// RUN: dl-opt %s --split-input-file --evaluate --no-output > %t.ops
// RUN: dl-opt %s --form-kernels --split-input-file --evaluate --no-output > %t.kernels
// RUN: diff %t.ops %t.kernels

// CHECK-LABEL: @keys
// CHECK: graph.kernel %arg0, %arg1 {constants = array<i64: 5>, name = "[[NAME:dropout_[0-9a-f]+]]"}
// CHECK: graph.dropout {{.*}} {key = 0 : i64, launch = {key = array<i64: 0>}, p
// CHECK: graph.kernel %{{.*}}, %arg1 {constants = array<i64: -9>, name = "[[NAME]]"}
graph.step @keys(%x: tensor<6x5xf32>, %s: tensor<8xi64>) -> (tensor<6x5xf32>, tensor<5x6xf32>) {
  %0 = graph.dropout %x, %s {p = 0.5, key = 5} : (tensor<6x5xf32>, tensor<8xi64>) -> tensor<6x5xf32>
  %1 = graph.reshape %0 {shape = array<i64: 6, 5>} : (tensor<6x5xf32>) -> tensor<6x5xf32>
  %2 = graph.dropout %1, %s {p = 0.5, key = -9} : (tensor<6x5xf32>, tensor<8xi64>) -> tensor<6x5xf32>
  %3 = graph.reshape %2 {shape = array<i64: 5, 6>} : (tensor<6x5xf32>) -> tensor<5x6xf32>
  graph.return %0, %3 : tensor<6x5xf32>, tensor<5x6xf32>
}

// -----

// A dim that is whole has no offset.
// CHECK-LABEL: @offsets
// CHECK: graph.kernel %arg0 {constants = array<i64: 3>, name = "[[NAME:exp_[0-9a-f]+]]"}
// CHECK: graph.slice {{.*}} {launch = {offsets = array<i64: -1, 0>}, offsets = array<i64: 0, 0>
// CHECK: graph.kernel %arg0 {constants = array<i64: 0>, name = "[[NAME]]"}
graph.step @offsets(%x: tensor<4x9xf32>) -> (tensor<4x3xf32>, tensor<12xf32>) {
  %0 = graph.slice %x {offsets = array<i64: 0, 3>, sizes = array<i64: 4, 3>, strides = array<i64: 1, 2>} : (tensor<4x9xf32>) -> tensor<4x3xf32>
  %1 = graph.exp %0 : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %2 = graph.slice %x {offsets = array<i64: 0, 0>, sizes = array<i64: 4, 3>, strides = array<i64: 1, 2>} : (tensor<4x9xf32>) -> tensor<4x3xf32>
  %3 = graph.exp %2 : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %4 = graph.reshape %3 {shape = array<i64: 12>} : (tensor<4x3xf32>) -> tensor<12xf32>
  graph.return %1, %4 : tensor<4x3xf32>, tensor<12xf32>
}

// -----

// What a kernel reads at several offsets is bound once for each.
// CHECK-LABEL: @halves
// CHECK: graph.kernel %arg0, %arg0 {constants = array<i64: 0, 2>,
// CHECK: ^bb0(%[[A:.*]]: tensor<4x5xf32>, %[[B:.*]]: tensor<4x5xf32>):
// CHECK-DAG: graph.slice %[[A]] {{.*}}offsets = array<i64: {{[01]}}, -1>
// CHECK-DAG: graph.slice %[[B]] {{.*}}offsets = array<i64: {{[01]}}, -1>
graph.step @halves(%x: tensor<4x5xf32>) -> tensor<2x5xf32> {
  %0 = graph.slice %x {offsets = array<i64: 0, 0>, sizes = array<i64: 2, 5>, strides = array<i64: 1, 1>} : (tensor<4x5xf32>) -> tensor<2x5xf32>
  %1 = graph.slice %x {offsets = array<i64: 2, 0>, sizes = array<i64: 2, 5>, strides = array<i64: 1, 1>} : (tensor<4x5xf32>) -> tensor<2x5xf32>
  %2 = graph.mul %0, %1 : (tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<2x5xf32>
  graph.return %2 : tensor<2x5xf32>
}

// -----

// Parts of a draw and of a count know where they begin.
// CHECK-LABEL: @parts
// CHECK: constants = array<i64: 7, 4, 0>, name = "[[NAME:uniform_[0-9a-f]+]]"
// CHECK: graph.uniform {{.*}} launch = {key = array<i64: 0>, offset = array<i64: 1, 2>}
// CHECK: constants = array<i64: 7, 2, 3>, name = "[[NAME]]"
// CHECK: constants = array<i64: 12>
// CHECK: graph.iota {{.*}} launch = {start = array<i64: 0>}, start = array<i64: 0>
graph.step @parts(%s: tensor<8xi64>) -> (tensor<2x3xf32>, tensor<6xf32>, tensor<5xi64>) {
  %0 = graph.uniform %s {key = 7, type = tensor<2x3xf32>, offset = array<i64: 4, 0>, extents = array<i64: 6, 6>} : (tensor<8xi64>) -> tensor<2x3xf32>
  %1 = graph.uniform %s {key = 7, type = tensor<2x3xf32>, offset = array<i64: 2, 3>, extents = array<i64: 6, 6>} : (tensor<8xi64>) -> tensor<2x3xf32>
  %2 = graph.reshape %1 {shape = array<i64: 6>} : (tensor<2x3xf32>) -> tensor<6xf32>
  %3 = graph.iota {dim = 0, type = tensor<5xi64>, start = array<i64: 12>} : () -> tensor<5xi64>
  graph.return %0, %2, %3 : tensor<2x3xf32>, tensor<6xf32>, tensor<5xi64>
}

// -----

// Behind padding, an offset would need guards that its value does not: it is code.
// CHECK-LABEL: @padded
// CHECK-NOT: constants
// CHECK: offsets = array<i64: 2>
// CHECK: return
graph.step @padded(%x: tensor<8xf32>) -> tensor<4xf32> {
  %0 = graph.pad %x {low = array<i64: 2>, high = array<i64: 2>, interior = array<i64: 0>, value = 0.0} : (tensor<8xf32>) -> tensor<12xf32>
  %1 = graph.slice %0 {offsets = array<i64: 2>, sizes = array<i64: 4>, strides = array<i64: 1>} : (tensor<12xf32>) -> tensor<4xf32>
  graph.return %1 : tensor<4xf32>
}

// -----

// Nine kernels that differ in a number alone take it, as the bits of its f64: 0.1, 0.2. What all of them have is code.
// CHECK-LABEL: @nine_numbers
// CHECK: graph.kernel %arg0 {constants = array<i64: 4591870180066957722>, name = "[[NAME:matmul_add_mul_[0-9a-f]+]]"}
// CHECK: graph.full {launch = {value = array<i64: 0>}, type = tensor<4x4xf32>, value = 0.000000e+00 : f64}
// CHECK: graph.full {type = tensor<f32>, value = 1.000000e+00 : f64}
// CHECK: graph.kernel %arg0 {constants = array<i64: 4596373779694328218>, name = "[[NAME]]"}
// CHECK-COUNT-7: name = "[[NAME]]"
graph.step @nine_numbers(%x: tensor<4x4xf32> input 0) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %one = graph.full {type = tensor<f32>, value = 1.0 : f64} : () -> tensor<f32>
  %c0 = graph.full {type = tensor<4x4xf32>, value = 1.000000e-01 : f64} : () -> tensor<4x4xf32>
  %p0 = graph.matmul %x, %x {spec = "ak,kn->an"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %a0 = graph.add %p0, %c0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r0 = graph.mul %a0, %one : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %c1 = graph.full {type = tensor<4x4xf32>, value = 2.000000e-01 : f64} : () -> tensor<4x4xf32>
  %p1 = graph.matmul %x, %x {spec = "ak,kn->an"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %a1 = graph.add %p1, %c1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r1 = graph.mul %a1, %one : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %c2 = graph.full {type = tensor<4x4xf32>, value = 3.000000e-01 : f64} : () -> tensor<4x4xf32>
  %p2 = graph.matmul %x, %x {spec = "ak,kn->an"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %a2 = graph.add %p2, %c2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r2 = graph.mul %a2, %one : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %c3 = graph.full {type = tensor<4x4xf32>, value = 4.000000e-01 : f64} : () -> tensor<4x4xf32>
  %p3 = graph.matmul %x, %x {spec = "ak,kn->an"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %a3 = graph.add %p3, %c3 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r3 = graph.mul %a3, %one : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %c4 = graph.full {type = tensor<4x4xf32>, value = 5.000000e-01 : f64} : () -> tensor<4x4xf32>
  %p4 = graph.matmul %x, %x {spec = "ak,kn->an"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %a4 = graph.add %p4, %c4 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r4 = graph.mul %a4, %one : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %c5 = graph.full {type = tensor<4x4xf32>, value = 6.000000e-01 : f64} : () -> tensor<4x4xf32>
  %p5 = graph.matmul %x, %x {spec = "ak,kn->an"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %a5 = graph.add %p5, %c5 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r5 = graph.mul %a5, %one : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %c6 = graph.full {type = tensor<4x4xf32>, value = 7.000000e-01 : f64} : () -> tensor<4x4xf32>
  %p6 = graph.matmul %x, %x {spec = "ak,kn->an"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %a6 = graph.add %p6, %c6 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r6 = graph.mul %a6, %one : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %c7 = graph.full {type = tensor<4x4xf32>, value = 8.000000e-01 : f64} : () -> tensor<4x4xf32>
  %p7 = graph.matmul %x, %x {spec = "ak,kn->an"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %a7 = graph.add %p7, %c7 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r7 = graph.mul %a7, %one : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %c8 = graph.full {type = tensor<4x4xf32>, value = 9.000000e-01 : f64} : () -> tensor<4x4xf32>
  %p8 = graph.matmul %x, %x {spec = "ak,kn->an"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %a8 = graph.add %p8, %c8 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r8 = graph.mul %a8, %one : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  graph.return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// Of eight, each is compiled with its own.
// CHECK-LABEL: @eight_numbers
// CHECK-NOT: constants
// CHECK: graph.full {type = tensor<4x4xf32>, value = 2.000000e-01 : f64}
// CHECK-NOT: constants
graph.step @eight_numbers(%x: tensor<4x4xf32> input 0) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %one = graph.full {type = tensor<f32>, value = 1.0 : f64} : () -> tensor<f32>
  %c0 = graph.full {type = tensor<4x4xf32>, value = 1.000000e-01 : f64} : () -> tensor<4x4xf32>
  %p0 = graph.matmul %x, %x {spec = "ak,kn->an"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %a0 = graph.add %p0, %c0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r0 = graph.mul %a0, %one : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %c1 = graph.full {type = tensor<4x4xf32>, value = 2.000000e-01 : f64} : () -> tensor<4x4xf32>
  %p1 = graph.matmul %x, %x {spec = "ak,kn->an"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %a1 = graph.add %p1, %c1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r1 = graph.mul %a1, %one : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %c2 = graph.full {type = tensor<4x4xf32>, value = 3.000000e-01 : f64} : () -> tensor<4x4xf32>
  %p2 = graph.matmul %x, %x {spec = "ak,kn->an"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %a2 = graph.add %p2, %c2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r2 = graph.mul %a2, %one : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %c3 = graph.full {type = tensor<4x4xf32>, value = 4.000000e-01 : f64} : () -> tensor<4x4xf32>
  %p3 = graph.matmul %x, %x {spec = "ak,kn->an"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %a3 = graph.add %p3, %c3 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r3 = graph.mul %a3, %one : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %c4 = graph.full {type = tensor<4x4xf32>, value = 5.000000e-01 : f64} : () -> tensor<4x4xf32>
  %p4 = graph.matmul %x, %x {spec = "ak,kn->an"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %a4 = graph.add %p4, %c4 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r4 = graph.mul %a4, %one : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %c5 = graph.full {type = tensor<4x4xf32>, value = 6.000000e-01 : f64} : () -> tensor<4x4xf32>
  %p5 = graph.matmul %x, %x {spec = "ak,kn->an"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %a5 = graph.add %p5, %c5 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r5 = graph.mul %a5, %one : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %c6 = graph.full {type = tensor<4x4xf32>, value = 7.000000e-01 : f64} : () -> tensor<4x4xf32>
  %p6 = graph.matmul %x, %x {spec = "ak,kn->an"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %a6 = graph.add %p6, %c6 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r6 = graph.mul %a6, %one : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %c7 = graph.full {type = tensor<4x4xf32>, value = 8.000000e-01 : f64} : () -> tensor<4x4xf32>
  %p7 = graph.matmul %x, %x {spec = "ak,kn->an"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %a7 = graph.add %p7, %c7 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r7 = graph.mul %a7, %one : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  graph.return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}
