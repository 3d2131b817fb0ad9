// RUN: dl-opt %s --form-kernels | FileCheck %s

// Results take the place of what dies with them: a gradient that grows from
// micro-batch to micro-batch stays where it is.
// CHECK-LABEL: graph.step @grows
// CHECK: graph.kernel {{.*}}name = "matmul_
// CHECK-NOT: inplace
// CHECK: graph.kernel %{{[^,]*}}, %{{[^,]*}}, %0 {inplace = array<i64: 2>, name = "relu_matmul_add_
// CHECK: graph.return
graph.step @grows(%x: tensor<64x32xf32>, %y: tensor<64x48xf32>) -> tensor<32x48xf32> {
  %0 = graph.matmul %x, %y {spec = "km,kn->mn"} : (tensor<64x32xf32>, tensor<64x48xf32>) -> tensor<32x48xf32>
  %1 = graph.relu %x : (tensor<64x32xf32>) -> tensor<64x32xf32>
  %2 = graph.matmul %1, %y {spec = "km,kn->mn"} : (tensor<64x32xf32>, tensor<64x48xf32>) -> tensor<32x48xf32>
  %3 = graph.add %0, %2 : (tensor<32x48xf32>, tensor<32x48xf32>) -> tensor<32x48xf32>
  graph.return %3 : tensor<32x48xf32>
}

// Another kernel reads the first product, too.
// CHECK-LABEL: graph.step @read_by_others
// CHECK-NOT: inplace
// CHECK: graph.return
graph.step @read_by_others(%x: tensor<64x32xf32>, %y: tensor<64x48xf32>, %z: tensor<48x8xf32>) -> (tensor<32x48xf32>, tensor<32x8xf32>) {
  %0 = graph.matmul %x, %y {spec = "km,kn->mn"} : (tensor<64x32xf32>, tensor<64x48xf32>) -> tensor<32x48xf32>
  %1 = graph.relu %x : (tensor<64x32xf32>) -> tensor<64x32xf32>
  %2 = graph.matmul %1, %y {spec = "km,kn->mn"} : (tensor<64x32xf32>, tensor<64x48xf32>) -> tensor<32x48xf32>
  %3 = graph.add %0, %2 : (tensor<32x48xf32>, tensor<32x48xf32>) -> tensor<32x48xf32>
  %4 = graph.matmul %0, %z {spec = "mk,kn->mn"} : (tensor<32x48xf32>, tensor<48x8xf32>) -> tensor<32x8xf32>
  graph.return %3, %4 : tensor<32x48xf32>, tensor<32x8xf32>
}

// A batch stays as it is: its slot of the ring is another step's, too.
// CHECK-LABEL: graph.step @of_the_caller
// CHECK-NOT: inplace
// CHECK: graph.return
graph.step @of_the_caller(%x: tensor<64x32xf32>, %y: tensor<64x48xf32>, %sum: tensor<32x48xf32>) -> tensor<32x48xf32> {
  %0 = graph.matmul %x, %y {spec = "km,kn->mn"} : (tensor<64x32xf32>, tensor<64x48xf32>) -> tensor<32x48xf32>
  %1 = graph.add %sum, %0 : (tensor<32x48xf32>, tensor<32x48xf32>) -> tensor<32x48xf32>
  graph.return %1 : tensor<32x48xf32>
}

// Element (i, j) of the result needs (j, i) of the operand.
// CHECK-LABEL: graph.step @turned
// CHECK-NOT: inplace
// CHECK: graph.return
graph.step @turned(%x: tensor<64x32xf32>, %y: tensor<64x32xf32>) -> tensor<32x32xf32> {
  %0 = graph.matmul %x, %y {spec = "km,kn->mn"} : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<32x32xf32>
  %1 = graph.relu %x : (tensor<64x32xf32>) -> tensor<64x32xf32>
  %2 = graph.matmul %1, %y {spec = "km,kn->mn"} : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<32x32xf32>
  %3 = graph.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %4 = graph.add %3, %2 : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  graph.return %4 : tensor<32x32xf32>
}

// Both have the same shape, but lie in memory otherwise.
// CHECK-LABEL: graph.step @stored_otherwise
// CHECK-NOT: inplace
// CHECK: graph.return
graph.step @stored_otherwise(%x: tensor<64x32xf32>, %y: tensor<64x48xf32>) -> tensor<32x48xf32> {
  %0 = graph.matmul %x, %y {spec = "km,kn->mn", graph.orders = [array<i64: 1, 0>]} : (tensor<64x32xf32>, tensor<64x48xf32>) -> tensor<32x48xf32>
  %1 = graph.relu %x : (tensor<64x32xf32>) -> tensor<64x32xf32>
  %2 = graph.matmul %1, %y {spec = "km,kn->mn"} : (tensor<64x32xf32>, tensor<64x48xf32>) -> tensor<32x48xf32>
  %3 = graph.add %0, %2 : (tensor<32x48xf32>, tensor<32x48xf32>) -> tensor<32x48xf32>
  graph.return %3 : tensor<32x48xf32>
}

// Both results come from the first product: while one thread writes one of them, another may still
// read for the other.
// CHECK-LABEL: graph.step @two_results
// CHECK-NOT: inplace
// CHECK: graph.return
graph.step @two_results(%x: tensor<64x32xf32>, %y: tensor<64x48xf32>) -> (tensor<32x48xf32>, tensor<32x48xf32>) {
  %0 = graph.matmul %x, %y {spec = "km,kn->mn"} : (tensor<64x32xf32>, tensor<64x48xf32>) -> tensor<32x48xf32>
  %1 = graph.relu %x : (tensor<64x32xf32>) -> tensor<64x32xf32>
  %2 = graph.matmul %1, %y {spec = "km,kn->mn"} : (tensor<64x32xf32>, tensor<64x48xf32>) -> tensor<32x48xf32>
  %3 = graph.mul %0, %2 : (tensor<32x48xf32>, tensor<32x48xf32>) -> tensor<32x48xf32>
  %4 = graph.add %0, %2 : (tensor<32x48xf32>, tensor<32x48xf32>) -> tensor<32x48xf32>
  graph.return %3, %4 : tensor<32x48xf32>, tensor<32x48xf32>
}
