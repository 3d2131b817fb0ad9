// RUN: dl-opt %s --narrow-to-slices --cse | FileCheck %s

// A classifier looks at the first token: of the others nothing is computed, through sums of features, a residual connection and other shapes.
// CHECK-LABEL: @first_token
// CHECK-DAG: %[[X:.*]] = graph.slice %arg0 {offsets = array<i64: 0, 0, 0>, sizes = array<i64: 8, 1, 4>
// CHECK: graph.sum %[[X]] {dims = array<i64: 2>, keepdim = true} : (tensor<8x1x4xf32>) -> tensor<8x1x1xf32>
// CHECK: graph.sub %[[X]], %{{.*}} -> tensor<8x1x4xf32>
// CHECK: %[[H:.*]] = graph.reshape %{{.*}} {shape = array<i64: 8, 1, 2, 2>}
// CHECK: graph.transpose %[[H]] {{.*}} -> tensor<8x2x1x2xf32>
// CHECK: graph.softmax %{{.*}} -> tensor<8x2x1x2xf32>
// CHECK: graph.matmul %{{.*}} -> tensor<8x1x4xf32>
// CHECK: graph.add %{{.*}}, %[[X]]
// CHECK-NOT: 8x16
graph.step @first_token(%x: tensor<8x16x4xf32>, %w: tensor<4x4xf32>) -> (tensor<f32>, tensor<4x4xf32>) {
  %m = graph.sum %x {dims = array<i64: 2>, keepdim = true} : (tensor<8x16x4xf32>) -> tensor<8x16x1xf32>
  %d = graph.detach %m {stationary = true} : (tensor<8x16x1xf32>) -> tensor<8x16x1xf32>
  %c = graph.sub %x, %d : (tensor<8x16x4xf32>, tensor<8x16x1xf32>) -> tensor<8x16x4xf32>
  %h = graph.reshape %c {shape = array<i64: 8, 16, 2, 2>} : (tensor<8x16x4xf32>) -> tensor<8x16x2x2xf32>
  %t = graph.transpose %h {permutation = array<i64: 0, 2, 1, 3>} : (tensor<8x16x2x2xf32>) -> tensor<8x2x16x2xf32>
  %s = graph.softmax %t {dim = 3 : i64} : (tensor<8x2x16x2xf32>) -> tensor<8x2x16x2xf32>
  %b = graph.transpose %s {permutation = array<i64: 0, 2, 1, 3>} : (tensor<8x2x16x2xf32>) -> tensor<8x16x2x2xf32>
  %r = graph.reshape %b {shape = array<i64: 8, 16, 4>} : (tensor<8x16x2x2xf32>) -> tensor<8x16x4xf32>
  %y = graph.matmul %r, %w {spec = "btc,oc->bto"} : (tensor<8x16x4xf32>, tensor<4x4xf32>) -> tensor<8x16x4xf32>
  %z = graph.add %y, %x : (tensor<8x16x4xf32>, tensor<8x16x4xf32>) -> tensor<8x16x4xf32>
  %f = graph.slice %z {offsets = array<i64: 0, 0, 0>, sizes = array<i64: 8, 1, 4>, strides = array<i64: 1, 1, 1>} : (tensor<8x16x4xf32>) -> tensor<8x1x4xf32>
  %l = graph.sum %f {dims = array<i64: 0, 1, 2>, keepdim = false} : (tensor<8x1x4xf32>) -> tensor<f32>
  %g = graph.gradients %l, %w : (tensor<f32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  graph.return %l, %g : tensor<f32>, tensor<4x4xf32>
}

// Two parts far from each other are made one by one, near ones together; the second one is a part of what both are in.
// CHECK-LABEL: @several_parts
// CHECK-DAG: graph.exp %{{.*}} : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-DAG: graph.exp %{{.*}} : (tensor<3xf32>) -> tensor<3xf32>
// CHECK-DAG: %[[N:.*]] = graph.sin %{{.*}} : (tensor<7xf32>) -> tensor<7xf32>
// CHECK-DAG: graph.slice %[[N]] {offsets = array<i64: 4>, sizes = array<i64: 3>
// CHECK-NOT: graph.{{exp|sin}} %arg0
graph.step @several_parts(%x: tensor<20xf32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<20xf32>) {
  %e = graph.exp %x : (tensor<20xf32>) -> tensor<20xf32>
  %0 = graph.slice %e {offsets = array<i64: 0>, sizes = array<i64: 2>, strides = array<i64: 1>} : (tensor<20xf32>) -> tensor<2xf32>
  %1 = graph.slice %e {offsets = array<i64: 17>, sizes = array<i64: 3>, strides = array<i64: 1>} : (tensor<20xf32>) -> tensor<3xf32>
  %s = graph.sin %x : (tensor<20xf32>) -> tensor<20xf32>
  %2 = graph.slice %s {offsets = array<i64: 2>, sizes = array<i64: 3>, strides = array<i64: 1>} : (tensor<20xf32>) -> tensor<3xf32>
  %3 = graph.slice %s {offsets = array<i64: 6>, sizes = array<i64: 3>, strides = array<i64: 1>} : (tensor<20xf32>) -> tensor<3xf32>
  %a = graph.sum %0 {dims = array<i64: 0>, keepdim = false} : (tensor<2xf32>) -> tensor<f32>
  %b = graph.sum %1 {dims = array<i64: 0>, keepdim = false} : (tensor<3xf32>) -> tensor<f32>
  %c = graph.sum %2 {dims = array<i64: 0>, keepdim = false} : (tensor<3xf32>) -> tensor<f32>
  %d = graph.sum %3 {dims = array<i64: 0>, keepdim = false} : (tensor<3xf32>) -> tensor<f32>
  %g = graph.gradients %a, %x : (tensor<f32>, tensor<20xf32>) -> tensor<20xf32>
  graph.return %a, %b, %c, %d, %g : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<20xf32>
}

// Not through a sum over what is cut, a softmax along it, a draw, nor what something else reads; nor for a quarter less.
// CHECK-LABEL: @kept
// CHECK-DAG: graph.softmax %{{.*}} : (tensor<20xf32>) -> tensor<20xf32>
// CHECK-DAG: graph.cumsum %{{.*}} -> tensor<20xf32>
// CHECK-DAG: graph.exp %arg0 : (tensor<20xf32>) -> tensor<20xf32>
// CHECK-DAG: graph.sin %arg0 : (tensor<20xf32>) -> tensor<20xf32>
// CHECK-DAG: graph.dropout %arg0, %arg1 {{.*}} -> tensor<20xf32>
// CHECK-DAG: graph.abs %arg0 : (tensor<20xf32>) -> tensor<20xf32>
graph.step @kept(%x: tensor<20xf32>, %n: tensor<8xi64> scalars) -> (tensor<f32>, tensor<3xf32>, tensor<3xf32>, tensor<16xf32>, tensor<3xf32>, tensor<3xf32>, tensor<20xf32>, tensor<20xf32>) {
  %e = graph.exp %x : (tensor<20xf32>) -> tensor<20xf32>
  %s = graph.softmax %e {dim = 0 : i64} : (tensor<20xf32>) -> tensor<20xf32>
  %0 = graph.slice %s {offsets = array<i64: 2>, sizes = array<i64: 3>, strides = array<i64: 1>} : (tensor<20xf32>) -> tensor<3xf32>
  %c = graph.cumsum %e {dim = 0 : i64} : (tensor<20xf32>) -> tensor<20xf32>
  %1 = graph.slice %c {offsets = array<i64: 2>, sizes = array<i64: 3>, strides = array<i64: 1>} : (tensor<20xf32>) -> tensor<3xf32>
  %i = graph.sin %x : (tensor<20xf32>) -> tensor<20xf32>
  %2 = graph.slice %i {offsets = array<i64: 2>, sizes = array<i64: 16>, strides = array<i64: 1>} : (tensor<20xf32>) -> tensor<16xf32>
  %d = graph.dropout %x, %n {p = 0.5 : f64, key = 7 : i64, channelwise = false} : (tensor<20xf32>, tensor<8xi64>) -> tensor<20xf32>
  %3 = graph.slice %d {offsets = array<i64: 2>, sizes = array<i64: 3>, strides = array<i64: 1>} : (tensor<20xf32>) -> tensor<3xf32>
  %a = graph.abs %x : (tensor<20xf32>) -> tensor<20xf32>
  %4 = graph.slice %a {offsets = array<i64: 2>, sizes = array<i64: 3>, strides = array<i64: 1>} : (tensor<20xf32>) -> tensor<3xf32>
  %l = graph.sum %0 {dims = array<i64: 0>, keepdim = false} : (tensor<3xf32>) -> tensor<f32>
  %g = graph.gradients %l, %x : (tensor<f32>, tensor<20xf32>) -> tensor<20xf32>
  graph.return %l, %0, %1, %2, %3, %4, %a, %g : tensor<f32>, tensor<3xf32>, tensor<3xf32>, tensor<16xf32>, tensor<3xf32>, tensor<3xf32>, tensor<20xf32>, tensor<20xf32>
}

// A part that can be made alone and one that cannot: the whole is made once.
// CHECK-LABEL: @all_or_none
// CHECK: graph.softmax %arg0 {{.*}} -> tensor<9x40xf32>
// CHECK-NOT: graph.softmax
graph.step @all_or_none(%x: tensor<9x40xf32>) -> (tensor<f32>, tensor<f32>, tensor<9x40xf32>) {
  %s = graph.softmax %x {dim = 1 : i64} : (tensor<9x40xf32>) -> tensor<9x40xf32>
  %0 = graph.slice %s {offsets = array<i64: 0, 0>, sizes = array<i64: 1, 40>, strides = array<i64: 1, 1>} : (tensor<9x40xf32>) -> tensor<1x40xf32>
  %1 = graph.slice %s {offsets = array<i64: 5, 3>, sizes = array<i64: 4, 2>, strides = array<i64: 1, 1>} : (tensor<9x40xf32>) -> tensor<4x2xf32>
  %a = graph.sum %0 {dims = array<i64: 0, 1>, keepdim = false} : (tensor<1x40xf32>) -> tensor<f32>
  %b = graph.sum %1 {dims = array<i64: 0, 1>, keepdim = false} : (tensor<4x2xf32>) -> tensor<f32>
  %g = graph.gradients %a, %x : (tensor<f32>, tensor<9x40xf32>) -> tensor<9x40xf32>
  graph.return %a, %b, %g : tensor<f32>, tensor<f32>, tensor<9x40xf32>
}
