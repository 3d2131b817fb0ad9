// RUN: dl-opt %s --lower-to-plan=target=cuda | FileCheck %s
// RUN: dl-opt %s --lower-to-plan=target=cuda --place-buffers --add-dependencies --verify-races | FileCheck %s --check-prefix=PLACED

// A product that a library is to compute is a command of its own kind, with a workspace that lives as long as it does. The kernel
// is there for where the library is not.
// CHECK: plan.kernel @product "contract"
// CHECK: plan.buffer "{{.*}} workspace" arena of device bytes 1048576
// CHECK: plan.multiply @product(%batch_0_, %w, %{{.*}}) as <m = 4, n = 8, k = 16, a = <binding = 0, stride = 16>, b = <binding = 1, stride = 16, transposed = true>, d = <binding = 2, stride = 8>, arithmetic = tf32, workspace = 1048576> in %{{.*}}
// CHECK: plan.multiply @product

// One after the other, they share its bytes.
// PLACED: workspace" arena of device bytes 1048576 offset [[AT:[0-9]+]]
// PLACED: workspace" arena of device bytes 1048576 offset [[AT]]
// PLACED: [[FIRST:%.*]] = plan.multiply
// PLACED: plan.multiply {{.*}} after([[FIRST]])
module {
  graph.program "linear.dl" dtype f32 accumulate 1
  graph.dataset "tensor" root "" paths ["x.npy"] train items 4 batch 4 components [tensor<16xf32>]
  graph.state @w {type = tensor<8x16xf32>, role = "parameter"}
  graph.step @train(%x: tensor<4x16xf32> input 0, %w: tensor<8x16xf32> state @w)
      -> (tensor<4x8xf32> metric "y", tensor<4x8xf32> metric "z", tensor<8x16xf32> state @w) of "train" training batch 4 dataset 0 {
    %0 = graph.kernel %x, %w {name = "product", strategy = "contract", tiles = 1 : i64, threads = 256 : i64, product = #plan.product<
        m = 4, n = 8, k = 16, a = <binding = 0, stride = 16>, b = <binding = 1, stride = 16, transposed = true>,
        d = <binding = 2, stride = 8>, arithmetic = tf32, workspace = 1048576>}
        : (tensor<4x16xf32>, tensor<8x16xf32>) -> tensor<4x8xf32> {
    ^bb0(%a: tensor<4x16xf32>, %b: tensor<8x16xf32>):
      %2 = graph.matmul %a, %b {spec = "mk,nk->mn"} : (tensor<4x16xf32>, tensor<8x16xf32>) -> tensor<4x8xf32>
      graph.yield %2 : tensor<4x8xf32>
    }
    %1 = graph.kernel %x, %w {name = "product", strategy = "contract", tiles = 1 : i64, threads = 256 : i64, product = #plan.product<
        m = 4, n = 8, k = 16, a = <binding = 0, stride = 16>, b = <binding = 1, stride = 16, transposed = true>,
        d = <binding = 2, stride = 8>, arithmetic = tf32, workspace = 1048576>}
        : (tensor<4x16xf32>, tensor<8x16xf32>) -> tensor<4x8xf32> {
    ^bb0(%a: tensor<4x16xf32>, %b: tensor<8x16xf32>):
      %2 = graph.matmul %a, %b {spec = "mk,nk->mn"} : (tensor<4x16xf32>, tensor<8x16xf32>) -> tensor<4x8xf32>
      graph.yield %2 : tensor<4x8xf32>
    }
    graph.return %0, %1, %w : tensor<4x8xf32>, tensor<4x8xf32>, tensor<8x16xf32>
  }
}
