// RUN: dl-opt %s --expand-gradients | FileCheck %s

// What stands for the gradient of an output is that gradient where the inputs' are computed again; nothing flows
// through what the output is made of.
// CHECK-LABEL: @straight_through
// CHECK-NEXT: [[Y:%.*]] = graph.floor %arg0
// CHECK-NEXT: [[L:%.*]] = graph.mul [[Y]], [[Y]]
// CHECK-NEXT: [[ONE:%.*]] = graph.full
// CHECK-NEXT: [[A:%.*]] = graph.mul [[ONE]], [[Y]]
// CHECK-NEXT: [[B:%.*]] = graph.mul [[ONE]], [[Y]]
// CHECK-NEXT: [[DY:%.*]] = graph.add [[A]], [[B]]
// CHECK-NEXT: [[DX:%.*]] = graph.mul [[DY]], %arg0
// CHECK-NEXT: return [[L]], [[DX]]
graph.step @straight_through(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %y = graph.floor %x : (tensor<f32>) -> tensor<f32>
  %dy = graph.output_gradient %y : (tensor<f32>) -> tensor<f32>
  %dx = graph.mul %dy, %x : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %r = graph.custom_gradient %y, %dy, %x, %dx {num_outputs = 1} : (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
  %l = graph.mul %r, %r : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %g = graph.gradients %l, %x : (tensor<f32>, tensor<f32>) -> tensor<f32>
  graph.return %l, %g : tensor<f32>, tensor<f32>
}

// The gradient of an output that the loss does not depend on is zero.
// CHECK-LABEL: @one_of_two
// CHECK: [[ZERO:%.*]] = graph.full {type = tensor<2xf32>, value = 0.000000e+00 : f64}
// CHECK: [[D:%.*]] = graph.sub {{%.*}}, [[ZERO]]
// CHECK: return [[D]]
graph.step @one_of_two(%x: tensor<2xf32>) -> tensor<2xf32> {
  %a = graph.exp %x : (tensor<2xf32>) -> tensor<2xf32>
  %b = graph.neg %x : (tensor<2xf32>) -> tensor<2xf32>
  %da = graph.output_gradient %a : (tensor<2xf32>) -> tensor<2xf32>
  %db = graph.output_gradient %b : (tensor<2xf32>) -> tensor<2xf32>
  %dx = graph.sub %da, %db : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %r:2 = graph.custom_gradient %a, %b, %da, %db, %x, %dx {num_outputs = 2} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  %l = graph.sum %r#0 {dims = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
  %g = graph.gradients %l, %x : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  graph.return %g : tensor<2xf32>
}

// The second derivative goes through the op again, where an output was kept: dy (1 + y), and y has the gradient 1 + y.
// CHECK-LABEL: @kept_output
// CHECK-NOT: graph.custom_gradient
// CHECK-NOT: graph.output_gradient
// CHECK: [[Y:%.*]] = graph.floor %arg0
// CHECK: graph.full
// CHECK: graph.full
// CHECK-NEXT: [[DDY:%.*]] = graph.mul
// CHECK-NEXT: [[S:%.*]] = graph.add [[Y]], %arg1
// CHECK-NEXT: [[H:%.*]] = graph.mul [[DDY]], [[S]]
// CHECK-NEXT: return [[H]]
graph.step @kept_output(%x: tensor<f32>, %one: tensor<f32>) -> tensor<f32> {
  %y = graph.floor %x : (tensor<f32>) -> tensor<f32>
  %dy = graph.output_gradient %y : (tensor<f32>) -> tensor<f32>
  %s = graph.add %y, %one : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %dx = graph.mul %dy, %s : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %r = graph.custom_gradient %y, %dy, %x, %dx {num_outputs = 1} : (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
  %g = graph.gradients %r, %x {within_step = true} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %h = graph.gradients %g, %x {within_step = true} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  graph.return %h : tensor<f32>
}

// Where nothing asks for gradients, their ops go away.
// CHECK-LABEL: @without
// CHECK-NEXT: [[Y:%.*]] = graph.floor %arg0
// CHECK-NEXT: return [[Y]]
graph.step @without(%x: tensor<f32>) -> tensor<f32> {
  %y = graph.floor %x : (tensor<f32>) -> tensor<f32>
  %dy = graph.output_gradient %y : (tensor<f32>) -> tensor<f32>
  %dx = graph.mul %dy, %x : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %r = graph.custom_gradient %y, %dy, %x, %dx {num_outputs = 1} : (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
  graph.return %r : tensor<f32>
}
