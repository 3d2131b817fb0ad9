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

// Pixels of what is stored along images are no neighbours, and may lie outside: vectors run along the images, though the
// result's do not.
// CHECK: graph.kernel
// CHECK-SAME: name = "along_images"
// CHECK-SAME: strategy = "contract"
graph.step @along_images(%x: tensor<42x1x12x2xf32>, %w: tensor<1x2x2x1xf32>) -> tensor<7x2x13x2xf32> {
  %0 = "graph.kernel"(%x, %w) <{name = "along_images", operand_layouts = [array<i64: 1, 2, 3, 0>, unit]}> ({
  ^bb0(%a: tensor<42x1x12x2xf32>, %b: tensor<1x2x2x1xf32>):
    %1 = graph.slice %a {offsets = array<i64: 14, 0, 0, 0>, sizes = array<i64: 7, 1, 12, 2>, strides = array<i64: 1, 1, 1, 1>} : (tensor<42x1x12x2xf32>) -> tensor<7x1x12x2xf32>
    %2 = graph.conv2d_input_grad %1, %b {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, input_shape = array<i64: 7, 2, 13, 2>} : (tensor<7x1x12x2xf32>, tensor<1x2x2x1xf32>) -> tensor<7x2x13x2xf32>
    graph.yield %2 : tensor<7x2x13x2xf32>
  }) : (tensor<42x1x12x2xf32>, tensor<1x2x2x1xf32>) -> tensor<7x2x13x2xf32>
  graph.return %0 : tensor<7x2x13x2xf32>
}
