// RUN: dl-opt --batches-outermost %s | FileCheck %s
// RUN: dl-opt --batches-outermost %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: dl-opt %s --evaluate --no-output > %t.rows
// RUN: dl-opt --batches-outermost --form-kernels %s --evaluate --no-output 2> /dev/null | diff %t.rows -

// REMARK-COUNT-2: remark: 3 of its operands and results are copied: a batch runs innermost in them
// REMARK: remark: 1 of its operands and results are copied
// REMARK-NOT: remark

// Both products read one copy of %a, and the second one the first one's result as it lies.
// CHECK-LABEL: graph.step @products
// CHECK-DAG: %[[A:.*]] = graph.copy %arg0 {graph.orders = [array<i64: 0, 3, 1, 2>]}
// CHECK-DAG: %[[B:.*]] = graph.copy %arg1 {graph.orders = [array<i64: 0, 3, 1, 2>]}
// CHECK: %[[Y:.*]] = graph.matmul %[[A]], %[[B]] {graph.orders = [array<i64: 0, 3, 1, 2>], spec = "bikc,bjkc->bijc"}
// CHECK: %[[ROWS:.*]] = graph.copy %[[Y]] :
// CHECK: %[[Z:.*]] = graph.matmul %[[A]], %[[Y]] {graph.orders = [array<i64: 0, 3, 1, 2>], spec = "bikc,bijc->bkjc"}
// CHECK: %[[BACK:.*]] = graph.copy %[[Z]] :
// CHECK: graph.return %[[ROWS]], %[[BACK]]
graph.step @products(%arg0: tensor<2x4x5x8xf32> input 0, %arg1: tensor<2x3x5x8xf32> input 1)
    -> (tensor<2x4x3x8xf32>, tensor<2x5x3x8xf32>) {
  %0 = graph.matmul %arg0, %arg1 {spec = "bikc,bjkc->bijc"} : (tensor<2x4x5x8xf32>, tensor<2x3x5x8xf32>) -> tensor<2x4x3x8xf32>
  %1 = graph.matmul %arg0, %0 {spec = "bikc,bijc->bkjc"} : (tensor<2x4x5x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x5x3x8xf32>
  graph.return %0, %1 : tensor<2x4x3x8xf32>, tensor<2x5x3x8xf32>
}

// Channels of a transposed value are where they were; of few neighbours, where no batch runs innermost, and of products
// that are sums of elements nothing is copied.
// CHECK-LABEL: graph.step @all
// CHECK: %[[T:.*]] = graph.transpose
// CHECK: %[[C:.*]] = graph.copy %[[T]] {graph.orders = [array<i64: 0, 1, 2, 3>]}
// CHECK: graph.matmul %[[C]], %arg1 {spec
// CHECK: graph.matmul %arg2, %arg2 {spec
// CHECK: graph.matmul %arg0, %arg3 {spec
// CHECK: graph.matmul %arg0, %arg0 {spec
// CHECK-NOT: graph.copy
graph.step @all(%arg0: tensor<2x4x5x8xf32> input 0, %arg1: tensor<2x8x3x5xf32> input 1, %arg2: tensor<4x5x2xf32> input 2,
                %arg3: tensor<8x6xf32> input 3) -> (tensor<2x8x4x3xf32>, tensor<4x4x2xf32>, tensor<2x4x5x6xf32>, tensor<2x5x8xf32>) {
  %0 = graph.transpose %arg0 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<2x4x5x8xf32>) -> tensor<2x8x4x5xf32>
  %1 = graph.matmul %0, %arg1 {spec = "abmk,abnk->abmn"} : (tensor<2x8x4x5xf32>, tensor<2x8x3x5xf32>) -> tensor<2x8x4x3xf32>
  %2 = graph.matmul %arg2, %arg2 {spec = "mkb,nkb->mnb"} : (tensor<4x5x2xf32>, tensor<4x5x2xf32>) -> tensor<4x4x2xf32>
  %3 = graph.matmul %arg0, %arg3 {spec = "abck,kn->abcn"} : (tensor<2x4x5x8xf32>, tensor<8x6xf32>) -> tensor<2x4x5x6xf32>
  %4 = graph.matmul %arg0, %arg0 {spec = "bikc,bikc->bkc"} : (tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>) -> tensor<2x5x8xf32>
  graph.return %1, %2, %3, %4 : tensor<2x8x4x3xf32>, tensor<4x4x2xf32>, tensor<2x4x5x6xf32>, tensor<2x5x8xf32>
}
