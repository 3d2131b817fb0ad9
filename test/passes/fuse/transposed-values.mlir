// One kernel transposes eight values at most: each takes hundreds of instructions, and many of them very long to compile.

// RUN: dl-opt --form-kernels %s | FileCheck %s
// RUN: dl-opt --form-kernels %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=SAID

// CHECK: %[[FIRST:.*]]:7 = graph.kernel %{{[a-z0-9]*}}, %{{[a-z0-9]*}}, %{{[a-z0-9]*}}, %{{[a-z0-9]*}}, %{{[a-z0-9]*}}, %{{[a-z0-9]*}}, %{{[a-z0-9]*}}, %{{[a-z0-9]*}} {
// CHECK: graph.kernel %[[FIRST]]#6, %{{[a-z0-9]*}}, %{{[a-z0-9]*}} {
// CHECK-NOT: graph.kernel
// SAID: remark: mul: not fused with mul: so many values in another order would take disproportionately long to compile
graph.step @transposed(%x0: tensor<16x16xf32> input 0, %x1: tensor<16x16xf32> input 1, %x2: tensor<16x16xf32> input 2, %x3: tensor<16x16xf32> input 3, %x4: tensor<16x16xf32> input 4, %x5: tensor<16x16xf32> input 5, %x6: tensor<16x16xf32> input 6, %x7: tensor<16x16xf32> input 7, %x8: tensor<16x16xf32> input 8, %x9: tensor<16x16xf32> input 9)
    -> (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) {
  %s1 = graph.mul %x0, %x1 {graph.orders = [array<i64: 1, 0>]} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %s2 = graph.mul %s1, %x2 {graph.orders = [array<i64: 1, 0>]} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %s3 = graph.mul %s2, %x3 {graph.orders = [array<i64: 1, 0>]} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %s4 = graph.mul %s3, %x4 {graph.orders = [array<i64: 1, 0>]} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %s5 = graph.mul %s4, %x5 {graph.orders = [array<i64: 1, 0>]} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %s6 = graph.mul %s5, %x6 {graph.orders = [array<i64: 1, 0>]} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %s7 = graph.mul %s6, %x7 {graph.orders = [array<i64: 1, 0>]} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %s8 = graph.mul %s7, %x8 {graph.orders = [array<i64: 1, 0>]} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %s9 = graph.mul %s8, %x9 {graph.orders = [array<i64: 1, 0>]} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  graph.return %s1, %s2, %s3, %s4, %s5, %s6, %s7, %s8, %s9 : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
}
