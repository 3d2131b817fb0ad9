// RUN: dl-opt %s --print-sharding-rules --no-output | FileCheck %s

// Which elements are chosen may be split, and so may what is added. Who has a
// part of what is chosen from gives zeros for the rest, so that the parts add up,
// and who has a part of what is added to leaves the rest out. Of booleans there
// is no sum.
// CHECK: graph.gather ([j, k], [i, 1]) -> ([i, k]) i=5 j=6:sum k=4 through 0: sum, 0: max
// CHECK: graph.gather ([i, k], [i, j]) -> ([i, j]) i=6 j=3 k=4:sum through 0: sum, 0: max
// CHECK: graph.scatter_add ([k, 1], [k, j]) -> ([i, j]) i=6 j=4 k=5:sum through 1: sum
graph.step @f(%x: tensor<6x4xf32>, %i: tensor<5x1xi64>, %j: tensor<6x3xi64>, %y: tensor<5x4xf32>) {
  %0 = graph.gather %x, %i {dim = 0} : (tensor<6x4xf32>, tensor<5x1xi64>) -> tensor<5x4xf32>
  %1 = graph.gather %x, %j {dim = 1} : (tensor<6x4xf32>, tensor<6x3xi64>) -> tensor<6x3xf32>
  %2 = graph.scatter_add %i, %y {dim = 0, size = 6} : (tensor<5x1xi64>, tensor<5x4xf32>) -> tensor<6x4xf32>
  graph.return
}
