// RUN: dl-opt %s | dl-opt | FileCheck %s

// CHECK: graph.program "net.dl" dtype f32 accumulate 4
graph.program "net.dl" dtype f32 accumulate 4
// CHECK-NEXT: graph.dataset "mnist" root "data/mnist" paths [] train items 60000 batch 16 shuffle drop_last components [tensor<3xf32>]
graph.dataset "mnist" root "data/mnist" paths [] train items 60000 batch 16 shuffle drop_last components [tensor<3xf32>]
// CHECK-NEXT: graph.dataset "image_folder" root "p" paths [] train items 9 batch 2 components [tensor<3x8x9xui8>, tensor<i64>] transforms [#graph.image_transform<"resize", 10 by 0>, #graph.image_transform<"random_resized_crop", 8 by 9, [8.000000e-02, 1.000000e+00, 7.500000e-01, 1.3333333333333333]>] classes ["cat", "dog"]
graph.dataset "image_folder" root "p" paths [] train items 9 batch 2 components [tensor<3x8x9xui8>, tensor<i64>]
    transforms [#graph.image_transform<"resize", 10 by 0>, #graph.image_transform<"random_resized_crop", 8 by 9, [0.08, 1.0, 0.75, 1.3333333333333333]>]
    classes ["cat", "dog"]
graph.state @"fc.w" {type = tensor<3xf32>, role = "parameter"}

// CHECK: graph.step @train(%arg0: tensor<16x3xf32> input 0, %arg1: tensor<8xi64> scalars, %arg2: tensor<3xf32> state @fc.w) -> (tensor<f32> metric "a \22loss\22", tensor<i32> error "out of range", tensor<i32> error "out of range", tensor<3xf32> state @fc.w) micro of "train" training batch 16 dataset 0 {
// CHECK: graph.return %{{.*}} : tensor<f32>, tensor<i32>, tensor<i32>, tensor<3xf32>
graph.step @train(%x: tensor<16x3xf32> input 0, %s: tensor<8xi64> scalars, %w: tensor<3xf32> state @"fc.w")
    -> (tensor<f32> metric "a \22loss\22", tensor<i32> error "out of range", tensor<i32> error "out of range",
        tensor<3xf32> state @"fc.w")
    micro of "train" training batch 16 dataset 0 {
  %loss = graph.sum %w {dims = array<i64: 0>} : (tensor<3xf32>) -> tensor<f32>
  %wrong = graph.full {value = 0.0, type = tensor<i32>} : () -> tensor<i32>
  graph.return %loss, %wrong, %wrong, %w : tensor<f32>, tensor<i32>, tensor<i32>, tensor<3xf32>
}
// CHECK: graph.step @train.short() micro of "train" training short batch 3 {
graph.step @train.short() micro of "train" training short batch 3 {
  graph.return
}
// CHECK: graph.step @train.update(%arg0: tensor<3xf32> state @fc.w) update of "train" training {
graph.step @train.update(%w: tensor<3xf32> state @fc.w) -> () update of "train" training {
  graph.return
}
// CHECK: graph.step @initial.values(%arg0: tensor<8xi64> scalars) -> (tensor<3xf32> state @fc.w) initial of "train" {
graph.step @initial.values(%s: tensor<8xi64> scalars) -> (tensor<3xf32> state @"fc.w") initial of "train" {
  %0 = graph.uniform %s {key = 1 : i64, type = tensor<3xf32>} : (tensor<8xi64>) -> tensor<3xf32>
  graph.return %0 : tensor<3xf32>
}
// Values of the IR alone, in tests of ops; what has no name keeps its attributes.
// CHECK: graph.step @op(%arg0: tensor<4xf32>) -> tensor<4xf32> attributes {note = "kept"} {
graph.step @op(%x: tensor<4xf32> plain) -> tensor<4xf32> attributes {note = "kept"} {
  graph.return %x : tensor<4xf32>
}
// CHECK: graph.step @one() -> (tensor<f32> metric "x") of "one" {
graph.step @one() -> (tensor<f32> metric "x") of "one" {
  %0 = graph.full {value = 0.0, type = tensor<f32>} : () -> tensor<f32>
  graph.return %0 : tensor<f32>
}
// CHECK: graph.step @two(%arg0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
graph.step @two(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  graph.return %x, %x : tensor<4xf32>, tensor<4xf32>
}
