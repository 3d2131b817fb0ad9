// RUN: dl-opt %s --print-sharding-rules --no-output | FileCheck %s

// Parameters, gradients and slots are split alike.
// CHECK: graph.sgd ([i, j], [i, j], [i, j]) -> ([i, j], [i, j]) i=4 j=6
// CHECK-NEXT: graph.detach ([i, j]) -> ([i, j]) i=4 j=6 through 0: sum, 0: max
graph.step @f(%p: tensor<4x6xf64>, %g: tensor<4x6xf64>, %m: tensor<4x6xf64>) {
  %0, %1 = graph.sgd %p, %g, %m {lr = 0.5, momentum = 0.9} : (tensor<4x6xf64>, tensor<4x6xf64>, tensor<4x6xf64>) -> (tensor<4x6xf64>, tensor<4x6xf64>)
  %2 = graph.detach %0 : (tensor<4x6xf64>) -> tensor<4x6xf64>
  graph.return
}
