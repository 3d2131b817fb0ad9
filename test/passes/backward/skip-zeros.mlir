// RUN: dl-opt %s --skip-zeros --cse | FileCheck %s

// Of rows in a frame: the product is one of as many rows of the other operand.
// CHECK-LABEL: @framed
// CHECK: %[[T:.*]] = graph.slice %arg1 {offsets = array<i64: 3, 0>, sizes = array<i64: 4, 5>
// CHECK: %[[P:.*]] = graph.matmul %arg0, %[[T]] {{.*}} : (tensor<8x4xf32>, tensor<4x5xf32>) -> tensor<8x5xf32>
// CHECK: graph.sum %[[P]]
graph.step @framed(%x: tensor<8x4xf32>, %t: tensor<20x5xf32>) -> (tensor<f32>, tensor<8x4xf32>) {
  %z = graph.pad %x {low = array<i64: 0, 3>, high = array<i64: 0, 13>, interior = array<i64: 0, 0>, value = 0.0 : f64} : (tensor<8x4xf32>) -> tensor<8x20xf32>
  %y = graph.matmul %z, %t {spec = "bk,kj->bj"} : (tensor<8x20xf32>, tensor<20x5xf32>) -> tensor<8x5xf32>
  %l = graph.sum %y {dims = array<i64: 0, 1>, keepdim = false} : (tensor<8x5xf32>) -> tensor<f32>
  %g = graph.gradients %l, %x : (tensor<f32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  graph.return %l, %g : tensor<f32>, tensor<8x4xf32>
}

// Two parts that were assigned, through factors, a negation, another shape and a product that keeps one dim of them: added up at last.
// CHECK-LABEL: @assigned
// CHECK-DAG: graph.matmul %{{.*}} : (tensor<2x2x3xf32>, tensor<2x6xf32>) -> tensor<2x6x3xf32>
// CHECK: %[[S:.*]] = graph.add %{{.*}} : (tensor<2x6x3xf32>, tensor<2x6x3xf32>) -> tensor<2x6x3xf32>
// CHECK: %[[P:.*]] = graph.matmul %[[S]], %{{.*}} : (tensor<2x6x3xf32>, tensor<3x5xf32>) -> tensor<2x6x5xf32>
// CHECK: graph.sum %[[P]]
graph.step @assigned(%x: tensor<2x2x3xf32>, %f: tensor<9xf32>, %t: tensor<8x6xf32>, %u: tensor<9x5xf32>) -> (tensor<f32>, tensor<2x2x3xf32>) {
  %0 = graph.full {value = 0.0 : f64, type = tensor<2x8x9xf32>} : () -> tensor<2x8x9xf32>
  %m = graph.full {value = 1.0 : f64, type = tensor<2x2x3xi1>} : () -> tensor<2x2x3xi1>
  %m1 = graph.pad %m {low = array<i64: 0, 0, 0>, high = array<i64: 0, 6, 6>, interior = array<i64: 0, 0, 0>, value = 0.0 : f64} : (tensor<2x2x3xi1>) -> tensor<2x8x9xi1>
  %p1 = graph.pad %x {low = array<i64: 0, 0, 0>, high = array<i64: 0, 6, 6>, interior = array<i64: 0, 0, 0>, value = 0.0 : f64} : (tensor<2x2x3xf32>) -> tensor<2x8x9xf32>
  %1 = graph.select %m1, %p1, %0 : (tensor<2x8x9xi1>, tensor<2x8x9xf32>, tensor<2x8x9xf32>) -> tensor<2x8x9xf32>
  %m2 = graph.pad %m {low = array<i64: 0, 6, 0>, high = array<i64: 0, 0, 6>, interior = array<i64: 0, 0, 0>, value = 0.0 : f64} : (tensor<2x2x3xi1>) -> tensor<2x8x9xi1>
  %n = graph.neg %x : (tensor<2x2x3xf32>) -> tensor<2x2x3xf32>
  %p2 = graph.pad %n {low = array<i64: 0, 6, 0>, high = array<i64: 0, 0, 6>, interior = array<i64: 0, 0, 0>, value = 0.0 : f64} : (tensor<2x2x3xf32>) -> tensor<2x8x9xf32>
  %2 = graph.select %m2, %p2, %1 : (tensor<2x8x9xi1>, tensor<2x8x9xf32>, tensor<2x8x9xf32>) -> tensor<2x8x9xf32>
  %3 = graph.mul %2, %f : (tensor<2x8x9xf32>, tensor<9xf32>) -> tensor<2x8x9xf32>
  %4 = graph.neg %3 : (tensor<2x8x9xf32>) -> tensor<2x8x9xf32>
  %5 = graph.reshape %4 {shape = array<i64: 1, 2, 4, 2, 9>} : (tensor<2x8x9xf32>) -> tensor<1x2x4x2x9xf32>
  %6 = graph.reshape %5 {shape = array<i64: 2, 8, 9>} : (tensor<1x2x4x2x9xf32>) -> tensor<2x8x9xf32>
  %7 = graph.matmul %6, %t {spec = "bkd,kj->bjd"} : (tensor<2x8x9xf32>, tensor<8x6xf32>) -> tensor<2x6x9xf32>
  %8 = graph.matmul %7, %u {spec = "bjd,de->bje"} : (tensor<2x6x9xf32>, tensor<9x5xf32>) -> tensor<2x6x5xf32>
  %l = graph.sum %8 {dims = array<i64: 0, 1, 2>, keepdim = false} : (tensor<2x6x5xf32>) -> tensor<f32>
  %g = graph.gradients %l, %x : (tensor<f32>, tensor<2x2x3xf32>) -> tensor<2x2x3xf32>
  graph.return %l, %g : tensor<f32>, tensor<2x2x3xf32>
}

// Not where parts meet, lie in a frame of ones, are most of it, or are repeated along a dim.
// CHECK-LABEL: @kept
// CHECK-DAG: graph.matmul %{{.*}}, %arg1 {{.*}} : (tensor<8x20xf32>, tensor<20x5xf32>)
// CHECK-DAG: graph.matmul %{{.*}}, %arg1 {{.*}} : (tensor<8x20xf32>, tensor<20x5xf32>)
// CHECK-DAG: graph.matmul %{{.*}}, %arg1 {{.*}} : (tensor<8x20xf32>, tensor<20x5xf32>)
// CHECK-DAG: graph.matmul %{{.*}}, %arg1 {{.*}} : (tensor<8x20xf32>, tensor<20x5xf32>)
graph.step @kept(%x: tensor<8x4xf32>, %t: tensor<20x5xf32>, %w: tensor<8x18xf32>) -> (tensor<f32>, tensor<8x5xf32>, tensor<8x5xf32>, tensor<8x5xf32>, tensor<8x4xf32>) {
  %z = graph.pad %x {low = array<i64: 0, 3>, high = array<i64: 0, 13>, interior = array<i64: 0, 0>, value = 1.0 : f64} : (tensor<8x4xf32>) -> tensor<8x20xf32>
  %y = graph.matmul %z, %t {spec = "bk,kj->bj"} : (tensor<8x20xf32>, tensor<20x5xf32>) -> tensor<8x5xf32>
  %v = graph.pad %w {low = array<i64: 0, 1>, high = array<i64: 0, 1>, interior = array<i64: 0, 0>, value = 0.0 : f64} : (tensor<8x18xf32>) -> tensor<8x20xf32>
  %q = graph.matmul %v, %t {spec = "bk,kj->bj"} : (tensor<8x20xf32>, tensor<20x5xf32>) -> tensor<8x5xf32>
  %l = graph.sum %y {dims = array<i64: 0, 1>, keepdim = false} : (tensor<8x5xf32>) -> tensor<f32>
  %g = graph.gradients %l, %x : (tensor<f32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %0 = graph.full {value = 0.0 : f64, type = tensor<8x20xf32>} : () -> tensor<8x20xf32>
  %m = graph.full {value = 1.0 : f64, type = tensor<8x4xi1>} : () -> tensor<8x4xi1>
  %m1 = graph.pad %m {low = array<i64: 0, 3>, high = array<i64: 0, 13>, interior = array<i64: 0, 0>, value = 0.0 : f64} : (tensor<8x4xi1>) -> tensor<8x20xi1>
  %p1 = graph.pad %x {low = array<i64: 0, 3>, high = array<i64: 0, 13>, interior = array<i64: 0, 0>, value = 0.0 : f64} : (tensor<8x4xf32>) -> tensor<8x20xf32>
  %s1 = graph.select %m1, %p1, %0 : (tensor<8x20xi1>, tensor<8x20xf32>, tensor<8x20xf32>) -> tensor<8x20xf32>
  %m2 = graph.pad %m {low = array<i64: 0, 6>, high = array<i64: 0, 10>, interior = array<i64: 0, 0>, value = 0.0 : f64} : (tensor<8x4xi1>) -> tensor<8x20xi1>
  %p2 = graph.pad %x {low = array<i64: 0, 6>, high = array<i64: 0, 10>, interior = array<i64: 0, 0>, value = 0.0 : f64} : (tensor<8x4xf32>) -> tensor<8x20xf32>
  %s2 = graph.select %m2, %p2, %s1 : (tensor<8x20xi1>, tensor<8x20xf32>, tensor<8x20xf32>) -> tensor<8x20xf32>
  %meet = graph.matmul %s2, %t {spec = "bk,kj->bj"} : (tensor<8x20xf32>, tensor<20x5xf32>) -> tensor<8x5xf32>
  %o = graph.full {value = 1.0 : f64, type = tensor<1x4xi1>} : () -> tensor<1x4xi1>
  %mr = graph.pad %o {low = array<i64: 0, 3>, high = array<i64: 0, 13>, interior = array<i64: 0, 0>, value = 0.0 : f64} : (tensor<1x4xi1>) -> tensor<1x20xi1>
  %r = graph.slice %x {offsets = array<i64: 0, 0>, sizes = array<i64: 1, 4>, strides = array<i64: 1, 1>} : (tensor<8x4xf32>) -> tensor<1x4xf32>
  %pr = graph.pad %r {low = array<i64: 0, 3>, high = array<i64: 0, 13>, interior = array<i64: 0, 0>, value = 0.0 : f64} : (tensor<1x4xf32>) -> tensor<1x20xf32>
  %sr = graph.select %mr, %pr, %0 : (tensor<1x20xi1>, tensor<1x20xf32>, tensor<8x20xf32>) -> tensor<8x20xf32>
  %rows = graph.matmul %sr, %t {spec = "bk,kj->bj"} : (tensor<8x20xf32>, tensor<20x5xf32>) -> tensor<8x5xf32>
  graph.return %l, %q, %meet, %rows, %g : tensor<f32>, tensor<8x5xf32>, tensor<8x5xf32>, tensor<8x5xf32>, tensor<8x4xf32>
}
