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
// The kernel's own workspace is the same bytes, as many as the larger of the two needs. One that no library stands in for has its
// own, too, behind its results.
// RUN: sed 's/product = #/workspace = 2097152 : i64, product = #/' %s | dl-opt --lower-to-plan=target=cuda --place-buffers --add-dependencies --verify-races | FileCheck %s --check-prefix=OWN
// OWN: plan.kernel @product {{.*}} bindings [256, 512, 128, 2097152] writes [false, false, true, true]
// OWN: workspace" arena of device bytes 2097152 offset [[AT:[0-9]+]]
// OWN: workspace" arena of device bytes 2097152 offset [[AT]]
// OWN: plan.multiply @product(%batch_0_, %w, %{{[a-z0-9_]+}}, [[W:%[A-Za-z0-9_]+]]) {{.*}} in [[W]]
// RUN: sed 's/product = #/workspace = 4096 : i64, product = #/' %s | dl-opt --lower-to-plan=target=cuda --place-buffers --add-dependencies --verify-races | FileCheck %s --check-prefix=LESS
// LESS: plan.kernel @product {{.*}} bindings [256, 512, 128, 4096] writes [false, false, true, true]
// LESS: workspace" arena of device bytes 1048576 offset [[AT:[0-9]+]]
// LESS: plan.multiply @product(%batch_0_, %w, %{{[a-z0-9_]+}}, [[W:%[A-Za-z0-9_]+]]) {{.*}} in [[W]]
// RUN: sed 's/product = #plan.product<$/scratch = 256 : i64, workspace = 4096 : i64}/; /m = 4, n = 8/d; /d = <binding/d' %s | dl-opt --lower-to-plan=target=cuda --place-buffers --add-dependencies --verify-races | FileCheck %s --check-prefix=LAUNCH
// LAUNCH: plan.kernel @product {{.*}} scratch 256 bindings [256, 512, 128, 4096] writes [false, false, true, true] aligns [4, 4, 4, 64]
// LAUNCH: workspace" arena of device bytes 4096 offset [[AT:[0-9]+]]
// LAUNCH: workspace" arena of device bytes 4096 offset [[AT]]
// LAUNCH: [[FIRST:%.*]] = plan.launch @product(%batch_0_, %w, %{{[a-z0-9_]+}}, %{{[A-Za-z0-9_]+}})
// LAUNCH: plan.launch {{.*}} after([[FIRST]])
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
