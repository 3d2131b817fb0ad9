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

// So is the new value of a state in another order, whatever it is made of on the way: of nine products the sum is stored.
graph.state @weight {init = {kind = "zero", a = 0.0 : f64, b = 0.0 : f64, key = 0 : i64}, layout = array<i64: 1, 0>, role = "parameter", type = tensor<16x16xf32>}
graph.state @bias {init = {kind = "zero", a = 0.0 : f64, b = 0.0 : f64, key = 0 : i64}, role = "parameter", type = tensor<16x16xf32>}

// CHECK-LABEL: graph.step @sum_of_nine
// CHECK: graph.kernel %arg0, %{{[0-9]+}} {{.*}}result_layouts = [array<i64: 1, 0>]
// CHECK-NEXT: ^bb0
// CHECK-NEXT: graph.sub
// CHECK-NEXT: graph.yield
// SAID: remark: sub: not fused with matmul: so many values in another order would take disproportionately long to compile
graph.step @sum_of_nine(%w: tensor<16x16xf32> state @weight, %x0: tensor<16x16xf32> input 0, %x1: tensor<16x16xf32> input 1, %x2: tensor<16x16xf32> input 2, %x3: tensor<16x16xf32> input 3, %x4: tensor<16x16xf32> input 4, %x5: tensor<16x16xf32> input 5, %x6: tensor<16x16xf32> input 6, %x7: tensor<16x16xf32> input 7, %x8: tensor<16x16xf32> input 8) -> (tensor<16x16xf32> state @weight) {
  %p0 = graph.matmul %x0, %x0 {spec = "ak,nk->an"} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %p1 = graph.matmul %x1, %x1 {spec = "ak,nk->an"} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %p2 = graph.matmul %x2, %x2 {spec = "ak,nk->an"} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %p3 = graph.matmul %x3, %x3 {spec = "ak,nk->an"} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %p4 = graph.matmul %x4, %x4 {spec = "ak,nk->an"} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %p5 = graph.matmul %x5, %x5 {spec = "ak,nk->an"} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %p6 = graph.matmul %x6, %x6 {spec = "ak,nk->an"} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %p7 = graph.matmul %x7, %x7 {spec = "ak,nk->an"} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %p8 = graph.matmul %x8, %x8 {spec = "ak,nk->an"} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %s1 = graph.add %p8, %p7 : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %s2 = graph.add %s1, %p6 : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %s3 = graph.add %s2, %p5 : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %s4 = graph.add %s3, %p4 : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %s5 = graph.add %s4, %p3 : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %s6 = graph.add %s5, %p2 : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %s7 = graph.add %s6, %p1 : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %s8 = graph.add %s7, %p0 : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %u = graph.sub %w, %s8 : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  graph.return %u : tensor<16x16xf32>
}

// CHECK-LABEL: graph.step @sum_of_eight
// CHECK: result_layouts = [array<i64: 1, 0>]
// CHECK-NEXT: ^bb0
// CHECK: graph.add
// CHECK: graph.sub
graph.step @sum_of_eight(%w: tensor<16x16xf32> state @weight, %x0: tensor<16x16xf32> input 0, %x1: tensor<16x16xf32> input 1, %x2: tensor<16x16xf32> input 2, %x3: tensor<16x16xf32> input 3, %x4: tensor<16x16xf32> input 4, %x5: tensor<16x16xf32> input 5, %x6: tensor<16x16xf32> input 6, %x7: tensor<16x16xf32> input 7) -> (tensor<16x16xf32> state @weight) {
  %p0 = graph.matmul %x0, %x0 {spec = "ak,nk->an"} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %p1 = graph.matmul %x1, %x1 {spec = "ak,nk->an"} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %p2 = graph.matmul %x2, %x2 {spec = "ak,nk->an"} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %p3 = graph.matmul %x3, %x3 {spec = "ak,nk->an"} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %p4 = graph.matmul %x4, %x4 {spec = "ak,nk->an"} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %p5 = graph.matmul %x5, %x5 {spec = "ak,nk->an"} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %p6 = graph.matmul %x6, %x6 {spec = "ak,nk->an"} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %p7 = graph.matmul %x7, %x7 {spec = "ak,nk->an"} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %s1 = graph.add %p7, %p6 : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %s2 = graph.add %s1, %p5 : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %s3 = graph.add %s2, %p4 : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %s4 = graph.add %s3, %p3 : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %s5 = graph.add %s4, %p2 : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %s6 = graph.add %s5, %p1 : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %s7 = graph.add %s6, %p0 : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %u = graph.sub %w, %s7 : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  graph.return %u : tensor<16x16xf32>
}

// CHECK-LABEL: graph.step @in_the_order_of_rows
// CHECK-COUNT-8: graph.add
// CHECK-NEXT: graph.sub
graph.step @in_the_order_of_rows(%w: tensor<16x16xf32> state @bias, %x0: tensor<16x16xf32> input 0, %x1: tensor<16x16xf32> input 1, %x2: tensor<16x16xf32> input 2, %x3: tensor<16x16xf32> input 3, %x4: tensor<16x16xf32> input 4, %x5: tensor<16x16xf32> input 5, %x6: tensor<16x16xf32> input 6, %x7: tensor<16x16xf32> input 7, %x8: tensor<16x16xf32> input 8) -> (tensor<16x16xf32> state @bias) {
  %p0 = graph.matmul %x0, %x0 {spec = "ak,nk->an"} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %p1 = graph.matmul %x1, %x1 {spec = "ak,nk->an"} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %p2 = graph.matmul %x2, %x2 {spec = "ak,nk->an"} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %p3 = graph.matmul %x3, %x3 {spec = "ak,nk->an"} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %p4 = graph.matmul %x4, %x4 {spec = "ak,nk->an"} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %p5 = graph.matmul %x5, %x5 {spec = "ak,nk->an"} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %p6 = graph.matmul %x6, %x6 {spec = "ak,nk->an"} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %p7 = graph.matmul %x7, %x7 {spec = "ak,nk->an"} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %p8 = graph.matmul %x8, %x8 {spec = "ak,nk->an"} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %s1 = graph.add %p8, %p7 : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %s2 = graph.add %s1, %p6 : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %s3 = graph.add %s2, %p5 : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %s4 = graph.add %s3, %p4 : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %s5 = graph.add %s4, %p3 : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %s6 = graph.add %s5, %p2 : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %s7 = graph.add %s6, %p1 : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %s8 = graph.add %s7, %p0 : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %u = graph.sub %w, %s8 : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  graph.return %u : tensor<16x16xf32>
}
