// RUN: dl-opt %s --print-sharding-rules --no-output | FileCheck %s
// RUN: dl-opt %s --print-sharding-rules=shards=2 --no-output | FileCheck %s --check-prefix=LOCAL

// CHECK: graph.relu ([i, j]) -> ([i, j]) i=4 j=3
// LOCAL: factor 0 part 0 of 2:
// LOCAL-NEXT: graph.relu {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
graph.step @f(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %0 = graph.relu %x : (tensor<4x3xf32>) -> tensor<4x3xf32>
  graph.return %0 : tensor<4x3xf32>
}
