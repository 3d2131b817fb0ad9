// RUN: dl-opt %s --lower-to-plan=target=cuda | FileCheck %s

// A plan for CUDA says what a block is, and keeps everything in the device's
// memory: batches and scalars are copied there.
// CHECK: plan.plan {{.*}} for cuda arena 0
// CHECK: plan.buffer "w" arena of device bytes 16 pinned
// CHECK: plan.buffer "batch[0]" input of device bytes 16
// CHECK: plan.buffer {{.*}} arena of device bytes 16
// CHECK: plan.kernel @scale "map" tiles 3 threads 128 shared 512 scratch 64 bindings [16, 16, 16]
module {
  graph.program "linear.dl" dtype f32 accumulate 1
  graph.dataset "tensor" root "" paths ["x.npy"] train items 4 batch 4 components [tensor<f32>]
  graph.state @w {type = tensor<4xf32>, role = "parameter"}
  graph.step @train(%x: tensor<4xf32> input 0, %w: tensor<4xf32> state @w)
      -> (tensor<4xf32> metric "y", tensor<4xf32> state @w) of "train" training batch 4 dataset 0 {
    %0 = graph.kernel %x, %w {name = "scale", strategy = "map", tiles = 3 : i64, scratch = 64 : i64,
                              threads = 128 : i64, shared = 512 : i64}
        : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
      graph.yield %a : tensor<4xf32>
    }
    graph.return %0, %w : tensor<4xf32>, tensor<4xf32>
  }
}
