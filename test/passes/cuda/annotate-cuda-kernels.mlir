// How kernels are shared among blocks of threads, which follows from shapes alone.

// RUN: printf "processors = 132\nflops_per_second = 67e12\nbytes_per_second = 3e12\n" > %t.machine
// RUN: dl-opt %s --annotate-cuda-kernels=machine=%t.machine | FileCheck %s

// Tiles of both operands wait in shared memory, twice: a step is read while another is multiplied.
// CHECK-LABEL: graph.step @product
// CHECK: bytes = 196608 : i64, flops = 4194304 : i64, name = "product"
// CHECK-SAME: seconds = 3.1{{[0-9]+}}E-6 : f64, shared = {{[1-9][0-9]+}} : i64, strategy = "contract", threads = 256 : i64, tiles = {{[1-9][0-9]*}} : i64
graph.step @product(%x: tensor<128x128xf32>, %w: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %0 = "graph.kernel"(%x, %w) <{name = "product"}> ({
  ^bb0(%a: tensor<128x128xf32>, %b: tensor<128x128xf32>):
    %1 = graph.matmul %a, %b {spec = "mk,kn->mn"} : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
    graph.yield %1 : tensor<128x128xf32>
  }) : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
  graph.return %0 : tensor<128x128xf32>
}

// CHECK-LABEL: graph.step @map
// CHECK: name = "map", scratch = 0 : i64, seconds = {{[0-9.E-]+}} : f64, shared = 0 : i64, strategy = "map", threads = 256 : i64
graph.step @map(%x: tensor<100x64xf32>) -> tensor<100x64xf32> {
  %0 = "graph.kernel"(%x) <{name = "map"}> ({
  ^bb0(%a: tensor<100x64xf32>):
    %1 = graph.add %a, %a : (tensor<100x64xf32>, tensor<100x64xf32>) -> tensor<100x64xf32>
    graph.yield %1 : tensor<100x64xf32>
  }) : (tensor<100x64xf32>) -> tensor<100x64xf32>
  graph.return %0 : tensor<100x64xf32>
}

// The exponentials of a row are too many for shared memory. They wait in the result, and take nothing else.
// CHECK-LABEL: graph.step @long_rows
// CHECK: scratch = 0 : i64, {{.*}} strategy = "map", {{.*}} workspace = 0 : i64
graph.step @long_rows(%x: tensor<3x14000xf32>) -> tensor<3x14000xf32> {
  %0 = "graph.kernel"(%x) <{name = "long_rows"}> ({
  ^bb0(%a: tensor<3x14000xf32>):
    %1 = graph.exp %a : (tensor<3x14000xf32>) -> tensor<3x14000xf32>
    %2 = graph.sum %1 {dims = array<i64: 1>, keepdim = true} : (tensor<3x14000xf32>) -> tensor<3x1xf32>
    %3 = graph.div %1, %2 : (tensor<3x14000xf32>, tensor<3x1xf32>) -> tensor<3x14000xf32>
    graph.yield %3 : tensor<3x14000xf32>
  }) : (tensor<3x14000xf32>) -> tensor<3x14000xf32>
  graph.return %0 : tensor<3x14000xf32>
}

// Several threads share a row, and several rows a block.
// CHECK-LABEL: graph.step @rows
// CHECK: name = "rows", scratch = 0 : i64, seconds = {{[0-9.E-]+}} : f64, shared = {{[1-9][0-9]+}} : i64, strategy = "rows", threads = {{[0-9]+}} : i64, tiles = {{[0-9]+}} : i64
graph.step @rows(%x: tensor<512x1000xf32>) -> tensor<512xf32> {
  %0 = "graph.kernel"(%x) <{name = "rows"}> ({
  ^bb0(%a: tensor<512x1000xf32>):
    %1 = graph.sum %a {dims = array<i64: 1>, keepdim = false} : (tensor<512x1000xf32>) -> tensor<512xf32>
    graph.yield %1 : tensor<512xf32>
  }) : (tensor<512x1000xf32>) -> tensor<512xf32>
  graph.return %0 : tensor<512xf32>
}
