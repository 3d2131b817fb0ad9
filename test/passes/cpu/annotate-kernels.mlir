// How kernels are cut into tiles, which follows from the machine.

// RUN: dl-opt %s --annotate-kernels | FileCheck %s
// RUN: echo "tile_flops = 1048576" > %t.machine
// RUN: dl-opt %s --annotate-kernels=machine=%t.machine | FileCheck %s --check-prefix=LARGE
// RUN: dl-opt %s '--annotate-kernels=max-tiles=2 machine=%t.machine' | FileCheck %s --check-prefix=FEW
// RUN: not dl-opt %s --annotate-kernels=machine=%t.none 2>&1 | FileCheck %s --check-prefix=NONE

// CHECK: graph.kernel
// CHECK-SAME: bytes = 196608 : i64, flops = 4194304 : i64, name = "product"
// CHECK-SAME: scratch = 0 : i64, strategy = "contract", tiles = 12 : i64
// LARGE: tiles = 3 
// FEW: max_tiles = 2
// FEW-SAME: tiles = 2
// NONE: cannot read {{.*}}.none: No such file or directory
graph.step @step(%x: tensor<128x128xf32>, %w: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %0 = "graph.kernel"(%x, %w) <{name = "product"}> ({
  ^bb0(%a: tensor<128x128xf32>, %b: tensor<128x128xf32>):
    %1 = graph.matmul %a, %b {spec = "mk,kn->mn"} : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
    graph.yield %1 : tensor<128x128xf32>
  }) : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
  graph.return %0 : tensor<128x128xf32>
}

// Rows of [4,32] are one dim where no op asks for one of the two alone: the tiles are those of 128 rows.
// CHECK-LABEL: graph.step @joined
// CHECK: graph.kernel
// CHECK-SAME: name = "joined"
// CHECK-SAME: tiles = 12 : i64
graph.step @joined(%x: tensor<4x32x128xf32>, %w: tensor<128x128xf32>, %r: tensor<4x32x128xf32>) -> tensor<4x32x128xf32> {
  %0 = "graph.kernel"(%x, %w, %r) <{name = "joined"}> ({
  ^bb0(%a: tensor<4x32x128xf32>, %b: tensor<128x128xf32>, %c: tensor<4x32x128xf32>):
    %1 = graph.matmul %a, %b {spec = "btc,co->bto"} : (tensor<4x32x128xf32>, tensor<128x128xf32>) -> tensor<4x32x128xf32>
    %2 = graph.add %1, %c : (tensor<4x32x128xf32>, tensor<4x32x128xf32>) -> tensor<4x32x128xf32>
    graph.yield %2 : tensor<4x32x128xf32>
  }) : (tensor<4x32x128xf32>, tensor<128x128xf32>, tensor<4x32x128xf32>) -> tensor<4x32x128xf32>
  graph.return %0 : tensor<4x32x128xf32>
}

// CHECK-LABEL: graph.step @apart
// CHECK: graph.kernel
// CHECK-SAME: name = "apart"
// CHECK-SAME: tiles = 16 : i64
graph.step @apart(%x: tensor<4x32x128xf32>, %w: tensor<128x128xf32>, %r: tensor<4x1x128xf32>) -> tensor<4x32x128xf32> {
  %0 = "graph.kernel"(%x, %w, %r) <{name = "apart"}> ({
  ^bb0(%a: tensor<4x32x128xf32>, %b: tensor<128x128xf32>, %c: tensor<4x1x128xf32>):
    %1 = graph.matmul %a, %b {spec = "btc,co->bto"} : (tensor<4x32x128xf32>, tensor<128x128xf32>) -> tensor<4x32x128xf32>
    %2 = graph.add %1, %c : (tensor<4x32x128xf32>, tensor<4x1x128xf32>) -> tensor<4x32x128xf32>
    graph.yield %2 : tensor<4x32x128xf32>
  }) : (tensor<4x32x128xf32>, tensor<128x128xf32>, tensor<4x1x128xf32>) -> tensor<4x32x128xf32>
  graph.return %0 : tensor<4x32x128xf32>
}
