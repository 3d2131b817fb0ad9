// RUN: dl-opt %s --assign-layouts --form-kernels --insert-copies --lower-to-plan | FileCheck %s

graph.program "net.dl" dtype f32 accumulate 1
graph.state @w {type = tensor<2x3xf32>, role = "parameter"}
graph.state @v {type = tensor<2x3xf32>, role = "parameter"}

// Metrics that are a parameter in another shape: its bytes, row by row.
// CHECK: [[W:%.*]] = plan.buffer "w" arena bytes 24
// CHECK: [[V:%.*]] = plan.buffer "v" arena bytes 24
// CHECK: plan.metric "same" in [[W]] : tensor<2x3xf32> dims
// CHECK: plan.metric "flat" in [[W]] : tensor<6xf32> dims
// CHECK: plan.metric "stacked" in [[W]] : tensor<1x2x3xf32> dims
graph.step @eval.test(%x: tensor<4x3xf32> input 0, %w: tensor<2x3xf32> state @w)
    -> (tensor<4x2xf32> metric "y", tensor<2x3xf32> metric "same", tensor<6xf32> metric "flat",
        tensor<1x2x3xf32> metric "stacked") of "test" batch 4 {
  %y = graph.matmul %x, %w {spec = "mk,nk->mn"} : (tensor<4x3xf32>, tensor<2x3xf32>) -> tensor<4x2xf32>
  %flat = graph.reshape %w {shape = array<i64: 6>} : (tensor<2x3xf32>) -> tensor<6xf32>
  %stacked = graph.reshape %w {shape = array<i64: 1, 2, 3>} : (tensor<2x3xf32>) -> tensor<1x2x3xf32>
  graph.return %y, %w, %flat, %stacked : tensor<4x2xf32>, tensor<2x3xf32>, tensor<6xf32>, tensor<1x2x3xf32>
}

// So is its new value, which a step returns beside the state.
// CHECK: plan.metric "new" in [[V]] : tensor<6xf32> dims [#plan.dim<dim = 0, divisor = 1, extent = 6, stride = 1>]
graph.step @train(%x: tensor<4x3xf32> input 0, %w: tensor<2x3xf32> state @v)
    -> (tensor<4x2xf32> metric "y", tensor<2x3xf32> state @v, tensor<6xf32> metric "new") of "train" training batch 4 {
  %y = graph.matmul %x, %w {spec = "mk,nk->mn"} : (tensor<4x3xf32>, tensor<2x3xf32>) -> tensor<4x2xf32>
  %new = graph.add %w, %w : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %flat = graph.reshape %new {shape = array<i64: 6>} : (tensor<2x3xf32>) -> tensor<6xf32>
  graph.return %y, %new, %flat : tensor<4x2xf32>, tensor<2x3xf32>, tensor<6xf32>
}
