// RUN: dl-opt %s --lower-to-plan | FileCheck %s

// What a kernel only puts one after the other is copied there: parts of the
// first dim that is not 1, if they are long enough. Not so where they alternate
// in memory, and not what a kernel computes besides.
// CHECK: plan.program
// CHECK-NEXT: plan.copy %batch_0_[0, 8192] to [[ALL:%[a-z0-9_]+]][0, 8192]
// CHECK-NEXT: plan.copy %batch_1_[0, 16384] to [[ALL]][8192, 16384]
// CHECK-NEXT: plan.launch @short
// CHECK-NEXT: plan.launch @columns
// CHECK-NEXT: plan.launch @more
module {
  graph.program "m.dl" dtype f32 accumulate 1
  graph.dataset "tensor" root "" paths ["a.npy", "b.npy", "c.npy"] train items 1 batch 1
      components [tensor<64x32xf32>, tensor<128x32xf32>, tensor<2x32xf32>]
  graph.step @train(%a: tensor<1x64x32xf32> input 0, %b: tensor<1x128x32xf32> input 1, %c: tensor<1x2x32xf32> input 2)
      -> (tensor<1x192x32xf32> metric "all", tensor<1x4x32xf32> metric "short", tensor<1x64x64xf32> metric "columns",
          tensor<1x192x32xf32> metric "more")
      of "train" training batch 1 dataset 0 {
    %0 = graph.kernel %a, %b {name = "join"} : (tensor<1x64x32xf32>, tensor<1x128x32xf32>) -> tensor<1x192x32xf32> {
    ^bb0(%x: tensor<1x64x32xf32>, %y: tensor<1x128x32xf32>):
      %z = graph.cat %x, %y {dim = 1 : i64} : (tensor<1x64x32xf32>, tensor<1x128x32xf32>) -> tensor<1x192x32xf32>
      graph.yield %z : tensor<1x192x32xf32>
    }
    %1 = graph.kernel %c, %c {name = "short"} : (tensor<1x2x32xf32>, tensor<1x2x32xf32>) -> tensor<1x4x32xf32> {
    ^bb0(%x: tensor<1x2x32xf32>, %y: tensor<1x2x32xf32>):
      %z = graph.cat %x, %y {dim = 1 : i64} : (tensor<1x2x32xf32>, tensor<1x2x32xf32>) -> tensor<1x4x32xf32>
      graph.yield %z : tensor<1x4x32xf32>
    }
    %2 = graph.kernel %a, %a {name = "columns"} : (tensor<1x64x32xf32>, tensor<1x64x32xf32>) -> tensor<1x64x64xf32> {
    ^bb0(%x: tensor<1x64x32xf32>, %y: tensor<1x64x32xf32>):
      %z = graph.cat %x, %y {dim = 2 : i64} : (tensor<1x64x32xf32>, tensor<1x64x32xf32>) -> tensor<1x64x64xf32>
      graph.yield %z : tensor<1x64x64xf32>
    }
    %3 = graph.kernel %a, %b {name = "more"} : (tensor<1x64x32xf32>, tensor<1x128x32xf32>) -> tensor<1x192x32xf32> {
    ^bb0(%x: tensor<1x64x32xf32>, %y: tensor<1x128x32xf32>):
      %z = graph.cat %x, %y {dim = 1 : i64} : (tensor<1x64x32xf32>, tensor<1x128x32xf32>) -> tensor<1x192x32xf32>
      %r = graph.exp %z : (tensor<1x192x32xf32>) -> tensor<1x192x32xf32>
      graph.yield %r : tensor<1x192x32xf32>
    }
    graph.return %0, %1, %2, %3 : tensor<1x192x32xf32>, tensor<1x4x32xf32>, tensor<1x64x64xf32>, tensor<1x192x32xf32>
  }
}
